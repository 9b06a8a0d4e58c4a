// How wrong input is refused.
#pragma once

#include <weir/error.hpp>

#include <string>

namespace weir::partition {

[[noreturn]] inline void refuse(const std::string& what) { throw usage_error("partition: " + what); }

}  // namespace weir::partition
