// What a shape is, and what it is run with.
//
// A shape is a class template over the runtime. Its constructor makes the data, run() is what is measured, result() is
// a number that another order of dependent tasks would change. It is written as weir's interface wants it:
//
//   rt.make(n), rt.make_empty(n)     n data, with first versions or without
//   rt.spawn(in(a), inout(b), task)  a task with accesses; in(), out() and inout() are the runtime's own
//   rt.wait()                        until all tasks are done
//   rt.checksum(data)                of what is in them in the end
//   rt.memory(words)                 memory that tasks use without accesses
//   group g(rt); g.spawn(f); g.wait()   tasks without accesses, and waiting for them; for recursion
#pragma once

#include <bench/shapes/work.hpp>

#include <cstdint>
#include <string_view>

namespace weir::bench::shapes {

struct shape_info {
  std::string_view name, description;
  std::uint64_t size;      // unless --size says otherwise
  std::string_view unit;   // of the size
  bool has_data = true;    // where the first versions lie makes a difference
  bool recursive = false;  // runs as a task of its own, in which tasks create tasks
};

struct problem {
  std::uint64_t size = 0;
  std::uint64_t iterations = 0;  // of the computation of a task of usual length
  std::uint64_t seed = 0;

  // Bodies of tasks; `times` as long as usual.
  body<true> updates(word number, std::uint64_t times = 1) const { return {number, times * iterations}; }
  body<false> produces(word number, std::uint64_t times = 1) const { return {number, times * iterations}; }
};

}  // namespace weir::bench::shapes
