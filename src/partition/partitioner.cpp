// Which partitioners there are, and what is common to all.
#include "partition/implementations.hpp"

#include <weir/error.hpp>

#include <algorithm>
#include <string>

namespace weir::partition {
namespace {

struct kind {
  std::string_view name;
  std::unique_ptr<partitioner> (*make)();  // null: this libweir was built without
  bool is_listed = true;
};

// docs/decisions/0028 says why in this order.
constexpr kind kinds[] = {
    {"built-in", &make_built_in},
#if WEIR_HAS_METIS
    {"metis", &make_metis},
#else
    {"metis", nullptr},
#endif
#if WEIR_HAS_SCOTCH
    {"scotch", &make_scotch},
    {slowest_scotch, &make_slowest_scotch, false},
#else
    {"scotch", nullptr},
    {slowest_scotch, nullptr, false},
#endif
};

std::string known_names() {
  std::string all;
  for (const std::string& n : partitioner_names()) all += (all.empty() ? "" : ", ") + n;
  return all;
}

bool is_valid(const problem& p, const std::vector<int>& part) {
  return part.size() == p.free && std::all_of(part.begin(), part.end(), [&](int q) {
           return q >= 0 && q < p.onto.parts() && p.onto.capacity[static_cast<std::size_t>(q)] > 0;
         });
}

// The only part that has capacity, or none.
int only_part(const target& t) {
  int only = anywhere;
  for (int p = 0; p < t.parts(); p++)
    if (t.capacity[static_cast<std::size_t>(p)] > 0) {
      if (only != anywhere) return anywhere;
      only = p;
    }
  return only;
}

}  // namespace

division partitioner::partition(const graph& g, const options& o) const {
  check(g);
  const reduced r(g, o);
  const problem& p = r.get();
  division d;
  std::vector<int> part(p.free, only_part(o.onto));
  if (p.free > 0 && part.front() == anywhere) {
    try {
      part = divide(p);
      if (!is_valid(p, part)) throw error("it gave parts that do not exist");
    } catch (const error& e) {
      d.note = std::string(name()) + " failed: " + e.what() + "; the built-in partitioner was used instead";
      part = divide_multilevel(p);
    }
  }
  d.part = r.expand(part);
  d.measured = measure(g, o.onto, d.part);
  return d;
}

std::vector<std::string> partitioner_names() {
  std::vector<std::string> names;
  for (const kind& k : kinds)
    if (k.make != nullptr && k.is_listed) names.emplace_back(k.name);
  return names;
}

std::unique_ptr<partitioner> make_partitioner(std::string_view name) {
  for (const kind& k : kinds) {
    if (name.empty() ? k.make == nullptr : k.name != name) continue;
    if (k.make != nullptr) return k.make();
    throw configuration_error("partitioner " + std::string(name) + ": this weir was built without it; it has " +
                              known_names());
  }
  throw configuration_error("partitioner '" + std::string(name) + "' does not exist; there are metis, scotch and " +
                            "built-in, of which this weir has " + known_names());
}

}  // namespace weir::partition
