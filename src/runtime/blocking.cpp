// weir::blocking().
#include "runtime/runtime.hpp"

namespace weir::detail {

void* leave_to_block() noexcept { return engine::engine::leave_to_block(); }
void come_back_from_blocking(void* left) noexcept { engine::engine::come_back(static_cast<engine::engine::away*>(left)); }

}  // namespace weir::detail
