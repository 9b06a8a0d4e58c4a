// Operator new, mmap and pthread_create that fail when a test says so.
#include "tests/failures/failing.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weir::test {
namespace {

std::atomic<long> blocks{0}, mapped_bytes{0};
std::atomic<long> allocations_left{0}, threads_left{0};  // until one fails; 0: none does
std::atomic<bool> failed{false};

bool fails(std::atomic<long>& left) {
  if (left.load(std::memory_order_relaxed) <= 0 || left.fetch_sub(1, std::memory_order_relaxed) != 1) return false;
  failed.store(true, std::memory_order_relaxed);
  return true;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (fails(allocations_left)) throw std::bad_alloc();
  void* p = nullptr;
  if (alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) p = std::malloc(bytes != 0 ? bytes : 1);
  else if (posix_memalign(&p, alignment, bytes != 0 ? bytes : 1) != 0) p = nullptr;
  if (p == nullptr) throw std::bad_alloc();
  blocks.fetch_add(1, std::memory_order_relaxed);
  return p;
}

void release(void* p) noexcept {
  if (p != nullptr) blocks.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}

}  // namespace

void fail_allocation(long nth) {
  failed = false;
  allocations_left = nth;
}
void fail_thread(long nth) {
  failed = false;
  threads_left = nth;
}
bool stop_failing() {
  allocations_left = threads_left = 0;
  return failed;
}
footprint in_use() { return {blocks, mapped_bytes}; }

#if defined(__SANITIZE_THREAD__)
const bool can_fail_mappings = false, can_fail_threads = false;
#else
const bool can_fail_mappings = true, can_fail_threads = true;
#endif

}  // namespace weir::test

void* operator new(std::size_t bytes) { return weir::test::allocate(bytes, 0); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return weir::test::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept { weir::test::release(p); }
void operator delete(void* p, std::size_t) noexcept { weir::test::release(p); }
void operator delete(void* p, std::align_val_t) noexcept { weir::test::release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { weir::test::release(p); }
// The others of the standard library call these, but a sanitizer's do not.
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes, const std::nothrow_t& t) noexcept { return operator new(bytes, t); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes, std::align_val_t alignment, const std::nothrow_t& t) noexcept {
  return operator new(bytes, alignment, t);
}
void operator delete[](void* p) noexcept { weir::test::release(p); }
void operator delete[](void* p, std::size_t) noexcept { weir::test::release(p); }
void operator delete[](void* p, std::align_val_t) noexcept { weir::test::release(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { weir::test::release(p); }

#if !defined(__SANITIZE_THREAD__)

extern "C" void* mmap(void* where, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  if (weir::test::fails(weir::test::allocations_left)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  const long p = syscall(SYS_mmap, where, bytes, protection, flags, file, offset);
  if (p != -1) weir::test::mapped_bytes.fetch_add(static_cast<long>(bytes), std::memory_order_relaxed);
  return reinterpret_cast<void*>(p);
}

extern "C" int munmap(void* p, std::size_t bytes) noexcept {
  const long result = syscall(SYS_munmap, p, bytes);
  if (result == 0) weir::test::mapped_bytes.fetch_sub(static_cast<long>(bytes), std::memory_order_relaxed);
  return static_cast<int>(result);
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  using function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  if (weir::test::fails(weir::test::threads_left)) return EAGAIN;
  return real(thread, attributes, run, argument);
}

#endif
