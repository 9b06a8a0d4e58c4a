// The runs of `weir bench main`: one program of bench/main/, one row, measured as often as the caller likes.
#pragma once

#include "bench_programs.hpp"

#include <bench/main/rows.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::tools {

std::span<const std::string_view> main_runtime_names();  // in the order of the table's columns

struct main_limits {
  bool quick = false;               // small sizes
  std::uint64_t least_ms = 100;     // of a run
  std::uint64_t iterations = 1;     // of the compute loop, in an element of the row `loops`
};

// Medians of runs, in nanoseconds.
struct main_result {
  const bench::from_main::row* row = nullptr;
  bench::from_main::place from = bench::from_main::place::main;
  std::string runtime;
  int workers = 0;
  std::uint64_t size = 0;
  double ns = 0, lowest = 0, highest = 0;
  std::optional<double> serial;    // of the sequential program, where there is one
  std::optional<double> overhead;  // how much more than that, in rows that are about it
  std::optional<double> ratio;     // of recursions, with two workers: the time with one by this
  std::optional<double> call;      // of recursions: CPU time a call, that of all workers, also where they wait
  std::size_t runs = 0;
};

class main_run {
 public:
  main_run(const bench::from_main::row& row, bench::from_main::place from, const bench_program& program, int workers,
           const main_limits& limits);

  void measure();  // once

  std::string name() const;
  const std::string& failure() const { return failure_; }  // one line; empty if there was none
  main_result result() const;

 private:
  std::uint64_t size() const;

  const bench::from_main::row& row_;
  bench::from_main::place from_;
  const bench_program& program_;
  int workers_;
  main_limits limits_;
  std::vector<double> ns_, serial_ns_, overhead_ns_;
  std::optional<double> calls_;
  std::string failure_;
};

// What --list of a program says where it has this row at this place.
std::string part_name(const bench::from_main::row& row, bench::from_main::place from);

}  // namespace weir::tools
