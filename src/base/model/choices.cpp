// The list of choices that is one execution: made, counted on, printed, replayed.
#include "base/model/choices.hpp"

#include <sstream>

namespace weir::model {

void choices::start_exhaustive() {
  mode_ = mode::exhaustive;
  path_.clear();
  position_ = 0;
}

void choices::start_random(std::uint64_t seed) {
  mode_ = mode::random;
  random_.seed(seed);
  path_.clear();
  position_ = 0;
}

void choices::start_replay(const std::string& text) {
  mode_ = mode::replay;
  path_.clear();
  position_ = 0;
  std::istringstream in(text);
  for (unsigned taken; in >> taken;) path_.push_back({static_cast<std::uint16_t>(taken), 0});
}

bool choices::next_run() {
  position_ = 0;
  if (mode_ == mode::replay) return false;
  if (mode_ == mode::random) {
    path_.clear();
    static constexpr unsigned degrees[] = {5, 8, 11, 13, 14, 15};
    stay_of_16_ = degrees[random_() % std::size(degrees)];
    return true;
  }
  while (!path_.empty() && path_.back().taken + 1 == path_.back().options) path_.pop_back();
  if (path_.empty()) return false;
  path_.back().taken++;
  return true;
}

int choices::choose(int n, bool schedule) {
  if (n == 1) return 0;
  if (position_ == path_.size()) path_.push_back({static_cast<std::uint16_t>(fresh_choice(n, schedule)), static_cast<std::uint16_t>(n)});
  const choice made = path_[position_++];
  return made.taken < n ? made.taken : n - 1;
}

int choices::fresh_choice(int n, bool schedule) {
  if (mode_ != mode::random) return 0;
  if (schedule && random_() % 16 < stay_of_16_) return 0;
  return static_cast<int>(random_() % static_cast<unsigned>(n));
}

std::string choices::text() const {
  std::string out;
  for (std::size_t i = 0; i < position_; i++) out += (i ? " " : "") + std::to_string(path_[i].taken);
  return out;
}

}  // namespace weir::model
