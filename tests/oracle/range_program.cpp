// The oracle: what a program over ranges must do, how it is written down, and how it is made smaller.
#include "tests/oracle/range_program.hpp"

#include <algorithm>
#include <numeric>

namespace weir::test {

std::size_t range_program::bytes() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::accumulate(gaps.begin(), gaps.end(), std::size_t{0}));
}

std::string range_program::text() const {
  static const char* const creators[] = {"the program", "a scope of the program", "a task", "a scope in a task"};
  static const char* const modes[] = {"in", "out", "inout"};
  static const char* const uses[] = {"-", "in", "out", "in+out", "inout"};
  std::string all = "created by " + std::string(creators[static_cast<std::size_t>(creator)]) + ", arrays of";
  for (std::size_t i = 0; i < sizes.size(); i++)
    all += " " + std::to_string(sizes[i]) + "(+" + std::to_string(gaps[i]) + ")";
  all += " bytes, " + std::to_string(data) + " data\n";
  for (const range_task& t : tasks) {
    if (t.waits_before) all += "wait\n";
    all += "task " + std::to_string(t.number) + ":";
    for (std::size_t d = 0; d < data; d++)
      if (t.data[d] != datum_use::none)
        all += " " + std::string(uses[static_cast<std::size_t>(t.data[d])]) + " d" + std::to_string(d);
    for (const range_access& a : t.accesses) {
      all += " " + std::string(modes[static_cast<std::size_t>(a.how)]) + " a" + std::to_string(a.array) + "[" +
             std::to_string(a.first) + "," + std::to_string(a.first + a.count) + ")";
      if (a.is_tile())
        all += "x" + std::to_string(a.rows) + "/" + std::to_string(a.stride) + "@" + std::to_string(a.matrix);
    }
    if (t.in_groups) all += " in groups";
    if (t.children != 0) all += " with " + std::to_string(t.children) + " children";
    if (t.yields) all += " yields";
    if (t.fails) all += " throws";
    all += "\n";
  }
  return all;
}

range_memory::range_memory(const range_program& p, std::span<byte> bytes) : bytes_(bytes) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < p.sizes.size(); i++) {
    offsets_.push_back(offset + p.gaps[i]);
    offset = offsets_.back() + p.sizes[i];
  }
}

byte initial_byte(std::size_t position) { return static_cast<byte>(mix(position, 7)); }
word initial_word(std::size_t datum, std::size_t element) { return mix(datum + 1000, element); }

word read_all(const range_task& t, const range_memory& m, const datum_places& d) {
  word h = t.number + 1;
  for (const word* values : d.read)
    for (std::size_t i = 0; values != nullptr && i < words_of_datum; i++) h = mix(h, values[i]);
  for (const range_access& a : t.accesses)
    if (does_read(a.how))
      for_each_byte(a, [&](std::size_t i) { h = mix(h, m.all()[m.position(a, i)]); });
  return h == never_ran ? h + 1 : h;
}

void write_all(const range_task& t, const range_memory& m, const datum_places& d, word hash) {
  for (word* values : d.write)
    for (std::size_t i = 0; values != nullptr && i < words_of_datum; i++) values[i] = mix(hash, i);
  for (std::size_t k = 0; k < t.accesses.size(); k++) {
    if (!does_write(t.accesses[k].how)) continue;
    const range_access& a = t.accesses[k];
    std::size_t n = 10'000 * k;
    for_each_byte(a, [&](std::size_t i) { m.all()[m.position(a, i)] = static_cast<byte>(mix(hash, n++)); });
  }
}

bool overlap(const range_access& a, const range_access& b) {
  if (a.array != b.array || a.count == 0 || b.count == 0 || a.end() <= b.first || b.end() <= a.first) return false;
  if (!a.is_tile() && !b.is_tile()) return true;
  std::vector<bool> of_a(a.end(), false);
  for_each_byte(a, [&](std::size_t i) { of_a[i] = true; });
  bool found = false;
  for_each_byte(b, [&](std::size_t i) { found |= i < of_a.size() && of_a[i]; });
  return found;
}

std::vector<touched> touched_by(const range_task& t, const range_memory& m) {
  std::vector<byte> use(m.all().size(), 0);
  for (const range_access& a : t.accesses)
    for_each_byte(a, [&](std::size_t i) {
      byte& b = use[m.position(a, i)];
      b = std::max<byte>(b, does_write(a.how) ? 2 : 1);
    });
  std::vector<touched> all;
  for (std::size_t i = 0, end = 0; i < use.size(); i = end) {
    for (end = i + 1; end < use.size() && use[end] == use[i];) end++;
    if (use[i] != 0) all.push_back({i, end, use[i] == 2});
  }
  return all;
}

namespace {

// One run, task after task. A byte is lost once a task that should have written it has failed or was skipped, until
// another task has overwritten it or somebody has waited.
class sequence {
 public:
  explicit sequence(const range_program& p) : p_(p), memory_(p, resized(p)), lost_(p.bytes(), false) {
    for (std::size_t i = 0; i < p.bytes(); i++) e_.bytes[i] = initial_byte(i);
    for (std::size_t d = 0; d < most_data; d++)
      for (std::size_t i = 0; i < words_of_datum; i++) e_.data[d][i] = initial_word(d, i);
  }
  range_expectation run() {
    for (const range_task& t : p_.tasks) {
      if (t.waits_before) wait();
      run(t);
    }
    wait();
    return std::move(e_);
  }

 private:
  std::span<byte> resized(const range_program& p) {
    e_.bytes.resize(p.bytes());
    return e_.bytes;
  }
  void wait() {
    e_.wait_threw.push_back(thrown_);
    thrown_ = false;
    lost_.assign(lost_.size(), false);
  }
  void run(const range_task& t) {
    datum_places places;
    for (std::size_t d = 0; d < p_.data; d++) {
      if (t.data[d] == datum_use::none) continue;
      if (t.data[d] != datum_use::out) places.read[d] = e_.data[d].data();
      if (t.data[d] != datum_use::in) places.write[d] = e_.data[d].data();
    }
    const bool skipped = reads_what_is_lost(t);
    e_.hash.push_back(skipped ? never_ran : read_all(t, memory_, places));
    const bool done = !skipped && !t.fails;
    if (done) write_all(t, memory_, places, e_.hash.back());
    if (!skipped && t.fails) thrown_ = true;
    for (const touched& part : touched_by(t, memory_))
      for (std::size_t i = part.first; part.written && i < part.end; i++) lost_[i] = !done;
  }
  bool reads_what_is_lost(const range_task& t) const {
    bool lost = false;
    for (const range_access& a : t.accesses)
      if (does_read(a.how)) for_each_byte(a, [&](std::size_t i) { lost |= lost_[memory_.position(a, i)]; });
    return lost;
  }

  const range_program& p_;
  range_expectation e_;
  range_memory memory_;
  std::vector<bool> lost_;
  bool thrown_ = false;
};

}  // namespace

range_expectation run_in_sequence(const range_program& p) { return sequence(p).run(); }

range_program shrunk(range_program p, const std::function<bool(const range_program&)>& goes_wrong, std::size_t runs) {
  // What goes wrong now and then has to get some chances.
  const auto still_wrong = [&](const range_program& smaller) {
    for (int chance = 0; chance < 10 && runs > 0; chance++) {
      runs--;
      if (goes_wrong(smaller)) return true;
    }
    return false;
  };
  const auto drop = [&](auto list_of) {
    for (std::size_t size = (list_of(p).size() + 1) / 2; size > 0; size = size == 1 ? 0 : (size + 1) / 2)
      for (std::size_t first = 0; first < list_of(p).size() && runs > 0;) {
        range_program smaller = p;
        auto& list = list_of(smaller);
        const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first);
        list.erase(begin, begin + static_cast<std::ptrdiff_t>(std::min(size, list.size() - first)));
        if (still_wrong(smaller)) p = std::move(smaller);
        else first += size;
      }
  };
  drop([](range_program& q) -> auto& { return q.tasks; });
  for (std::size_t t = 0; t < p.tasks.size(); t++) {
    range_program simpler = p;
    simpler.tasks[t].children = 0;
    if (p.tasks[t].children != 0 && still_wrong(simpler)) p = std::move(simpler);
  }
  for (std::size_t t = 0; t < p.tasks.size(); t++)
    drop([t](range_program& q) -> auto& { return q.tasks[t].accesses; });
  return p;
}

}  // namespace weir::test
