// One weaker operation: where it is, as text and back.
#include "base/model/mutation.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace weir::model {
namespace {

constexpr std::array part_names{"load", "store", "modify", "success", "failure", "fence", "light_fence", "heavy_fence"};
constexpr std::array order_names{"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};

// From the folder behind src/ or include/ on: the same wherever the sources lie.
std::string_view short_name(std::string_view path) {
  for (const std::string_view root : {"src/", "include/"})
    if (const auto at = path.rfind(root); at != path.npos && (at == 0 || path[at - 1] == '/'))
      return path.substr(at + root.size());
  return path;
}

template <class Names>
int index_of(const Names& names, const std::string& name) {
  for (std::size_t i = 0; i < names.size(); i++)
    if (name == names[i]) return static_cast<int>(i);
  return -1;
}

}  // namespace

std::string places::text() const {
  std::string out;
  for (const auto& [file, line, column, p, order] : seen_)
    out += std::string(short_name(file)) + ":" + std::to_string(line) + ":" + std::to_string(column) + " " +
           part_names[static_cast<std::size_t>(p)] + " " + order_names[static_cast<std::size_t>(order)] + "\n";
  return out;
}

mutation mutation::parse(const std::string& text) {
  mutation m;
  if (text.empty()) return m;
  std::string place, p, order;
  std::istringstream(text) >> place >> p >> order;
  const int what = index_of(part_names, p), to = index_of(order_names, order);
  const auto colon = place.find(':');
  if (what < 0 || to < 0 || colon == place.npos ||
      std::sscanf(place.c_str() + colon, ":%" SCNuLEAST32 ":%" SCNuLEAST32, &m.line, &m.column) != 2) {
    std::fprintf(stderr, "WEIR_MODEL_WEAKEN=%s: expected FILE:LINE:COLUMN PART ORDER\n", text.c_str());
    std::exit(2);
  }
  m.file = place.substr(0, colon);
  m.what = static_cast<part>(what);
  m.order = static_cast<std::memory_order>(to);
  return m;
}

bool mutation::is_in(const char* path) const { return short_name(path) == file; }

}  // namespace weir::model
