// Random programs over ranges of memory, and what each must do: the same as if its tasks ran one after the other.
#pragma once

#include "tests/oracle/spawn_ranges.hpp"

#include <array>
#include <string>
#include <vector>

namespace weir::test {

// Bytes of an array: `count`, or a tile of so many rows of as many bytes, if it has a stride.
struct range_access {
  mode how;
  std::size_t array, first, count;
  std::size_t rows = 1, stride = 0;
  std::size_t matrix = 0;  // where it begins in the array

  bool is_tile() const { return stride != 0; }
  std::size_t end() const { return first + (rows - 1) * stride + count; }
};
// Calls f(position) for each byte, from its array's beginning.
template <class F>
void for_each_byte(const range_access& a, F&& f) {
  for (std::size_t r = 0; r < a.rows; r++)
    for (std::size_t i = 0; i < a.count; i++) f(a.first + r * a.stride + i);
}
bool overlap(const range_access&, const range_access&);

inline constexpr std::size_t most_data = 2, words_of_datum = 3;
enum class datum_use : std::uint8_t { none, in, out, in_and_out, inout };

struct range_task {
  std::size_t number = 0;  // what it mixes into what it writes; stays the same when other tasks are dropped
  std::vector<range_access> accesses;
  std::array<datum_use, most_data> data{};
  std::size_t children = 0;   // tasks on memory of its own that it creates and waits for
  bool waits_before = false;  // its creator waits for all tasks before it creates this one
  bool yields = false;        // in its middle, so that others run beside it
  bool fails = false;         // throws once it has read, before it writes
  bool in_groups = false;     // names its ranges in three groups; so does every task that names tiles
};

// Who creates the tasks.
enum class creation : std::uint8_t { program, scope_of_program, root_task, scope_in_task };

struct range_program {
  std::vector<std::size_t> sizes, gaps;  // of the arrays, and before each of them, in bytes
  std::size_t data = 0;
  creation creator = creation::program;
  bool needs_fresh_memory = false;  // nobody has named its addresses before
  std::vector<range_task> tasks;

  std::size_t bytes() const;
  // One line a task, as in "task 3: in a0[4,9) inout a1[0,12)".
  std::string text() const;
};

struct range_limits {
  std::size_t most_tasks = 60;
  bool failures = true, children = true, data = true, waits = true;
  // Tiles of several strides in an array, or of several beginnings of rows: some tasks wait for more than they must.
  bool meeting_tiles = true;
};
// The same program for the same seed and limits.
range_program random_program(std::uint64_t seed, const range_limits& = {});

// The program's bytes, somewhere in memory.
class range_memory {
 public:
  range_memory(const range_program&, std::span<byte>);
  std::size_t first_of(const range_access& a) const { return offsets_[a.array] + a.first; }
  // Of plain bytes.
  std::span<byte> part(const range_access& a) const { return bytes_.subspan(first_of(a), a.count); }
  named_bytes named(const range_access& a) const {
    return {a.how, part(a), a.rows, a.stride, bytes_.data() + offsets_[a.array] + a.matrix};
  }
  std::vector<named_bytes> named(const range_task& t) const {
    std::vector<named_bytes> all;
    for (const range_access& a : t.accesses) all.push_back(named(a));
    return all;
  }
  std::size_t position(const range_access& a, std::size_t of_array) const { return offsets_[a.array] + of_array; }
  std::span<byte> all() const { return bytes_; }

 private:
  std::span<byte> bytes_;
  std::vector<std::size_t> offsets_;
};

// Where a task reads and writes data: `read` and `write` may be the same words.
struct datum_places {
  std::array<const word*, most_data> read{};
  std::array<word*, most_data> write{};
};
// A hash of all the task reads.
word read_all(const range_task&, const range_memory&, const datum_places&);
void write_all(const range_task&, const range_memory&, const datum_places&, word hash);
byte initial_byte(std::size_t position);
word initial_word(std::size_t datum, std::size_t element);

inline constexpr word never_ran = 0;

struct range_expectation {
  std::vector<byte> bytes;
  std::vector<word> hash;        // of what each task read; never_ran if it had to be skipped
  std::vector<bool> wait_threw;  // of each wait(), the last one included
  std::array<std::array<word, words_of_datum>, most_data> data{};
};
range_expectation run_in_sequence(const range_program&);

// Bytes [first, end) of the program's memory that a task writes, or only reads. Disjoint.
struct touched {
  std::size_t first, end;
  bool written;
};
std::vector<touched> touched_by(const range_task&, const range_memory&);

// Drops tasks and accesses as long as what is left still goes wrong, in at most `runs` calls of goes_wrong(program).
range_program shrunk(range_program, const std::function<bool(const range_program&)>& goes_wrong, std::size_t runs);

}  // namespace weir::test
