// The known name that an unknown one is a slip of the pen for: what a message proposes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::detail {

// How many insertions, deletions, replacements of a character and exchanges of two neighbours make one of the other:
// the restricted Damerau-Levenshtein distance.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); j++) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); i++) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); j++) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = last;
    last = row;
  }
  return last[b.size()];
}

// The nearest of the known names, or nothing if none is near. With more than a third of the characters wrong, a name
// would be proposed for almost any word; with fewer, two slips in one name would find nothing.
template <class Names>
std::string nearest(std::string_view name, const Names& known) {
  std::string best;
  std::size_t least = std::string_view::npos;
  for (const auto& each : known) {
    const std::string_view candidate(each);
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= least || distance > std::max<std::size_t>(1, std::max(name.size(), candidate.size()) / 3)) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

// "; did you mean NEAREST?" or nothing, for the end of a message.
template <class Names>
std::string proposal(std::string_view name, const Names& known) {
  const std::string near = nearest(name, known);
  return near.empty() ? "" : "; did you mean " + near + "?";
}

}  // namespace weir::detail
