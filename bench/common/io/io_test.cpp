// PNG, CSV and replaced files: what is right comes through, what is wrong is one sentence, damage never does harm.
#include <bench/common/io/csv.hpp>
#include <bench/common/io/file.hpp>
#include <bench/common/io/png.hpp>

#include <gtest/gtest.h>
#include <png.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>

namespace weir::bench {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test; nothing may be left in it but what the test expects.
class io : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "weir-io-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file(const std::string& content, const std::string& name = "input") {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  std::string content(const fs::path& path) { return read_file(path); }
  std::size_t files() { return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator())); }

  fs::path folder_;
};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const input_error& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
    return e.what();
  }
  return "no error";
}

#define EXPECT_CONTAINS(text, part) EXPECT_PRED2([](const std::string& t, const std::string& p) { return t.find(p) != t.npos; }, text, part)

// ---------------------------------------------------------------- CSV

using csv = io;

TEST_F(csv, separators_header_line_ends) {
  const std::vector<float> expected{1, 2.5f, -3, 4e3f};
  for (const char* text : {"1,2.5\n-3,4e3\n", "1;2.5\r\n-3;4e3\r\n", "1\t2.5\n-3\t4e3", "  1   2.5 \n -3 4e3\n", "x,y\n1,2.5\n-3,4e3\n",
                           "\"x, cm\",\"y\"\r\n1,2.5\r\n\r\n\"-3\",+4e3\r\n", "\xef\xbb\xbfx;y\n1;2.5\n-3;4e3\n\n"}) {
    SCOPED_TRACE(text);
    const point_table t = read_points(file(text));
    EXPECT_EQ(t.rows, 2u);
    EXPECT_EQ(t.columns, 2u);
    EXPECT_EQ(t.values, expected);
  }
}

TEST_F(csv, one_column_one_point) {
  const point_table t = read_points(file("7"));
  EXPECT_EQ(t.rows, 1u);
  EXPECT_EQ(t.columns, 1u);
  EXPECT_EQ(t.values, std::vector<float>{7});
}

TEST_F(csv, names_line_and_column_of_what_is_wrong) {
  const auto error = [&](const std::string& text) { return message_of([&] { read_points(file(text, "points.csv")); }); };
  EXPECT_CONTAINS(error("x,y\n1,2\n3,abc\n"), "points.csv, line 3, column 2: 'abc' is not a number");
  EXPECT_CONTAINS(error("1,2,red\n3,4,blue\n"), "line 1, column 3: 'red' is not a number");
  EXPECT_CONTAINS(error("1,2\n\n3,\n"), "line 3, column 2: is empty, expected a number");
  EXPECT_CONTAINS(error("1\t2\n\t3\n"), "line 2, column 1: is empty, expected a number");
  EXPECT_CONTAINS(error("1,2\n3\n"), "line 2: has 1 cell, expected 2 as in the first line");
  EXPECT_CONTAINS(error("1,2\n3,4,5\n"), "line 2: has 3 cells, expected 2");
  EXPECT_CONTAINS(error("1,2\n3,nan\n"), "line 2, column 2: 'nan' is not a finite number");
  EXPECT_CONTAINS(error("1,1e39\n"), "line 1, column 2: '1e39' is not a finite number of single precision");
  EXPECT_CONTAINS(error("1,1e999\n"), "line 1, column 2: '1e999' is not a finite number of single precision");
  EXPECT_CONTAINS(error("1 2\n3 4x\n"), "line 2, column 2: '4x' is not a number");
  EXPECT_CONTAINS(error(std::string("1,2\n3,\0\n", 8)), "line 2, column 2: '\\x00' is not a number");
  EXPECT_CONTAINS(error("1,2\n" + std::string(5000, 'z') + ",1\n"), "zzz...' is not a number");
}

TEST_F(csv, no_points) {
  EXPECT_CONTAINS(message_of([&] { read_points(file("")); }), "is empty, expected points");
  EXPECT_CONTAINS(message_of([&] { read_points(file("\r\n\n  \n")); }), "is empty, expected points");
  EXPECT_CONTAINS(message_of([&] { read_points(file("x,y\n")); }), "has a header but no points");
}

TEST_F(csv, unreadable) {
  EXPECT_CONTAINS(message_of([&] { read_points(folder_ / "none.csv"); }), "none.csv: cannot be opened: No such file");
  EXPECT_CONTAINS(message_of([&] { read_points(folder_); }), "is a directory");
  EXPECT_CONTAINS(message_of([&] { read_points("/dev/zero"); }), "is a device");
}

TEST_F(csv, labels) {
  write_labels(folder_ / "labels.csv", std::vector<std::int32_t>{2, 0, 11});
  EXPECT_EQ(content(folder_ / "labels.csv"), "label\n2\n0\n11\n");
  EXPECT_EQ(files(), 1u);
}

// ---------------------------------------------------------------- replaced files

TEST_F(io, target_stays_until_commit) {
  const fs::path target = file("old");
  {
    replacement_file f(target);
    std::fputs("half", f.stream());
  }
  EXPECT_EQ(content(target), "old");
  EXPECT_EQ(files(), 1u);
  replacement_file f(target);
  std::fputs("new", f.stream());
  f.commit();
  EXPECT_EQ(content(target), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(io, links_and_devices_are_kept) {
  const fs::path target = file("old"), link = folder_ / "link";
  fs::create_symlink(target, link);
  write_labels(link, std::vector<std::int32_t>{1});
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(content(target), "label\n1\n");
  write_labels("/dev/null", std::vector<std::int32_t>{1});
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(io, unwritable_targets) {
  EXPECT_CONTAINS(message_of([&] { write_labels(folder_ / "none" / "x", {}); }), "x: cannot be written: No such file or directory");
  EXPECT_CONTAINS(message_of([&] { write_labels(folder_, {}); }), "is a directory");
  EXPECT_EQ(files(), 0u);
  if (fs::exists("/dev/full")) {
    EXPECT_CONTAINS(message_of([&] { write_labels("/dev/full", std::vector<std::int32_t>{1}); }), "/dev/full: cannot be written: No space left");
  }
}

// ---------------------------------------------------------------- PNG

using png = io;

// Writes an image in any format with libpng, row bytes given.
std::string encode(int width, int height, int depth, int colour_type, bool interlaced, const std::vector<png_byte>& row_bytes,
                   const std::vector<png_color>& palette = {}, const std::vector<png_byte>& palette_alpha = {}) {
  std::string out;
  png_structp p = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(p);
  if (setjmp(png_jmpbuf(p))) std::abort();
  png_set_write_fn(p, &out, [](png_structp s, png_bytep b, size_t n) { static_cast<std::string*>(png_get_io_ptr(s))->append(reinterpret_cast<char*>(b), n); }, [](png_structp) {});
  png_set_IHDR(p, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), depth, colour_type,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (!palette.empty()) png_set_PLTE(p, info, palette.data(), static_cast<int>(palette.size()));
  if (!palette_alpha.empty()) png_set_tRNS(p, info, palette_alpha.data(), static_cast<int>(palette_alpha.size()), nullptr);
  png_write_info(p, info);
  const std::size_t stride = row_bytes.size() / static_cast<std::size_t>(height);
  std::vector<png_bytep> rows;
  for (int y = 0; y < height; y++) rows.push_back(const_cast<png_bytep>(row_bytes.data()) + static_cast<std::size_t>(y) * stride);
  png_write_image(p, rows.data());
  png_write_end(p, info);
  png_destroy_write_struct(&p, &info);
  return out;
}

void expect_pixels(const image& i, const std::vector<double>& expected) {
  ASSERT_EQ(i.luminance.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); k++) EXPECT_NEAR(i.luminance[k], expected[k], 1e-12) << "pixel " << k;
}

TEST_F(png, eight_bits_come_back_exactly) {
  std::vector<double> pixels;
  for (int v = 0; v < 256; v++) pixels.push_back(v / 255.0);
  write_png(folder_ / "a.png", 32, 8, pixels);
  const image i = read_png(folder_ / "a.png");
  EXPECT_EQ(i.width, 32u);
  EXPECT_EQ(i.height, 8u);
  expect_pixels(i, pixels);
  write_png(folder_ / "b.png", 32, 8, i.luminance);
  EXPECT_EQ(content(folder_ / "a.png"), content(folder_ / "b.png"));
}

TEST_F(png, clamps) {
  write_png(folder_ / "a.png", 5, 1, std::vector<double>{-3, 1.5, std::nan(""), INFINITY, 0.5});
  expect_pixels(read_png(folder_ / "a.png"), {0, 1, 0, 1, 128 / 255.0});
}

TEST_F(png, colour_types_and_depths) {
  const double red = 0.2126, green = 0.7152, blue = 0.0722;
  for (const bool interlaced : {false, true}) {
    SCOPED_TRACE(interlaced);
    const auto read = [&](auto&&... args) { return read_png(file(encode(args...))); };
    expect_pixels(read(3, 1, 1, PNG_COLOR_TYPE_GRAY, interlaced, std::vector<png_byte>{0b10100000}), {1, 0, 1});
    expect_pixels(read(2, 2, 2, PNG_COLOR_TYPE_GRAY, interlaced, std::vector<png_byte>{0b00010000, 0b10110000}), {0, 1 / 3.0, 2 / 3.0, 1});
    expect_pixels(read(1, 2, 16, PNG_COLOR_TYPE_GRAY, interlaced, std::vector<png_byte>{0x12, 0x34, 0xff, 0xff}), {0x1234 / 65535.0, 1});
    expect_pixels(read(2, 1, 8, PNG_COLOR_TYPE_RGB, interlaced, std::vector<png_byte>{255, 0, 0, 77, 77, 77}), {red, 77 / 255.0});
    expect_pixels(read(2, 1, 8, PNG_COLOR_TYPE_RGB_ALPHA, interlaced, std::vector<png_byte>{0, 255, 0, 255, 0, 0, 255, 0}), {green, 1});
    expect_pixels(read(1, 1, 16, PNG_COLOR_TYPE_RGB_ALPHA, interlaced, std::vector<png_byte>{0, 0, 0, 0, 255, 255, 255, 255}), {blue});
    expect_pixels(read(2, 1, 8, PNG_COLOR_TYPE_GRAY_ALPHA, interlaced, std::vector<png_byte>{51, 255, 0, 51}), {0.2, 0.8});
    expect_pixels(read(4, 1, 2, PNG_COLOR_TYPE_PALETTE, interlaced, std::vector<png_byte>{0b00011011},
                       std::vector<png_color>{{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {9, 9, 9}}, std::vector<png_byte>{255, 255, 255, 0}),
                  {red, green, blue, 1});
  }
}

TEST_F(png, not_a_png) {
  const std::string good = encode(4, 4, 8, PNG_COLOR_TYPE_GRAY, false, std::vector<png_byte>(16, 100));
  const auto error = [&](const std::string& bytes) { return message_of([&] { read_png(file(bytes, "photo.png")); }); };
  EXPECT_CONTAINS(error(""), "photo.png: is not a PNG file");
  EXPECT_CONTAINS(error("P5 1 1 255 x"), "photo.png: is not a PNG file");
  std::string as_text = good;
  as_text.replace(as_text.find("\r\n"), 2, "\n");
  EXPECT_CONTAINS(error(as_text), "damaged by a transfer as text");
  EXPECT_CONTAINS(message_of([&] { read_png(folder_ / "none.png"); }), "none.png: cannot be opened: No such file");
  EXPECT_CONTAINS(message_of([&] { read_png(folder_); }), "is a directory");
}

TEST_F(png, cut_short_at_every_byte) {
  const std::string good = encode(8, 8, 8, PNG_COLOR_TYPE_RGB, false, std::vector<png_byte>(192, 100));
  for (std::size_t n = 0; n < good.size(); n++) EXPECT_CONTAINS(message_of([&] { read_png(file(good.substr(0, n))); }), "input: is ");
}

std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const unsigned char b : bytes) {
    crc ^= b;
    for (int k = 0; k < 8; k++) crc = crc & 1 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
  }
  return ~crc;
}

// Sets width and height in the header of a PNG, checksum included.
std::string with_size(std::string bytes, std::uint32_t width, std::uint32_t height) {
  const auto put = [&](std::size_t at, std::uint32_t v) {
    for (int k = 0; k < 4; k++) bytes[at + static_cast<std::size_t>(k)] = static_cast<char>(v >> (24 - 8 * k));
  };
  put(16, width);
  put(20, height);
  put(29, crc_of(std::string_view(bytes).substr(12, 17)));
  return bytes;
}

TEST_F(png, absurd_dimensions) {
  const std::string good = encode(4, 4, 8, PNG_COLOR_TYPE_GRAY, false, std::vector<png_byte>(16, 100));
  const auto error = [&](std::uint32_t w, std::uint32_t h) { return message_of([&] { read_png(file(with_size(good, w, h))); }); };
  EXPECT_EQ(error(4, 4), "no error");
  EXPECT_CONTAINS(error(0x7fffffff, 0x7fffffff), "claims 2147483647 x 2147483647 pixels, more than");
  EXPECT_CONTAINS(error(30000, 30000), "claims 30000 x 30000 pixels, which a file of");
  EXPECT_CONTAINS(error(0, 4), "is a damaged PNG file");
  EXPECT_CONTAINS(error(0xffffffff, 1), "is a damaged PNG file");
  EXPECT_CONTAINS(error(5, 5), "is a damaged PNG file");
}

TEST_F(png, impossible_images_are_not_written) {
  EXPECT_CONTAINS(message_of([&] { write_png(folder_ / "a.png", 0, 3, {}); }), "0 x 3 pixels cannot be written");
  EXPECT_CONTAINS(message_of([&] { write_png(folder_ / "a.png", 2, 2, std::vector<double>(3)); }), "2 x 2 pixels cannot be written");
  EXPECT_CONTAINS(message_of([&] { write_png(folder_ / "none" / "a.png", 1, 1, std::vector<double>(1)); }), "a.png: cannot be written: No such file");
  EXPECT_EQ(files(), 0u);
}

// ---------------------------------------------------------------- damaged input: an error or a result, never anything else

class damage {
 public:
  explicit damage(std::uint64_t seed) : random_(seed) {}
  std::string operator()(std::string bytes) {
    for (std::uint64_t n = below(4) + 1; n > 0; n--) {
      const std::size_t at = below(bytes.size() + 1), count = below(9);
      switch (below(4)) {
        case 0: bytes.resize(at); break;
        case 1: bytes.insert(at, count, static_cast<char>(below(256))); break;
        case 2: bytes.erase(at, count); break;
        default: if (at < bytes.size()) bytes[at] = static_cast<char>(below(256));
      }
    }
    return bytes;
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  std::mt19937_64 random_;
};

std::uint64_t seed_of_this_run() {
  const char* given = std::getenv("WEIR_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

template <class Read>
void survives_damage(const std::string& good, const fs::path& path, Read read) {
  const std::uint64_t seed = seed_of_this_run();
  SCOPED_TRACE("WEIR_TEST_SEED=" + std::to_string(seed));
  std::printf("WEIR_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  damage damaged(seed);
  int refused = 0;
  for (int round = 0; round < 500; round++) {
    std::ofstream(path, std::ios::binary) << damaged(good);
    refused += message_of([&] { read(path); }) != "no error";
  }
  EXPECT_GT(refused, 0);
}

TEST_F(png, survives_damage) {
  std::vector<png_byte> noise(20 * 20 * 3);
  for (std::size_t i = 0; i < noise.size(); i++) noise[i] = static_cast<png_byte>(i * 7919 >> 3);
  survives_damage(encode(20, 20, 8, PNG_COLOR_TYPE_RGB, true, noise), folder_ / "x.png", [](const fs::path& p) {
    const image i = read_png(p);
    ASSERT_EQ(i.luminance.size(), i.width * i.height);
    for (const double v : i.luminance) ASSERT_TRUE(v >= 0 && v <= 1) << v;
  });
}

TEST_F(csv, survives_damage) {
  survives_damage("x,y,z\n1,2,3\n-4.5,5e3,6\n7,8,9\n10,11,12\n", folder_ / "x.csv", [](const fs::path& p) {
    const point_table t = read_points(p);
    ASSERT_EQ(t.values.size(), t.rows * t.columns);
    for (const float v : t.values) ASSERT_TRUE(std::isfinite(v)) << v;
  });
}

}  // namespace
}  // namespace weir::bench
