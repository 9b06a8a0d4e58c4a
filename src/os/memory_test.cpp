// What the system says of pages that nobody has touched, without touching them.
#include "os/memory.hpp"

#include "os/os.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

namespace weir::os {
namespace {

class mapping {
 public:
  explicit mapping(std::size_t pages) : bytes_(pages * page_bytes()) {
    void* p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    first_ = p == MAP_FAILED ? nullptr : static_cast<char*>(p);
    // A huge page would be touched as a whole.
    if (first_ != nullptr) madvise(first_, bytes_, MADV_NOHUGEPAGE);
  }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  ~mapping() {
    if (first_ != nullptr) munmap(first_, bytes_);
  }
  char* page(std::size_t i) const { return first_ + i * page_bytes(); }
  explicit operator bool() const { return first_ != nullptr; }

 private:
  std::size_t bytes_;
  char* first_;
};

TEST(untouched, ends_where_somebody_has_written) {
  const mapping m(40);
  ASSERT_TRUE(m);
  memory_backend& memory = host_memory();
  EXPECT_EQ(memory.untouched(m.page(0), 40), 40u);
  EXPECT_EQ(memory.untouched(m.page(0), 40), 40u) << "asking touches nothing";
  *m.page(7) = 1;
  EXPECT_EQ(memory.untouched(m.page(0), 40), 7u);
  EXPECT_EQ(memory.untouched(m.page(0), 5), 5u);
  EXPECT_EQ(memory.untouched(m.page(7), 33), 0u);
  EXPECT_EQ(memory.untouched(m.page(8), 32), 32u);
}

TEST(untouched, says_some_of_many_pages) {
  const mapping m(2000);
  ASSERT_TRUE(m);
  std::size_t at = 0;
  int calls = 0;
  while (at < 2000 && calls < 2000) {
    const std::size_t found = host_memory().untouched(m.page(at), 2000 - at);
    ASSERT_GT(found, 0u) << "at page " << at;
    at += found;
    calls++;
  }
  EXPECT_EQ(at, 2000u);
  EXPECT_LT(calls, 100);
}

TEST(untouched, of_what_is_not_mapped_is_nothing) {
  char* gone = nullptr;
  {
    const mapping m(4);
    ASSERT_TRUE(m);
    gone = m.page(0);
  }
  EXPECT_EQ(host_memory().untouched(gone, 4), 0u);
}

}  // namespace
}  // namespace weir::os
