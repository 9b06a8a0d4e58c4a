// Switching stacks.
#include "base/model/fiber.hpp"

#include <cstdint>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace weir::model {

namespace {
// The fiber being switched to, for the first instructions on its stack; and the one it was switched from.
fiber* arriving = nullptr;
fiber* leaving = nullptr;
}  // namespace

#ifndef WEIR_MODEL_UCONTEXT

// switch_stacks(old_stack_pointer*, new_stack_pointer): saves what the System V ABI makes the callee keep.
extern "C" void weir_model_switch_stacks(void** save, void* load);
asm(R"(
.text
.globl weir_model_switch_stacks
.type weir_model_switch_stacks, @function
weir_model_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size weir_model_switch_stacks, .-weir_model_switch_stacks
)");

void fiber::prepare(void (*entry)(void*), void* argument) {
  if (!stack_) stack_ = std::make_unique_for_overwrite<char[]>(stack_bytes);
  entry_ = entry;
  argument_ = argument;
  auto top = (reinterpret_cast<std::uintptr_t>(stack_.get()) + stack_bytes) & ~std::uintptr_t{15};
  auto* slot = reinterpret_cast<void**>(top);
  *--slot = nullptr;  // where the trampoline would return to; also leaves the stack aligned as after a call
  *--slot = reinterpret_cast<void*>(&fiber::trampoline);
  for (int saved = 0; saved < 6; saved++) *--slot = nullptr;
  stack_pointer_ = slot;
}

void fiber::switch_to(fiber& from, fiber& to) {
  leaving = &from;
  arriving = &to;
  weir_model_switch_stacks(&from.stack_pointer_, to.stack_pointer_);
}

void fiber::trampoline() {
  arriving->entry_(arriving->argument_);
  std::abort();
}

#else

void fiber::prepare(void (*entry)(void*), void* argument) {
  if (!stack_) stack_ = std::make_unique<char[]>(stack_bytes);
  entry_ = entry;
  argument_ = argument;
  fake_stack_ = nullptr;
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_.get();
  context_.uc_stack.ss_size = stack_bytes;
  context_.uc_link = nullptr;
  makecontext(&context_, &fiber::trampoline, 0);
}

void fiber::switch_to(fiber& from, fiber& to) {
  leaving = &from;
  arriving = &to;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack_, to.stack_ ? to.stack_.get() : to.seen_stack_, to.stack_ ? stack_bytes : to.seen_bytes_);
#endif
  swapcontext(&from.context_, &to.context_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.fake_stack_, &leaving->seen_stack_, &leaving->seen_bytes_);
#endif
}

void fiber::trampoline() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &leaving->seen_stack_, &leaving->seen_bytes_);
#endif
  arriving->entry_(arriving->argument_);
  std::abort();
}

#endif

}  // namespace weir::model
