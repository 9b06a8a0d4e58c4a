// libpng reports errors with longjmp, which must not jump over C++ objects. So each call into it stands in a function
// that holds only plain values (the guarded_ functions), and everything with a destructor lives in its caller.
#include <bench/common/io/png.hpp>

#include <bench/common/io/file.hpp>

#include <png.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

namespace weir::bench {
namespace {

constexpr std::uint64_t max_pixels = std::uint64_t{1} << 30;  // 8 GiB as doubles: the largest image of the paper
constexpr std::uint64_t max_deflate_ratio = 1032;             // no deflate stream expands more than this
constexpr std::size_t signature_bytes = 8;

struct message {
  char text[128] = "";
};

void on_error(png_structp png, png_const_charp text) {
  auto* m = static_cast<message*>(png_get_error_ptr(png));
  std::strncpy(m->text, text, sizeof m->text - 1);
  std::longjmp(png_jmpbuf(png), 1);
}

void on_warning(png_structp, png_const_charp) {}  // a warning changes no pixel

struct reader {
  message error;
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &error, on_error, on_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  ~reader() { png_destroy_read_struct(&png, &info, nullptr); }
};

struct writer {
  message error;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &error, on_error, on_warning);
  png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
  ~writer() { png_destroy_write_struct(&png, &info); }
};

bool guarded_read_header(png_structp png, png_infop info, std::FILE* file) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_init_io(png, file);
  png_set_sig_bytes(png, signature_bytes);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_size() knows better limits
  png_read_info(png, info);
  return true;
}

// Everything becomes 16-bit grey or RGB, with or without alpha.
bool guarded_expand(png_structp png, png_infop info) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_set_expand_16(png);  // palettes, small depths and tRNS chunks included
  png_set_interlace_handling(png);
  png_read_update_info(png, info);
  return true;
}

bool guarded_read_rows(png_structp png, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_read_image(png, rows);
  png_read_end(png, nullptr);
  return true;
}

bool guarded_write_header(png_structp png, png_infop info, std::FILE* file, png_uint_32 width, png_uint_32 height) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_init_io(png, file);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  return true;
}

bool guarded_write_row(png_structp png, png_const_bytep row) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_write_row(png, row);
  return true;
}

bool guarded_write_end(png_structp png) {
  if (setjmp(png_jmpbuf(png))) return false;
  png_write_end(png, nullptr);
  return true;
}

void check_signature(const std::string& name, std::FILE* file) {
  png_byte start[signature_bytes] = {};
  const std::size_t n = std::fread(start, 1, sizeof start, file);
  if (n == sizeof start && png_sig_cmp(start, 0, sizeof start) == 0) return;
  if (n >= 4 && std::memcmp(start, "\x89PNG", 4) == 0) throw input_error(name + ": is a PNG file damaged by a transfer as text or cut short");
  throw input_error(name + ": is not a PNG file");
}

// How many pixels a file of this size can hold at most; so a few forged bytes cannot claim all memory.
void check_size(const std::string& name, png_structp png, png_infop info, std::uint64_t file_bytes) {
  const std::uint64_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
  const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (width * height > max_pixels) throw input_error(name + ": claims " + size + ", more than the " + std::to_string(max_pixels) + " supported");
  const std::uint64_t raw_bytes = height * (png_get_rowbytes(png, info) + 1);
  if (raw_bytes / max_deflate_ratio > file_bytes) throw input_error(name + ": claims " + size + ", which a file of " + std::to_string(file_bytes) + " bytes cannot hold");
}

std::uint16_t big_endian(const png_byte* sample) { return static_cast<std::uint16_t>(sample[0] << 8 | sample[1]); }

double luminance_of(const png_byte* pixel, unsigned channels) {
  constexpr double full = 65535.0;
  const bool colour = channels >= 3, alpha = channels % 2 == 0;
  const double r = big_endian(pixel) / full;
  double y = r;
  if (colour) {
    const double g = big_endian(pixel + 2) / full, b = big_endian(pixel + 4) / full;
    // Grey stored as colour stays exactly grey.
    if (r != g || g != b) y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }
  if (!alpha) return y;
  const double opacity = big_endian(pixel + 2 * (channels - 1)) / full;
  return y * opacity + (1 - opacity);
}

image read_pixels(const std::string& name, reader& r) {
  image result;
  result.width = png_get_image_width(r.png, r.info);
  result.height = png_get_image_height(r.png, r.info);
  const std::size_t row_bytes = png_get_rowbytes(r.png, r.info);
  const unsigned channels = png_get_channels(r.png, r.info);

  std::vector<png_byte> samples(row_bytes * result.height);
  std::vector<png_bytep> rows(result.height);
  for (std::size_t y = 0; y < result.height; y++) rows[y] = samples.data() + y * row_bytes;
  if (!guarded_read_rows(r.png, rows.data())) throw input_error(name + ": is a damaged PNG file: " + r.error.text);

  result.luminance.resize(result.width * result.height);
  for (std::size_t y = 0; y < result.height; y++)
    for (std::size_t x = 0; x < result.width; x++) result.luminance[y * result.width + x] = luminance_of(rows[y] + x * 2 * channels, channels);
  return result;
}

png_byte to_byte(double value) {
  return value > 0 ? static_cast<png_byte>(std::lround(255 * std::min(value, 1.0))) : png_byte{0};  // false for not-a-number
}

}  // namespace

image read_png(const std::filesystem::path& path) {
  const std::string name = path.string();
  const file_handle file = open_for_reading(path);
  std::error_code not_a_regular_file;
  const std::uintmax_t file_bytes = std::filesystem::file_size(path, not_a_regular_file);
  if (not_a_regular_file) throw input_error(name + ": is not a regular file");
  check_signature(name, file.get());

  reader r;
  if (r.info == nullptr) throw std::bad_alloc();
  if (!guarded_read_header(r.png, r.info, file.get())) throw input_error(name + ": is a damaged PNG file: " + r.error.text);
  check_size(name, r.png, r.info, file_bytes);
  if (!guarded_expand(r.png, r.info)) throw input_error(name + ": is a damaged PNG file: " + r.error.text);
  try {
    return read_pixels(name, r);
  } catch (const std::bad_alloc&) {
    throw input_error(name + ": is too large for the memory there is");
  }
}

void write_png(const std::filesystem::path& path, std::size_t width, std::size_t height, std::span<const double> luminance) {
  if (width == 0 || height == 0 || width > PNG_UINT_31_MAX || height > PNG_UINT_31_MAX || luminance.size() != width * height)
    throw input_error(path.string() + ": an image of " + std::to_string(width) + " x " + std::to_string(height) + " pixels cannot be written as PNG");
  replacement_file file(path);
  writer w;
  if (w.info == nullptr) throw std::bad_alloc();
  const auto require = [&](bool done) {
    if (!done) throw input_error(path.string() + ": cannot be written: " + w.error.text);
  };
  require(guarded_write_header(w.png, w.info, file.stream(), static_cast<png_uint_32>(width), static_cast<png_uint_32>(height)));
  std::vector<png_byte> row(width);
  for (std::size_t y = 0; y < height; y++) {
    std::ranges::transform(luminance.subspan(y * width, width), row.begin(), to_byte);
    require(guarded_write_row(w.png, row.data()));
  }
  require(guarded_write_end(w.png));
  file.commit();
}

}  // namespace weir::bench
