// A program that measures what tasks cost under one runtime: its command line, its output, and what a runtime adds.
#pragma once

#include <bench/common/command_line.hpp>
#include <bench/overhead/work.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace weir::bench::overhead {

struct options {
  const pattern* what = nullptr;
  int workers = 1;
  std::uint64_t tasks = 100000;  // fib: at most so many
  std::uint32_t width = 0;
  std::uint64_t task_ns = 0;
  std::uint32_t dependences = 4;
  std::uint32_t creators = 4;
  int repeat = 1;
  std::uint64_t seed = 1;
  std::string policy;            // of weir
  bool held = false;             // of weir: no task runs before all are created
  bool verify = false, metg = false;
};

// A runtime, started with the number of workers asked for. Whatever thread calls it, run() creates all tasks on one
// thread that belongs to the runtime, if it has such threads, and returns when all of them are done. (But
// for patterns with creators: there it creates these.)
class runtime_under_test {
 public:
  virtual ~runtime_under_test() = default;
  // Not measured: data that tasks name; for replay the graph. Called again when the workload is another.
  virtual void prepare(const workload&) {}
  virtual void run(workload&) = 0;
  // Of the last run, if it was held: time on its CPU of the thread that created the tasks, while it did.
  virtual double creation_ns() const { return 0; }
};

struct description {
  std::string_view runtime;
  bool (*has)(const pattern&);
  bool has_policies;  // and --held
  std::unique_ptr<runtime_under_test> (*start)(const options&);
};

// The main() of every program: one line of JSON a repeat on standard output. The returned value is the exit status: 1 if
// the tasks did not run as they should, 2 after one line on standard error for bad input.
int measure_main(int argc, char** argv, const description&);

// Reads the command line, checks it against what the runtime has.
options parse_options(int argc, char** argv, const description&);

// Minimum effective task granularity: the sweep of metg.cpp, printed as one line of JSON.
void measure_metg(const options&, const description&, runtime_under_test&, const grid&);

// Seconds that one run takes.
double seconds_of(runtime_under_test&, workload&);

}  // namespace weir::bench::overhead
