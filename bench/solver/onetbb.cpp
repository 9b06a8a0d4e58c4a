// Rows as a oneTBB flow graph.
#include "row_runner.hpp"

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <deque>
#include <vector>

namespace weir::bench {
namespace {

namespace flow = oneapi::tbb::flow;
using node = flow::continue_node<flow::continue_msg>;

// One way through the rows.
class way {
 public:
  way(const row_lists& lists, const row_body*& body) {
    for (std::size_t t = 0; t < lists.tasks(); t++)
      nodes_.emplace_back(graph_, [rows = lists.rows_of(t), &body](flow::continue_msg) { (*body)(rows, oneapi::tbb::this_task_arena::current_thread_index()); });
    for (std::size_t t = 0; t < lists.tasks(); t++) {
      for (const std::uint32_t b : lists.before_of(t)) flow::make_edge(nodes_[b], nodes_[t]);
      if (lists.before_of(t).empty()) first_.push_back(&nodes_[t]);
    }
  }
  void run() {
    for (node* n : first_) n->try_put(flow::continue_msg());
    graph_.wait_for_all();
  }

 private:
  flow::graph graph_;
  std::deque<node> nodes_;
  std::vector<node*> first_;
};

class onetbb : public row_runner {
 public:
  // Both are made inside the arena, because a flow graph runs in the one it was made in.
  onetbb(const row_graph& g, int workers) : limit_(oneapi::tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)), arena_(workers) {
    arena_.execute([&] {
      forward_ = std::make_unique<way>(g.forward, body_);
      backward_ = std::make_unique<way>(g.backward, body_);
    });
  }
  ~onetbb() override {
    arena_.execute([&] {
      forward_.reset();
      backward_.reset();
    });
  }
  void run(const row_body& body, bool backwards) override {
    body_ = &body;
    arena_.execute([&] { (backwards ? backward_ : forward_)->run(); });
  }

 private:
  oneapi::tbb::global_control limit_;
  oneapi::tbb::task_arena arena_;
  const row_body* body_ = nullptr;
  std::unique_ptr<way> forward_, backward_;
};

}  // namespace

std::unique_ptr<row_runner> make_onetbb(const row_graph& g, int workers) { return std::make_unique<onetbb>(g, workers); }

}  // namespace weir::bench
