// One run of a test: its threads, whose turn it is, and the memory they share.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "base/model/check.hpp"
#include "base/model/choices.hpp"
#include "base/model/fiber.hpp"
#include "base/model/memory.hpp"
#include "base/model/mutation.hpp"
#include "base/model/trace.hpp"

namespace weir::model {

class engine {
 public:
  // `mutated` and `seen` may be null.
  engine(const limits& l, const mutation* mutated, places* seen) : limits_(l), mutation_(mutated), places_(seen) {}

  // The engine whose test is running; ends the program with a message if there is none.
  static engine& running();

  // Makes one run. False: it failed, see report(); the engine cannot be used again.
  bool run(const std::function<void()>& body, bool bound_preemptions);
  const std::string& report() const { return report_; }
  choices& decisions() { return choices_; }
  // Some run would have gone elsewhere but for the bound on preemptions.
  bool was_cut() const { return cut_; }
  void forget_cuts() { cut_ = false; }

  // What follows is called by the threads of the test.

  int create(std::uint64_t value);
  void destroy(int location);
  memory::outcome load(int location, std::memory_order order, const site& where);
  void store(int location, std::uint64_t value, std::memory_order order, const site& where);
  memory::outcome modify(int location, update how, std::uint64_t operand, std::uint64_t mask, std::memory_order order, const site& where);
  memory::outcome compare_exchange(int location, std::uint64_t expected, std::uint64_t desired, std::memory_order success,
                                   std::memory_order failure, bool weak, const site& where);
  void fence(std::memory_order order, const site& where);
  void light_fence(const site& where);
  void heavy_fence(const site& where);
  void read_plain(int location, const site& where);
  void write_plain(int location, const site& where);

  void pause(const site& where);
  void wait(int location, std::uint64_t expected, const site& where);
  void wake(int location, bool all, const site& where);

  int spawn(std::function<void()> body, const site& where);
  void join(int thread, const site& where);

  int this_thread() const { return current_; }
  [[noreturn]] void fail(const std::string& what);

 private:
  enum class status { unused, runnable, waiting, joining, finished };
  struct thread {
    fiber stack;
    std::function<void()> body;
    status state = status::unused;
    int waiting_for = -1;   // location or thread
    bool yielded = false;   // spins until somebody changes something
    bool has_turn = false;  // was just given the CPU: its next operation needs no scheduling decision
    site where;
  };

  static void thread_entry(void* argument);
  void thread_main();
  thread& at(int index) { return threads_[static_cast<std::size_t>(index)]; }
  bool can_run(int index) { return at(index).state == status::runnable; }

  // The order an operation has in this test: what it asks for, or less.
  std::memory_order weakened(std::memory_order order, part what, const site& where);
  void count_step();
  void step(const site& where);
  void after(const event& e);
  void schedule(bool current_may_go_on);
  int next_of_the_spinning();
  void give_turn(int index);
  void something_changed();
  void end_run();
  [[noreturn]] void deadlock();

  limits limits_;
  const mutation* const mutation_;
  places* const places_;
  choices choices_;
  memory memory_;
  trace trace_;
  std::array<thread, max_threads> threads_;
  fiber outside_;
  int current_ = 0;
  int thread_count_ = 0;
  int steps_ = 0;
  int preemptions_ = 0;
  int spurious_failures_ = 0;
  bool bounded_ = true;
  bool cut_ = false;
  bool failed_ = false;
  std::string report_;
};

}  // namespace weir::model
