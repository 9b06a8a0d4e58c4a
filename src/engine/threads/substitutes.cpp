// Substitutes are sent, called off, parked, and ended.
#include "engine/threads/substitutes.hpp"

#include <utility>

namespace weir::engine {

substitute* substitutes::send(slot& place, int worker) noexcept {
  substitute* s = take_parked(worker);
  if (s == nullptr) s = start(worker);
  if (s == nullptr) return nullptr;
  s->place_.store(&place, std::memory_order_release);
  s->calls_.fetch_add(1, std::memory_order_release);
  real_atomics::wake_one(s->calls_);
  return s;
}

// One that has been there is bound to the right CPUs.
substitute* substitutes::take_parked(int worker) {
  const std::lock_guard guard(mutex_);
  substitute** at = &parked_;
  while (*at != nullptr && (*at)->served_ != worker) at = &(*at)->next_parked_;
  if (*at == nullptr) at = &parked_;
  substitute* const s = *at;
  if (s == nullptr) return nullptr;
  *at = s->next_parked_;
  parked_count_--;
  WEIR_ASSERT(is_valid());
  s->served_ = worker;
  return s;
}

bool substitutes::prepare() noexcept {
  {
    const std::lock_guard guard(mutex_);
    if (parked_ != nullptr) return true;
  }
  substitute* const s = start(-1);
  if (s == nullptr) return false;
  const std::lock_guard guard(mutex_);
  put(*s);
  return true;
}

// It waits for a place: others may have sent it before, as another thread, and look whether it is to come to theirs.
substitute* substitutes::start(int worker) noexcept {
  substitute* s = nullptr;
  try {
    s = &without_thread(worker);
    s->thread_.emplace(stack_, [this, s](os::stack_bounds stack) { main_(*s, stack); });
    return s;
  } catch (...) {
    if (s == nullptr) return nullptr;
    const std::lock_guard guard(mutex_);
    s->ended_ = true;
    return nullptr;
  }
}

substitute& substitutes::without_thread(int worker) {
  const std::lock_guard guard(mutex_);
  substitute* s = nullptr;
  for (substitute& other : all_)
    if (other.ended_) s = &other;
  if (s == nullptr) s = &all_.emplace_back();
  s->ended_ = false;
  s->served_ = worker;
  return *s;
}

// It wakes, finds that it is not needed, and sleeps again.
bool substitutes::call_off(substitute& s, slot& place) noexcept {
  slot* expected = &place;
  if (!s.place_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel, std::memory_order_relaxed)) return false;
  const std::lock_guard guard(mutex_);
  put(s);
  return true;
}

void substitutes::put(substitute& s) {
  s.next_parked_ = parked_;
  parked_ = &s;
  parked_count_++;
  WEIR_ASSERT(is_valid());
}

bool substitutes::is_valid() const {
  std::size_t parked = 0;
  for (const substitute* s = parked_; s != nullptr; s = s->next_parked_) {
    if (s->ended_ || ++parked > parked_count_) return false;
  }
  return parked == parked_count_;
}

bool substitutes::all_are_parked() const {
  std::size_t ended = 0;
  for (const substitute& s : all_) ended += s.ended_ ? 1 : 0;
  return parked_count_ + ended == all_.size();
}

slot* substitutes::await_place(substitute& self) {
  for (;;) {
    const std::uint32_t calls = self.calls_.load(std::memory_order_acquire);
    if (slot* const place = self.place_.exchange(nullptr, std::memory_order_acq_rel); place != nullptr) return place;
    if (ending_.load(std::memory_order_acquire) != 0 || ends_as_too_many(self)) return nullptr;
    real_atomics::wait(self.calls_, calls);
  }
}

// Who is called off parks whether or not there are enough.
bool substitutes::ends_as_too_many(substitute& self) {
  const std::lock_guard guard(mutex_);
  if (parked_count_ <= most_parked_) return false;
  substitute** at = &parked_;
  while (*at != nullptr && *at != &self) at = &(*at)->next_parked_;
  if (*at == nullptr) return false;  // it has just been sent
  *at = self.next_parked_;
  parked_count_--;
  return self.ended_ = true;
}

bool substitutes::park(substitute& self) {
  const std::lock_guard guard(mutex_);
  self.ended_ = parked_count_ >= most_parked_;
  if (!self.ended_) put(self);
  return !self.ended_;
}

void substitutes::end() noexcept {
  ending_.store(1, std::memory_order_release);
  for (substitute& s : all_) {
    s.calls_.fetch_add(1, std::memory_order_release);
    real_atomics::wake_one(s.calls_);
  }
  for (substitute& s : all_) s.thread_.reset();
  WEIR_ASSERT(is_valid() && all_are_parked());
}

}  // namespace weir::engine
