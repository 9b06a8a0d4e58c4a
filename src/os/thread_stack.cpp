// Threads whose stacks are mapped here: of a size to choose, made of small pages, with a guard below.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "os/memory.hpp"
#include "os/threads.hpp"

namespace weir::os {
namespace {

// Tasks in tasks: a level takes some 500 bytes of its own, so this is some hundred thousand levels with small frames.
// More: some hundred workers would fill the 47 bits of addresses that a process has.
constexpr std::size_t deep_stack_bytes = std::size_t{256} << 20;
// Below a stack. A frame larger than this can miss it.
constexpr std::size_t guard_bytes = std::size_t{64} << 10;
// A task's frames, and those of what it calls.
constexpr std::size_t room_for_a_task_bytes = std::size_t{256} << 10;

std::size_t in_pages(std::size_t bytes) {
  const std::size_t page = page_bytes();
  return (bytes + page - 1) / page * page;
}

std::size_t default_stack_bytes() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  pthread_attr_init(&attributes);
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return std::max(in_pages(bytes), least_stack_bytes());
}

bool addresses_count_as_memory() {
  const int file = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char mode = 0;
  const bool known = read(file, &mode, 1) == 1;
  close(file);
  return known && mode == '2';
}

bool addresses_are_scarce() {
  if (sizeof(void*) < 8) return true;
  rlimit limit{};
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// Where huge pages are always used (transparent_hugepage=always), the first touch of a stack would make 2 MiB of it.
class stack_memory {
 public:
  explicit stack_memory(std::size_t bytes) : guard_(in_pages(guard_bytes)), bytes_(in_pages(bytes)) {
    void* const mapped =
        mmap(nullptr, guard_ + bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return;
    low_ = static_cast<char*>(mapped);
    if (mprotect(low_ + guard_, bytes_, PROT_READ | PROT_WRITE) != 0) {
      unmap();
      return;
    }
    static_cast<void>(madvise(low_ + guard_, bytes_, MADV_NOHUGEPAGE));  // refused: by systems without huge pages
  }
  stack_memory(const stack_memory&) = delete;
  stack_memory& operator=(const stack_memory&) = delete;
  ~stack_memory() {
    if (low_ != nullptr) unmap();
  }

  bool mapped() const { return low_ != nullptr; }
  char* low() const { return low_ + guard_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void unmap() { munmap(std::exchange(low_, nullptr), guard_ + bytes_); }

  const std::size_t guard_, bytes_;
  char* low_ = nullptr;
};

// Halves until there is room.
std::unique_ptr<stack_memory> map_stack(const stack_size& size) {
  for (std::size_t bytes = std::max(size.wanted_bytes, size.least_bytes);;
       bytes = std::max(bytes / 2, size.least_bytes)) {
    auto stack = std::make_unique<stack_memory>(bytes);
    if (stack->mapped()) return stack;
    if (bytes == size.least_bytes) throw std::system_error(ENOMEM, std::generic_category());
  }
}

}  // namespace

stack_bounds stack_of_this_thread() {
  thread_local constinit stack_bounds bounds;
  if (bounds.low != nullptr) return bounds;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* low = nullptr;
  std::size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) bounds = {static_cast<char*>(low), static_cast<char*>(low) + bytes};
  pthread_attr_destroy(&attributes);
  return bounds;
}

std::size_t least_stack_bytes() {
  return in_pages(static_cast<std::size_t>(std::max(sysconf(_SC_THREAD_STACK_MIN), 0L)) + room_for_a_task_bytes);
}

stack_size usual_stack() {
  const std::size_t ordinary = default_stack_bytes();
  if (addresses_are_scarce() || addresses_count_as_memory()) return {ordinary, ordinary};
  return {std::max(ordinary, deep_stack_bytes), ordinary};
}

struct thread::started {
  std::unique_ptr<stack_memory> stack;
  std::function<void(stack_bounds)> run;
  std::optional<std::vector<int>> allowed;  // if the creator is bound
  pthread_t id{};
  bool joined = true;

  static void* enter(void* self) {
    const auto& s = *static_cast<const started*>(self);
    try {
      if (s.allowed) set_affinity_of_this_thread(*s.allowed);
    } catch (const std::bad_alloc&) {  // as if the system had refused it
    }
    s.run({s.stack->low(), s.stack->low() + s.stack->bytes()});
    return nullptr;
  }
  void create() {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    int failure = pthread_attr_setstack(&attributes, stack->low(), stack->bytes());
    if (failure == 0) failure = pthread_create(&id, &attributes, enter, this);
    pthread_attr_destroy(&attributes);
    if (failure != 0) throw std::system_error(failure, std::generic_category());
    joined = false;
  }
};

thread::thread(stack_size size, std::function<void(stack_bounds)> run)
    : started_(new started{map_stack(size), std::move(run), allowed_before_binding()}) {
  started_->create();
}
thread::thread(thread&&) noexcept = default;
thread::~thread() {
  if (started_ != nullptr) join();
}

// The stack is in use until the system has ended the thread, which is what pthread_join waits for.
void thread::join() {
  if (!std::exchange(started_->joined, true)) pthread_join(started_->id, nullptr);
}

}  // namespace weir::os
