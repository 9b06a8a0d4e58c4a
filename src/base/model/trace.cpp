// What happened, for people.
#include "base/model/trace.hpp"

#include <cstdio>
#include <string_view>

namespace weir::model {
namespace {

const char* name(std::memory_order order) {
  switch (order) {
    case std::memory_order_relaxed: return "relaxed";
    case std::memory_order_consume: return "consume";
    case std::memory_order_acquire: return "acquire";
    case std::memory_order_release: return "release";
    case std::memory_order_acq_rel: return "acq_rel";
    default: return "seq_cst";
  }
}

// Small numbers in decimal, pointers and other large ones in hexadecimal.
std::string number(std::uint64_t value) {
  if (value < 1'000'000) return std::to_string(value);
  if (static_cast<std::int64_t>(value) > -1'000'000 && static_cast<std::int64_t>(value) < 0) return std::to_string(static_cast<std::int64_t>(value));
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string describe(const event& e) {
  const std::string cell = "#" + std::to_string(e.location);
  const std::string order = std::string(" ") + name(e.order);
  const std::string age = e.newer > 0 ? ", " + std::to_string(e.newer) + " newer" : "";
  switch (e.what) {
    case operation::load: return "load  " + cell + " -> " + number(e.read) + age + order;
    case operation::store: return "store " + cell + " = " + number(e.written) + order;
    case operation::read_modify_write: return "rmw   " + cell + " " + number(e.read) + " => " + number(e.written) + order;
    case operation::failed_compare: return "failed compare-exchange " + cell + " -> " + number(e.read) + age + order;
    case operation::fence: return "fence" + order;
    case operation::light_fence: return "light fence";
    case operation::heavy_fence: return "heavy fence";
    case operation::plain_read: return "read  " + cell + " (plain)";
    case operation::plain_write: return "write " + cell + " (plain)";
    case operation::wait: return "wait  " + cell + " expected " + number(e.read);
    case operation::wake: return "wake  " + cell + ", " + number(e.written) + " woken";
    case operation::woken: return "wait returns " + cell;
    case operation::pause: return "pause";
    case operation::spawn: return "spawn T" + number(e.written);
    case operation::join: return "join  T" + number(e.read);
    case operation::finish: return "finished";
  }
  return {};
}

}  // namespace

std::string to_string(const site& where) {
  std::string_view file = where.file_name();
  if (const auto slash = file.rfind('/'); slash != file.npos) file.remove_prefix(slash + 1);
  return std::string(file) + ":" + std::to_string(where.line());
}

std::string trace::text(std::size_t limit) const {
  std::string out;
  const std::size_t first = events_.size() > limit ? events_.size() - limit : 0;
  if (first > 0) out += "  (" + std::to_string(first) + " earlier operations not shown)\n";
  for (std::size_t i = first; i < events_.size(); i++) {
    char head[64];
    std::snprintf(head, sizeof head, "  %4zu  T%d  %-22s ", i, events_[i].thread, to_string(events_[i].where).c_str());
    out += head + describe(events_[i]) + "\n";
  }
  return out;
}

}  // namespace weir::model
