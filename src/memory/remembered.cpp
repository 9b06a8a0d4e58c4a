// The table of remembered answers is as large as what is known.
#include "memory/remembered.hpp"

#include <algorithm>
#include <new>

namespace weir::memory {

void remembered::grow(std::size_t chunks) {
  if (sets_ == nullptr) sets_ = static_cast<set*>(os_.map(bytes_of_all, os::page_bytes()));
  if (sets_ == nullptr) return;
  const std::size_t wanted = std::min(most_sets, std::bit_ceil(chunks * sets_per_chunk));
  if (wanted == there_) return;
  for (; there_ < wanted; there_++) new (sets_ + there_) set();
  shift_.store(64 - static_cast<unsigned>(std::countr_zero(wanted)), std::memory_order_release);
}

}  // namespace weir::memory
