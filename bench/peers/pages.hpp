// Memory that nobody has touched yet, so that a program decides by its first touch where pages lie.
#pragma once

#include <cstddef>

namespace weir::bench::peers {

// Pages that nobody has touched will go round robin over the nodes this process may use. `memory` begins with a page.
// Says once on standard error if the system refuses that; then they lie where they are first touched.
void interleave(void* memory, std::size_t bytes);

class pages {
 public:
  // `interleave`: pages go round robin over the nodes this process may use, whoever touches them. Ends the process with
  // one line if there is not that much memory; says once on standard error if interleaving is refused.
  pages(std::size_t bytes, bool interleave);
  ~pages();
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;

  double* doubles() const { return static_cast<double*>(memory_); }

 private:
  void* memory_;
  std::size_t bytes_;
};

}  // namespace weir::bench::peers
