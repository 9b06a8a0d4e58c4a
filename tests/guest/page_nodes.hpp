// Which node each page of a range is on, as the kernel knows it, whatever the runtime believes.
#pragma once

#include <cstddef>
#include <vector>

namespace weir::guest_test {

inline constexpr int node_unknown = -1;

// Ways to ask. move_pages is what programs use; pagemap works where move_pages is refused, but only for root.
enum class page_source { move_pages, pagemap };

// True if that way gives answers here.
bool can_ask(page_source);

// The kernel's number of the node of every page in [first, first + bytes); node_unknown for pages without memory yet.
std::vector<int> page_nodes(const void* first, std::size_t bytes, page_source);
// The same, in the first way that works here.
std::vector<int> page_nodes(const void* first, std::size_t bytes);

}  // namespace weir::guest_test
