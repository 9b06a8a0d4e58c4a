// Programs whose tasks name their own memory in ways that the patterns do not: at random, in ever new places, as blocks
// of other sizes from time to time, as many parts. Nothing is measured here: callgrind counts their instructions, to
// see what the constants of src/flow are worth (README.md there, "Constants").
//
//   overhead-addresses PROGRAM TASKS [K]
#include <weir/weir.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace {

using byte = unsigned char;
using weir::in, weir::inout, weir::out, weir::ref, weir::tile;
using number = std::uint64_t;

constexpr number line = 64, other_memory = number{1} << 32;
constexpr auto nothing = [](auto...) {};

// Nobody looks into it, so that any number is an address.
std::span<byte> at(number address, number bytes) {
  return {reinterpret_cast<byte*>(static_cast<std::uintptr_t>((number{1} << 44) + address)), bytes};
}
weir::memory_range<byte> range(number address, number bytes) { return ref(at(address, bytes)); }
weir::memory_tile<byte> block(number stride, number row, number rows, number column, number columns) {
  return ref(tile(at(0, 1).data(), stride, row, rows, column, columns));
}

std::mt19937_64 random_numbers(1);
number between(number low, number high) { return std::uniform_int_distribution<number>(low, high)(random_numbers); }

// Creates task i, and knows K.
using program = std::function<void(weir::scope&, number i, number k)>;

void random_in_a_page(weir::scope& s, number i, number) {
  const auto some = range(between(0, 4000), between(1, 40));
  i % 2 == 0 ? s.spawn(in(some), nothing) : s.spawn(inout(some), nothing);
}
void random_in_new_places(weir::scope& s, number i, number) {
  const auto some = range(i * 50 + between(0, 2000), between(1, 300));
  i % 3 == 0 ? s.spawn(in(some), nothing) : s.spawn(inout(some), nothing);
}
// New lines, in K places in turn.
void new_lines(weir::scope& s, number i, number k) {
  s.spawn(out(range((i % k << 24) + i / k * line, line)), nothing);
}
// K lines again and again.
void again(weir::scope& s, number, number k) { s.spawn(inout(range(between(0, k - 1) * line, line)), nothing); }
// K parts in turn, and then all of them at once.
void parts_and_all(weir::scope& s, number i, number k) {
  const number part = i % (k + 1);
  s.spawn(inout(part == k ? range(0, k * line) : range(part * line, line)), nothing);
}
// K parts for a thousand tasks, and all of them at once for a thousand.
void parts_then_all(weir::scope& s, number i, number k) {
  s.spawn(inout(i / 1000 % 2 == 0 ? range(i % k * line, line) : range(0, k * line)), nothing);
}
// A hundred blocks, which begin elsewhere each time that other memory has been worked on.
void other_blocks(weir::scope& s, number i, number) {
  const bool elsewhere = i / 400 % 2 == 1;
  const number shift = i / 800 * 8 % line;
  s.spawn(inout(elsewhere ? range(other_memory + i % 20 * line, line) : range(shift + i % 100 * line, line)), nothing);
}
// Tasks of K ranges, or tiles, each.
void many_ranges(weir::scope& s, number i, number k) {
  std::vector<weir::memory_range<byte>> some;
  for (number j = 0; j < k; j++) some.push_back(range((3 * i + 7 * j) % 200 * line, line));
  s.spawn(inout(some), nothing);
}
void many_tiles(weir::scope& s, number i, number k) {
  std::vector<weir::memory_tile<byte>> some;
  for (number j = 0; j < k; j++) {
    const number n = (3 * i + 7 * j) % 200;
    some.push_back(block(4096, n / 16 * 8, 8, n % 16 * 100, 100));
  }
  s.spawn(inout(some), nothing);
}
// The same memory as a matrix of one stride for K tasks, and of another one for K tasks.
void two_strides(weir::scope& s, number i, number k) {
  s.spawn(inout(block(i / k % 2 == 0 ? 512 : 256, i % 16 / 4 * 8, 8, i % 4 * 64, 64)), nothing);
}

const std::map<std::string_view, program> programs{
    {"random", random_in_a_page},       {"new-random", random_in_new_places}, {"new-lines", new_lines},
    {"again", again},                   {"parts-and-all", parts_and_all},     {"parts-then-all", parts_then_all},
    {"other-blocks", other_blocks},     {"many-ranges", many_ranges},         {"many-tiles", many_tiles},
    {"two-strides", two_strides}};

int refuse() {
  std::fprintf(stderr, "usage: overhead-addresses PROGRAM TASKS [K], K at least 1, PROGRAM one of");
  for (const auto& [name, create] : programs)
    std::fprintf(stderr, " %.*s", static_cast<int>(name.size()), name.data());
  std::fprintf(stderr, "\n");
  return 2;
}

number whole_number(const char* text) { return std::strtoull(text, nullptr, 10); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return refuse();
  const auto chosen = programs.find(argv[1]);
  const number tasks = whole_number(argv[2]), k = argc == 4 ? whole_number(argv[3]) : 8;
  if (chosen == programs.end() || tasks == 0 || k == 0) return refuse();
  weir::runtime rt({.workers = 1});
  rt.run([&](weir::scope& s) {
    for (number i = 0; i < tasks; i++) chosen->second(s, i, k);
  });
  return 0;
}
