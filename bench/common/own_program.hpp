// A program on its own memory alone: parts that are written first, then steps whose tasks one thread creates.
#pragma once

#include <bench/common/hand_placement.hpp>
#include <bench/common/kernel.hpp>
#include <bench/common/own_array.hpp>
#include <bench/common/task_names.hpp>

namespace weir::bench {

// Derived classes say what the parts and the steps are. Under `--control parallel` a task creates the tasks of each
// step, in the order of the steps, so that workers take turns with creating.
class own_program : public instance {
 public:
  explicit own_program(const configuration& c) : options_(c) {}

  void prepare(runtime& rt) override {
    by_hand_ = {rt, options_.annotate};
    allocate();
    switch (options_.init) {
      case first_touch::one:
        for (std::size_t p = 0; p < parts(); p++) fill(p);
        break;
      case first_touch::chunks:
      case first_touch::tasks:
        rt.run([&] { spawn_fills(rt); });
        rt.wait();
        break;
      case first_touch::inside: break;
    }
  }

  void run(runtime& rt) override {
    const data<char> created = rt.make_data<char>(std::span<const char>{}, "created");
    rt.run([&] {
      if (options_.init == first_touch::inside) spawn_fills(rt);
      for (int s = 0; s < steps(); s++)
        if (options_.parallel_control)
          rt.spawn({.name = "control"}, inout(created), [this, &rt, s](auto) { create(rt, s); });
        else
          create(rt, s);
    });
    rt.wait();
  }

  void collect(runtime&) override {}

 protected:
  // Memory that nobody has written.
  virtual void allocate() = 0;
  virtual std::size_t parts() const = 0;
  // Writes the first values of a part: at once, or by a task that names what it writes.
  virtual void fill(std::size_t part) = 0;
  virtual void spawn_fill(runtime&, std::size_t part) = 0;
  virtual int steps() const = 0;
  // Spawns the tasks of a step (0, 1, ...).
  virtual void create(runtime&, int step) = 0;

  const configuration& options() const { return options_; }
  page_checker* pages() const { return options_.pages; }
  // Of a task that works on a part, of so many.
  task_options named(const char* name, std::size_t part, std::size_t count) const {
    return {.name = name_in(options_.names, name), .affinity = by_hand_.of(part, count)};
  }
  // Of one that works on no part.
  task_options named(const char* name) const { return {.name = name_in(options_.names, name)}; }
  // Of the task that fills it.
  task_options named_fill(std::size_t part, std::size_t count) const {
    return {.name = name_in(options_.names, "fill"), .affinity = by_hand_.home_of(part, count)};
  }

 private:
  void spawn_fills(runtime& rt) {
    for (std::size_t p = 0; p < parts(); p++) spawn_fill(rt, p);
  }

  configuration options_;
  hand_placement by_hand_;
};

// The options of kernels that are made of this.
inline used_options own_program_uses() {
  return {.parallel_control = true, .versions = false, .own = true, .by_hand = true};
}

}  // namespace weir::bench
