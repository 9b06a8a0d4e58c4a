// A window as a graph: a vertex for each task, and one for each node, which is fixed there and has the bytes as edges
// that lie on it.
#include "place/planning.hpp"

#include "place/migrating.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace weir::place {
namespace {

// Tasks. Fewer: a program whose first tasks are few has its arrays placed one by one. More: tasks that could follow
// what is placed wait for a window.
constexpr std::size_t enough_per_worker = 8;

// What reading costs more than at home, as the mean of both directions, in units of the nearest; and that unit in ns a
// byte.
double distances_of(const policy_machine& m, std::vector<double>& distance) {
  double nearest = 0;
  for (int a = 0; a < m.nodes; a++)
    for (int b = 0; b < m.nodes; b++) {
      const double more = a == b ? 0 : (m.read(a, b) - m.read(a, a) + m.read(b, a) - m.read(b, b)) / 2;
      distance.push_back(std::max(more, 0.0));
      if (more > 0 && (nearest == 0 || more < nearest)) nearest = more;
    }
  for (double& d : distance) d = nearest > 0 ? d / nearest : 0;
  if (nearest == 0) distance.clear();  // all are as far: a cut costs a cache miss
  return nearest / policy_machine::line_bytes;
}

// Of tasks that write memory of the program's own which is new, or all of them: the page where that begins. 0: it is
// none of them.
std::vector<std::uintptr_t> first_pages_of(const task_window& w, bool all) {
  std::vector<std::uintptr_t> pages;
  pages.reserve(w.size());
  for (const task_window::named_memory& m : w.own_memory()) pages.push_back(all || m.is_new ? m.written_page : 0);
  return pages;
}

}  // namespace

// How much each node may still get so that all have had their share in the end: of what is dealt now, and what was
// dealt so far.
class planning::shares {
 public:
  // `dealt`: of each node, so far; kept up to date. `amount`: what there is to deal.
  shares(const std::vector<double>& capacity, std::vector<double>& dealt, double amount)
      : dealt_(dealt), room_(capacity.size(), nowhere) {
    const double level = filled_to(capacity, dealt, amount);
    for (std::size_t n = 0; n < capacity.size(); n++)
      if (capacity[n] > 0) room_[n] = std::max(0.0, level * capacity[n] - dealt[n]);
  }
  // One node after the other.
  int next(double amount) {
    while (node_ < room_.size() && room_[node_] < amount / 2) node_++;
    // Larger than what is left of any share: where most is left.
    const auto most = static_cast<std::size_t>(std::max_element(room_.begin(), room_.end()) - room_.begin());
    return static_cast<int>(node_ < room_.size() ? node_ : most);
  }
  void add(double amount, int node) {
    room_[static_cast<std::size_t>(node)] -= amount;
    dealt_[static_cast<std::size_t>(node)] += amount;
  }

 private:
  static constexpr double nowhere = -1e300;  // no room: a node without workers

  // How much of a unit of capacity is filled when all is dealt, and none has more than that but those that have it
  // now.
  static double filled_to(const std::vector<double>& capacity, const std::vector<double>& dealt, double amount) {
    std::vector<std::size_t> by_level;
    for (std::size_t n = 0; n < capacity.size(); n++)
      if (capacity[n] > 0) by_level.push_back(n);
    std::sort(by_level.begin(), by_level.end(),
              [&](std::size_t a, std::size_t b) { return dealt[a] / capacity[a] < dealt[b] / capacity[b]; });
    double units = 0, sum = amount;
    for (std::size_t i = 0; i < by_level.size(); i++) {
      units += capacity[by_level[i]];
      sum += dealt[by_level[i]];
      const double level = sum / units;
      if (i + 1 == by_level.size() || level <= dealt[by_level[i + 1]] / capacity[by_level[i + 1]]) return level;
    }
    return 0;
  }

  std::vector<double>& dealt_;
  std::vector<double> room_;
  std::size_t node_ = 0;
};

// Deals tasks out that nothing draws anywhere, to each node a piece. Those that write new memory of the program's own
// come first, by address, whoever has created them: what lies beside each other mostly is used together. Each node
// gets its share of them, whatever else there is, for what comes goes where they are. All others as they were created.
class planning::in_pieces {
 public:
  // `dealt`: so far, and kept up to date. `first_pages`: of tasks that are to be dealt out by address, as
  // first_pages_of().
  in_pieces(const std::vector<double>& capacity, amounts& dealt, dealing& by_page, const task_window& w,
            const std::vector<std::uintptr_t>& first_pages)
      : w_(w), first_pages_(first_pages), of_new_(w.size(), policy::here),
        all_(capacity, dealt.ns, std::accumulate(w.cost_ns().begin(), w.cost_ns().end(), 0.0)),
        new_(capacity, dealt.new_bytes, bytes_of_new()) {
    deal_pages(by_page);
  }
  // Of a task that belongs there.
  void note(std::size_t task, int node) { all_.add(static_cast<double>(w_.cost_ns()[task]), node); }
  int deal(std::size_t task) {
    const int node = of_new_[task] >= 0 ? of_new_[task] : all_.next(static_cast<double>(w_.cost_ns()[task]));
    note(task, node);
    return node;
  }

 private:
  double bytes_of_new() const {
    double bytes = 0;
    for (std::size_t i = 0; i < w_.size(); i++) bytes += first_pages_[i] != 0 ? static_cast<double>(w_.bytes()[i]) : 0;
    return bytes;
  }
  // All that begin on the same page go together.
  void deal_pages(dealing& pages) {
    std::vector<std::uint32_t> by_page;
    for (std::uint32_t i = 0; i < w_.size(); i++)
      if (first_pages_[i] != 0) by_page.push_back(i);
    const auto page = [&](std::uint32_t i) { return first_pages_[i]; };
    std::stable_sort(by_page.begin(), by_page.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return page(a) < page(b); });
    for (std::size_t i = 0; i < by_page.size();) {
      std::size_t end = i;
      double bytes = 0;
      while (end < by_page.size() && page(by_page[end]) == page(by_page[i]))
        bytes += static_cast<double>(w_.bytes()[by_page[end++]]);
      // Some of it may have been dealt in a window before.
      const int node = pages.node_for(page(by_page[i]), [&] { return new_.next(bytes); });
      new_.add(bytes, node);
      for (; i < end; i++) of_new_[by_page[i]] = node;
    }
  }

  const task_window& w_;
  const std::vector<std::uintptr_t>& first_pages_;
  std::vector<int> of_new_;  // -1: of a task that writes nothing new
  shares all_, new_;
};

// The graph of a window, and divisions of it: tried, simulated, compared.
class planning::divisions {
 public:
  divisions(planning& by, const task_window& w)
      : by_(by), w_(w), tasks_(w.size()), nodes_(by.onto_.capacity.size()), cost_(w.cost_ns()),
        order_(tasks_ + nodes_), first_pages_(first_pages_of(w, false)) {
    cost_.resize(tasks_ + nodes_, 0);
    edges_.reserve(w.links().size() + w.bonds().size());
    for (const task_window::link& l : w.links()) edges_.push_back({l.from, l.to, l.bytes});
    for (const bool moves : {false, true}) {
      for (const task_window::bond& b : w.bonds())
        if (b.own_memory == moves) edges_.push_back({vertex_of(b.node), b.task, b.bytes});
      if (!moves) edges_that_stay_ = edges_.size();
    }
    after_ = partition::successors_of(cost_.size(), edges_);
    // Nodes first, then tasks as they were created.
    std::iota(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(nodes_), vertex_of(0));
    std::iota(order_.begin() + static_cast<std::ptrdiff_t>(nodes_), order_.end(), partition::vertex{0});
  }

  // Whether the best one has memory of the program's own go to its tasks.
  bool moves_memory() const { return free_; }
  // How often what its tasks name is expected to be used. If the window has each but once, there is no sign of others.
  std::uint32_t uses() {
    if (uses_ == 0) uses_ = names_again() ? uses_expected : 1;
    return uses_;
  }
  // Of each task its node.
  std::vector<int> best() {
    amounts dealt = by_.dealt_;
    std::vector<int> first = followed(dealt, by_.pages_);
    const double first_ns = in_many_steps(first);
    try_out(std::move(first), first_ns);
    if (by_.migrates_ != policy::migration::off && edges_that_stay_ < edges_.size()) try_moving(dealt);
    by_.dealt_ = std::move(dealt);
    tie_pages();
    if (is_worth_another(passes_of_refinement)) try_out(refined(part_));
    if (is_worth_another(passes_of_division)) try_out(divided());
    part_.resize(tasks_);
    return std::move(part_);
  }

 private:
  // What they take, as so many simulations of the window (record 29 has what was measured), and one of these, in ns an
  // edge, on a server of today, roughly: who divides for longer than that gains loses.
  static constexpr double passes_of_refinement = 30, passes_of_division = 200;
  static constexpr double usual_pass_ns_per_edge = 30;
  static constexpr double good_enough = 0.03;
  static constexpr int most_divisions = 3;

  partition::vertex vertex_of(int node) const {
    return static_cast<partition::vertex>(tasks_ + static_cast<std::size_t>(node));
  }

  // As if the memory that they name were new, and will lie where they run: moving it costs once what lying elsewhere
  // costs with each use. `dealt`: what it is after the best so far.
  void try_moving(amounts& dealt) {
    free_ = true;
    std::vector<std::uintptr_t> pages = first_pages_of(w_, true);
    pages.swap(first_pages_);
    amounts dealt_then = by_.dealt_;
    const auto by_page = std::make_unique<dealing>();
    std::vector<int> part = followed(dealt_then, *by_page);
    double moving_ns = 0;
    for (const task_window::bond& b : w_.bonds())
      if (b.own_memory && part[b.task] != b.node) moving_ns += static_cast<double>(b.bytes) * by_.move_of_byte_;
    const double workers = std::accumulate(by_.onto_.capacity.begin(), by_.onto_.capacity.end(), 0.0);
    const double ns = in_many_steps(part) + moving_ns / workers / uses();
    if (try_out(std::move(part), ns)) {
      dealt = std::move(dealt_then);
      return;
    }
    free_ = false;
    pages.swap(first_pages_);
  }
  // A quarter of its tasks on memory of the program's own, or more, are not the first on most of theirs. A window that
  // is ended when its tasks begin to come again has a third.
  bool names_again() const {
    std::vector<std::uintptr_t> named;
    for (const task_window::named_memory& m : w_.own_memory())
      if (m.most != 0) named.push_back(m.most);
    const std::size_t tasks = named.size();
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    return 3 * tasks >= 4 * named.size() && tasks != 0;
  }
  // Each task to the last one of its page, by all that both name: what one of them writes lies where the other does.
  void tie_pages() {
    std::unordered_map<std::uintptr_t, std::uint32_t> last;
    for (std::uint32_t i = 0; i < tasks_; i++) {
      if (first_pages_[i] == 0) continue;
      const auto [found, is_new] = last.try_emplace(first_pages_[i], i);
      if (is_new) continue;
      const std::uint32_t before = std::exchange(found->second, i);
      ties_.push_back({before, i, w_.bytes()[before] + w_.bytes()[i]});
    }
  }
  void try_out(std::vector<int> part) {
    const double ns = simulated(by_.onto_, part, by_.cost_of_byte_).length;
    try_out(std::move(part), ns);
  }
  // True: it is the best so far.
  bool try_out(std::vector<int> part, double ns) {
    if (!part_.empty() && ns >= ns_) return false;
    part_ = std::move(part);
    ns_ = ns;
    return true;
  }
  // Where each node works on what is its own. In a program that goes on it begins its next step when it has ended this
  // one, and what it once was behind the others it is in every step. A window that somebody waits for ends here.
  double in_many_steps(const std::vector<int>& part) {
    const partition::timetable t = simulated(by_.onto_, part, by_.cost_of_byte_);
    return w_.is_cut() ? t.length : t.steady + (t.length - t.steady) / uses_expected;
  }
  partition::timetable simulated(const partition::target& onto, const std::vector<int>& part, double cost_of_byte) {
    const std::uint64_t begin_ns = w_.now_ns();
    const partition::timetable t = partition::schedule(after_, order_, cost_, onto, part, cost_of_byte);
    pass_ns_ = std::min(pass_ns_, w_.now_ns() - begin_ns);
    return t;
  }
  // Of a simulation: it works on the same graph as a division does, in the same caches. Some of this window have been
  // timed, unless time stands still.
  double pass_ns() const {
    return pass_ns_ > 0 ? static_cast<double>(pass_ns_) : usual_pass_ns_per_edge * static_cast<double>(edges_.size());
  }
  // Whether there may be more to gain than it takes, and that is little of what the tasks take. The most that there is
  // to gain: no worker ever waits for a part's tasks, and all that is read lies at home.
  bool is_worth_another(double passes) {
    const double workers = std::accumulate(by_.onto_.capacity.begin(), by_.onto_.capacity.end(), 0.0);
    if (bound_ns_ == 0) {
      partition::target one = partition::equal_parts(1);
      one.capacity[0] = workers;
      bound_ns_ = simulated(one, std::vector<int>(cost_.size(), 0), 0).length;
    }
    const double work_ns = std::accumulate(cost_.begin(), cost_.end(), 0.0) / workers;
    const double left_ns = ns_ - bound_ns_ * (1 + by_.imbalance_ + good_enough);
    return passes * pass_ns() < std::min(by_.effort_ * work_ns, left_ns);
  }

  // Each task where most bytes are that it uses, those of tasks before it included; where that is less than half of
  // what it names, in pieces, as the tasks come.
  std::vector<int> followed(amounts& dealt, dealing& by_page) const {
    std::vector<int> part(tasks_ + nodes_);
    std::iota(part.begin() + static_cast<std::ptrdiff_t>(tasks_), part.end(), 0);
    in_pieces pieces(by_.onto_.capacity, dealt, by_page, w_, first_pages_);
    std::vector<std::uint64_t> bytes(nodes_);
    auto l = w_.links().begin();
    auto b = w_.bonds().begin();
    for (std::size_t i = 0; i < tasks_; i++) {
      std::fill(bytes.begin(), bytes.end(), 0);
      for (; l != w_.links().end() && l->to == i; ++l) bytes[static_cast<std::size_t>(part[l->from])] += l->bytes;
      for (; b != w_.bonds().end() && b->task == i; ++b)
        if (!free_ || !b->own_memory) bytes[static_cast<std::size_t>(b->node)] += b->bytes;
      const auto most = std::max_element(bytes.begin(), bytes.end());
      const auto node = static_cast<int>(most - bytes.begin());
      const bool has_workers = by_.onto_.capacity[static_cast<std::size_t>(node)] > 0;
      const bool drawn = has_workers && 2 * *most >= w_.bytes()[i];
      part[i] = drawn ? node : pieces.deal(i);
      if (drawn) pieces.note(i, node);
    }
    return part;
  }
  partition::options options() const {
    partition::options o;
    o.onto = by_.onto_;
    o.imbalance = by_.imbalance_;
    o.seed = by_.seed_;
    o.fixed.assign(tasks_ + nodes_, partition::anywhere);
    std::iota(o.fixed.begin() + static_cast<std::ptrdiff_t>(tasks_), o.fixed.end(), 0);
    return o;
  }
  std::vector<int> refined(const std::vector<int>& part) const {
    partition::options o = options();
    o.initial = part;
    std::vector<partition::edge> all = edges_to_cut();
    all.insert(all.end(), ties_.begin(), ties_.end());
    return by_.with_->partition(partition::make_graph(cost_, all), o).part;
  }
  std::vector<int> divided() const {
    partition::options o = options();
    o.initial.assign(tasks_ + nodes_, partition::anywhere);
    for (std::size_t i = 0; i < tasks_; i++) o.initial[i] = w_.node(i);
    return partition::divide_in_time(*by_.with_, cost_, edges_to_cut(), o, by_.cost_of_byte_, most_divisions, ties_)
        .part;
  }

  // What memory that moves costs, it costs wherever its tasks are.
  std::vector<partition::edge> edges_to_cut() const {
    return {edges_.begin(), free_ ? edges_.begin() + static_cast<std::ptrdiff_t>(edges_that_stay_) : edges_.end()};
  }

  planning& by_;
  const task_window& w_;
  const std::size_t tasks_, nodes_;
  std::vector<std::uint64_t> cost_;
  std::vector<partition::edge> edges_, ties_;
  partition::successors after_;
  std::vector<partition::vertex> order_;
  std::vector<std::uintptr_t> first_pages_;
  std::size_t edges_that_stay_ = 0;  // of edges_, those before: of all but memory that may move
  bool free_ = false;  // memory is to move to its tasks
  std::uint32_t uses_ = 0;  // 0: not counted yet
  std::vector<int> part_;  // the best so far
  double ns_ = 0, bound_ns_ = 0;
  std::uint64_t pass_ns_ = ~std::uint64_t{0};  // the shortest simulation so far
};

planning::planning(policy_parameters& p, how h)
    : how_(h),
      window_(p.count("window", 1024, 2, 10'000'000, "tasks that are seen together before they run")),
      overlap_(h == how::again ? p.count("overlap", window_ / 4, 0, window_ - 1,
                                         "of those, the last ones, which the next window has, too")
                               : 0),
      recognises_(h == how::again && p.word("recognise", {"on", "off"},
                                            "whether tasks like those of a window before go where these were placed, "
                                            "and are in no window") == "on"),
      imbalance_(p.number("imbalance", 0.05, 0, 10, "how much more than its share a node may get; 0.05 is 5 %")),
      effort_(p.number("effort", 0.1, 0, 1000,
                       "of the time that a window's tasks take, what placing them may take beyond the quick way")),
      seed_(p.count("seed", 1, 0, 1'000'000'000'000, "of partitioning, and of choices between equals")),
      migrates_(migrate_parameter(p, policy::migration::automatic)),
      with_(partition::make_partitioner(p.word("with", partition::partitioner_names(), "the partitioner"))) {}

void planning::begin(const policy_machine& m) {
  onto_.capacity.assign(static_cast<std::size_t>(m.nodes), 0);
  for (const int n : m.node_of_worker) onto_.capacity[static_cast<std::size_t>(n)]++;
  cost_of_byte_ = distances_of(m, onto_.distance);
  double line_ns = 0;
  for (int n = 0; n < m.nodes; n++) line_ns += (m.read(n, 0) + m.write(n, n)) / m.nodes;
  move_of_byte_ = line_ns / policy_machine::line_bytes;
  workers_ = m.node_of_worker.size();
  dealt_.ns.assign(onto_.capacity.size(), 0);
  dealt_.new_bytes.assign(onto_.capacity.size(), 0);
}

void planning::divide(task_window& w) {
  if (w.links().empty() && w.bonds().empty()) return deal_in_order(w);
  divisions d(*this, w);
  const std::vector<int> part = d.best();
  if (d.moves_memory()) w.move_memory(d.uses());
  for (std::size_t i = 0; i < w.size(); i++) w.place(i, part[i]);
  note_placed(w);
  // Of a smaller one as large a part.
  w.keep_from(w.size() - overlap_ * std::min(w.size(), window_) / window_);
}

// Tasks that have nothing in common, and nothing with what lies somewhere: those that are created one after the other
// are mostly neighbours in what comes.
void planning::deal_in_order(task_window& w) {
  const std::vector<std::uintptr_t> first_pages = first_pages_of(w, false);
  in_pieces pieces(onto_.capacity, dealt_, pages_, w, first_pages);
  for (std::size_t i = 0; i < w.size(); i++) w.place(i, pieces.deal(i));
  note_placed(w);
}

// Enough, for who divides once: what has something in common is divided, or most of what is new is dealt out, and
// tasks that come can follow it. That a few tasks leave memory where it lies says little: their creator may have been
// interrupted before it came to those that use it again.
void planning::note_placed(const task_window& w) {
  placed_ += w.size();
  const bool leaves_memory = !w.moves_memory() && migrates_ != policy::migration::off &&
                             std::any_of(w.bonds().begin(), w.bonds().end(), [](const auto& b) { return b.own_memory; });
  if (how_ == how::once &&
      ((!w.links().empty() && !leaves_memory) || placed_ >= std::min(window_, enough_per_worker * workers_)))
    over_.store(true, std::memory_order_relaxed);
}

policy::wish planning::as_planned(const task_view& task, int node) {
  std::uint64_t written = 0, unplaced = 0;
  flow::for_each_output(user_memory_of(task), &task.frame(), [&](std::uint64_t bytes, int at) {
    written += bytes;
    unplaced += at == detail::node_unknown ? bytes : 0;
  });
  // Where it runs decides how far those have to read that use it.
  if (2 * unplaced > written) return {node, true, uses_expected * unplaced};
  return {node};
}

}  // namespace weir::place
