// Names by which tasks of one run are found again in another one: "fill#17" is the 17th that was created, counted
// from 0.
#pragma once

#include <charconv>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace weir::bench {

// For programs whose tasks are created by one after the other, always in the same order.
class task_names {
 public:
  // Of the next task. It lives as long as this.
  const char* next(const char* name) {
    return all_.emplace_back(std::string(name) + mark + std::to_string(all_.size())).c_str();
  }
  std::size_t size() const { return all_.size(); }

  // The number of a task that has such a name.
  static std::optional<std::size_t> number_in(std::string_view name) {
    const std::size_t at = name.rfind(mark);
    if (at == std::string_view::npos) return std::nullopt;
    std::size_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [last, error] = std::from_chars(name.data() + at + 1, end, number);
    if (error != std::errc() || last != end) return std::nullopt;
    return number;
  }

 private:
  static constexpr char mark = '#';
  std::deque<std::string> all_;
};

// As a task is called: so, or, where they are told apart, with its number.
inline const char* name_in(task_names* all, const char* name) { return all == nullptr ? name : all->next(name); }

}  // namespace weir::bench
