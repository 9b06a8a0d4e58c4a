// Fibers: the threads of a test are stacks on one kernel thread, switched by hand, so that the model decides who runs.
#pragma once

#include <cstddef>
#include <memory>

#if !defined(__x86_64__) || defined(__SANITIZE_ADDRESS__)
#define WEIR_MODEL_UCONTEXT 1
#include <ucontext.h>
#endif

namespace weir::model {

// A stack and where execution on it stopped. One that has no stack of its own stands for the kernel thread's.
class fiber {
 public:
  fiber() = default;
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;

  // The next switch to this fiber calls entry(argument) on an empty stack. entry must never return. Whatever was on
  // the stack is forgotten, not unwound.
  void prepare(void (*entry)(void*), void* argument);

  // Leaves `from`, which is the running one, and continues `to`.
  static void switch_to(fiber& from, fiber& to);

  static constexpr std::size_t stack_bytes = 256 * 1024;

 private:
  static void trampoline();

  std::unique_ptr<char[]> stack_;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
#ifdef WEIR_MODEL_UCONTEXT
  ucontext_t context_{};
  void* fake_stack_ = nullptr;        // AddressSanitizer's, while this fiber is not running
  const void* seen_stack_ = nullptr;  // the kernel thread's own, as AddressSanitizer knows it
  std::size_t seen_bytes_ = 0;
#else
  void* stack_pointer_ = nullptr;
#endif
};

}  // namespace weir::model
