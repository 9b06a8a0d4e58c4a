// The parts of the page, as they were when weir was built: part of the program, so that an installed weir needs no files.
#pragma once

#include <string_view>

namespace weir::tools {

struct report_assets {
  std::string_view page, style, script, timeline;
  std::string_view library;  // empty: it was not there when weir was built
};

report_assets built_in_assets();

}  // namespace weir::tools
