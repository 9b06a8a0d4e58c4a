// A range that tasks use is cut: each piece becomes a record of its own, and goes on from the version of the whole.
//
// Whoever reads a piece waits for who writes the whole, and whoever writes a piece waits for who reads the whole, too.
// So each piece gets a version that is published when that of the whole is, and that has one reader until nobody uses
// that of the whole any more. These versions lie in a frame that never runs. README.md, "Cuts".
#pragma once

#include "flow/range_record.hpp"

namespace weir::flow {

class range_table;

// For so many pieces, two or more. Throws std::bad_alloc.
frame* make_cut(context&, unsigned pieces);
// The pieces' records are in their maps, the whole's is not. Gives each the version that it begins with; the whole is
// given back to the table when nobody uses it.
void begin_cut(context&, frame* cut, range_table&, range_record& whole,
               std::span<range_record* const> pieces) noexcept;
// One of the two things that a cut waits for has happened.
void continue_cut(context&, const waiter&, const char* cause);

}  // namespace weir::flow
