// The file: Chrome's trace events in JSON, as ui.perfetto.dev reads them. docs/tracing.md lists the fields.
#pragma once

#include "trace/recorder.hpp"

namespace weir::trace {

// Throws weir::error, and then removes what it has written. Empties the logs.
void write_chrome(const std::string& path, const about&, common&, const std::vector<log*>&);

}  // namespace weir::trace
