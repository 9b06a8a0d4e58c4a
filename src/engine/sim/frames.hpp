// The tasks of a program as frames, which either engine runs.
#pragma once

#include "engine/sim/program.hpp"
#include "flow/flow.hpp"

#include <weir/detail/build.hpp>

#include <map>
#include <vector>

namespace weir::engine::sim {

// Tasks that take the same time count as calls of the same function. The program must outlive it; used by many
// threads.
class frame_maker {
 public:
  // `run`: the body, or null where bodies are not run. `context`: for the body, context_of().
  explicit frame_maker(const program& p, void (*run)(flow::frame*) = nullptr, void* context = nullptr)
      : program_(p), context_(context), data_(p.datum_bytes.size()) {
    for (std::size_t i = 0; i < data_.size(); i++) data_[i].bytes = p.datum_bytes[i];
    for (const task& t : p.tasks) ops_.try_emplace(t.ns, run, nullptr);
  }

  // By a thread of the program, before anything else.
  void make_data(flow::context& c) {
    std::vector<char> values;
    for (detail::datum& d : data_) {
      values.resize(std::max(values.size(), static_cast<std::size_t>(d.bytes)));
      if (program_.data_have_values) flow::give_first_version(c, d, values.data());
    }
  }
  // Last of all.
  void drop_data(flow::context& c) {
    for (detail::datum& d : data_)
      flow::let_current_go(c, d);
  }

  // create(ops, options, size) makes the frame; it is to be submitted.
  template <class Create>
  flow::frame* make(int index, Create&& create) {
    const task& t = program_.tasks[static_cast<std::size_t>(index)];
    task_options options{.name = "simulated"};
    options.priority = t.priority > 0 ? priority::high : priority::normal;
    if (t.affinity >= 0) options.affinity = {t.affinity, t.required};
    const detail::frame_size size = detail::size_of_frame(
        options, t.out.size() + t.inout.size(), t.in.size() + t.inout.size(), sizeof(closure), alignof(closure));
    flow::frame* const f = create(&ops_.at(t.ns), options, size);
    name_data(f, t);
    new (closure_at(f)) closure{index, context_};
    return f;
  }

  static int task_of(const flow::frame* f) { return closure_at(f)->index; }
  static void* context_of(const flow::frame* f) { return closure_at(f)->context; }

 private:
  struct closure {
    int index;
    void* context;
  };
  static closure* closure_at(const flow::frame* f) {
    auto* const at = reinterpret_cast<char*>(const_cast<flow::frame*>(f));
    return reinterpret_cast<closure*>(at + detail::closure_offset(f->versions, f->accesses, alignof(closure)));
  }

  void name_data(flow::frame* f, const task& t) {
    detail::cursor k{f};
    const auto datum = [&](int i) -> detail::datum& { return data_[static_cast<std::size_t>(i)]; };
    for (const int i : t.in) read(k, flow::waiter_kind::read, datum(i));
    for (const int i : t.inout) {
      read(k, flow::waiter_kind::update, datum(i)).set_place(0, k.version_index());
      f->unusual |= flow::frame::has_updates;
      detail::put_version(k, detail::version_kind::update, &datum(i), datum(i).bytes);
    }
    for (const int i : t.out) detail::put_version(k, detail::version_kind::replace, &datum(i), datum(i).bytes);
  }
  static flow::access& read(detail::cursor& k, flow::waiter_kind kind, detail::datum& d) {
    flow::access& a = detail::put_access(k, kind);
    a.wanted = &d;
    a.bytes = d.bytes;
    return a;
  }

  const program& program_;
  void* const context_;
  std::vector<detail::datum> data_;
  std::map<std::uint64_t, detail::task_ops> ops_;
};

}  // namespace weir::engine::sim
