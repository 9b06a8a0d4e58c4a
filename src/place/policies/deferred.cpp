// deferred: work stealing, and memory when a task runs, where it runs: every write is local. Drebes, Pop, Heydemann,
// Cohen and Drach, PACT 2016, section 3.2: deferred allocation alone.
#include "place/built_in.hpp"

namespace weir::place {
namespace {

class deferred final : public policy {};

}  // namespace
}  // namespace weir::place

WEIR_BUILT_IN_POLICY(deferred, ::weir::place::deferred, "deferred")
