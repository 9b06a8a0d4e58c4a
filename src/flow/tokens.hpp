// Mutual exclusion of commutative accesses: a token for each group, held by the task that runs, or is about to.
//
// A token is the last thing that a task waits for: when all else is there it takes the tokens of all its commutative
// accesses, or none. Who finds one taken waits on that one's list; who is done hands it on to who came first there. A
// task that needs others beside it gets those at once, too, or lets it go to the next and waits for one of the others:
// nobody holds a token while it waits. README.md, "Tokens".
#pragma once

#include "flow/context.hpp"

namespace weir::flow {

class token {
 public:
  // False: it is taken.
  bool try_take() {
    frame* nobody = nullptr;
    return newest_.compare_exchange_strong(nobody, held(), std::memory_order_acquire, std::memory_order_relaxed);
  }
  // True: it was free. False: the task waits, or has it already, and runs.
  bool take_or_wait(frame* f) {
    while (!try_take())
      if (wait_if_taken(f)) return false;
    return true;
  }
  // False: it is free. True: the task waits, or has it already, and runs.
  bool wait_if_taken(frame* f) {
    frame* newest = newest_.load(std::memory_order_relaxed);
    do {
      if (newest == nullptr) return false;
      f->next = newest == held() ? nullptr : newest;
    } while (!newest_.compare_exchange_weak(newest, f, std::memory_order_release, std::memory_order_relaxed));
    return true;
  }
  // By who holds it: to who has waited longest, which has it now. Null: nobody waits, and it is free.
  frame* hand_on() {
    if (oldest_.read() == nullptr) {
      frame* nobody_waits = held();
      if (newest_.compare_exchange_strong(nobody_waits, nullptr, std::memory_order_release, std::memory_order_relaxed))
        return nullptr;
      oldest_.write(in_order_of_coming(newest_.exchange(held(), std::memory_order_acquire)));
    }
    frame* const f = oldest_.read();
    oldest_.write(f->next);
    return f;
  }

 private:
  static frame* held() { return reinterpret_cast<frame*>(std::uintptr_t{1}); }
  static frame* in_order_of_coming(frame* newest) {
    frame* first = nullptr;
    while (newest != nullptr) {
      frame* const before = newest->next;
      newest->next = first;
      first = newest;
      newest = before;
    }
    return first;
  }

  atomic<frame*> newest_{nullptr};  // null: free; held(): nobody waits that the holder does not know of
  plain_cell<frame*> oldest_;       // those that it knows of; its own
};

// A task that has it is done with one. Who gets it is ready.
void release_token(context&, token&);

}  // namespace weir::flow
