// Threads that take a worker's place while its own thread is in weir::blocking(); parked while nobody needs them.
#pragma once

#include "base/base.hpp"
#include "os/os.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>

namespace weir::engine {

struct slot;

class substitutes;

class substitute {
 private:
  friend class substitutes;
  atomic<slot*> place_{nullptr};         // that it is sent to, and has not come to
  atomic<std::uint32_t> calls_{0};       // it sleeps on this
  int served_ = -1;                      // the worker whose place it was sent to last
  bool ended_ = false;                   // its thread has, or is about to
  substitute* next_parked_ = nullptr;
  std::optional<os::thread> thread_;
};

// Those who have sent one may ask for it as long as the pool lives, so none is ever destroyed before; its thread may
// end.
class substitutes {
 public:
  // `main`: what each does, by await_place() and park().
  substitutes(os::stack_size stack, std::size_t most_parked, std::function<void(substitute&, os::stack_bounds)> main)
      : stack_(stack), most_parked_(most_parked), main_(std::move(main)) {}
  ~substitutes() { end(); }
  substitutes(const substitutes&) = delete;
  substitutes& operator=(const substitutes&) = delete;

  // To the place of this worker, which is its from then on. Null: there is none, and no thread or memory for one. To
  // wake one takes some microseconds, to start one some tens.
  substitute* send(slot& place, int worker) noexcept;
  // As far as one can tell before, send() will find one.
  bool prepare() noexcept;
  // By who wants the place back. True: the substitute had not come there, and the place is the caller's.
  bool call_off(substitute&, slot& place) noexcept;
  // All end. None must be in a place.
  void end() noexcept;

  // By a substitute. Null: it is to end.
  slot* await_place(substitute& self);
  // When it has left a place. False: enough are parked, and it is to end.
  bool park(substitute& self);

 private:
  bool ends_as_too_many(substitute& self);
  substitute* take_parked(int worker);
  substitute* start(int worker) noexcept;
  substitute& without_thread(int worker);
  void put(substitute&);
  // By who has the lock: those that are parked are counted, and none of them has ended.
  bool is_valid() const;
  bool all_are_parked() const;  // or have ended

  const os::stack_size stack_;
  const std::size_t most_parked_;
  const std::function<void(substitute&, os::stack_bounds)> main_;
  atomic<std::uint32_t> ending_{0};
  std::mutex mutex_;
  std::list<substitute> all_;
  substitute* parked_ = nullptr;  // the last to park first: its stack is in the caches
  std::size_t parked_count_ = 0;
};

}  // namespace weir::engine
