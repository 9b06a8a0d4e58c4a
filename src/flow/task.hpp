// A task's way through the data: created, matched, prepared, completed.
#pragma once

#include "flow/context.hpp"
#include "flow/frames.hpp"
#include "flow/stream.hpp"
#include "flow/user_memory.hpp"
#include "flow/versions.hpp"

#include <weir/task.hpp>

#include <string>

namespace weir::flow {

// Matches every access to the version it names, and announces the versions the task will write. All resources of a
// task are held at once, so that tasks created at the same time by different threads are ordered the same way
// everywhere and cannot wait for each other. True: the task is ready, and not on c.ready, where tasks are that became
// ready by this. False: it may run, or have run, by now, or is on c.ready with others.
// Throws usage_error before anything was changed. Cost per access: one atomic operation on the datum, and one on the
// version if it is not published yet.
bool submit(context&, frame*);

// Where a task of this name is to run that is near() the datum (weir/task.hpp says which node that is); negative:
// unknown. Throws usage_error for a datum of another runtime.
int node_near(context&, datum&, const char* task);
int node_near(context&, const void* memory, std::size_t bytes);

// Most stages of pipelines: at most one input and one output, of which one is of a stream.
inline bool is_stage(const frame* f) {
  return f->unusual == frame::has_streams && f->versions <= 1 && f->accesses <= 1;
}

// Whether there is nothing to do for a task's inputs before it runs.
inline bool finds_its_inputs(frame* f) {
  constexpr std::uint8_t none_to_find = frame::has_ranges | frame::has_tiles | frame::has_groups | frame::has_tokens;
  if ((f->unusual & ~none_to_find) == 0 || f->accesses == 0) return true;
  if (!is_stage(f)) return false;
  const access& a = *f->access_at(0);
  return a.kind() != waiter_kind::window || !a.window->in_several_pieces();
}

// Just before the body runs: outputs get their memory, in-place updates take theirs over, windows that lie in
// several pieces are gathered. Throws std::bad_alloc.
void prepare_unusual(context&, frame*);
void allocate_where_planned(context&, frame*);  // allocation::at_consumer
inline void prepare(context& c, frame* f) {
  if (!finds_its_inputs(f)) return prepare_unusual(c, f);
  if (c.common.mode != allocation::deferred) {
    if (c.common.mode == allocation::at_consumer) allocate_where_planned(c, f);
    return;
  }
  version* v = f->version_at(0);
  for (const version* end = v + f->versions; v != end; v++) allocate_buffer(c, *v);
}

// After the body, on several nodes. With first touch the system has decided where the outputs are: asks it, once per
// new block.
void find_out_places(context&, frame*);

// After the body, or instead of it: publishes the outputs, lets go of the inputs. `cause` is null, or the name of the
// task whose failure makes the outputs worthless. The frame may be gone on return; what became ready is on c.ready.
// Of those that wait for one of its versions some may be left for the caller to tell (context::rest), and of its inputs
// some to let go of (context::late), if anything became ready.
// Returns the bytes that the task declared to read and to write.
struct traffic {
  std::uint64_t read = 0, written = 0;
};
traffic complete_usual(context&, frame*, const char* cause);
traffic complete_stage(context&, frame*, const char* cause);
traffic complete_unusual(context&, frame*, const char* cause);
traffic complete_with_user_memory(context&, frame*, const char* cause);
traffic complete_in_groups(context&, frame*, const char* cause);
inline traffic complete(context& c, frame* f, const char* cause) {
  if (f->unusual == 0 || f->accesses == 0) return complete_usual(c, f, cause);
  if (f->unusual < frame::has_streams) return complete_unusual(c, f, cause);  // one comparison with the next
  if (is_stage(f)) return complete_stage(c, f, cause);
  if (f->unusual >= frame::has_groups) [[unlikely]] return complete_in_groups(c, f, cause);
  if ((f->unusual & frame::has_ranges) != 0) [[unlikely]]
    return complete_with_user_memory(c, f, cause);
  return complete_unusual(c, f, cause);
}

// Of a datum that nobody else knows yet: its first version holds a copy of these values, and the producer of it is a
// task that is done already. Throws std::bad_alloc.
void give_first_version(context&, datum&, const void* values);

// Those that complete() has left, or some of them.
void tell(context&, waiter*);
// What complete() has not let go of yet.
void drop_late(context&);

// Of a task that will never run.
void declare_outputs_failed(context&, frame&, const char* cause);

// For messages: the task's name and what it waits for.
std::string described_inputs(frame&);
// Whether a task waits for something that another one, which runs, keeps until it is done. O(what that one uses, and those
// that wait for it). Inside a visit, while neither goes on.
bool waits_for_end_of(frame& waiting, frame& running);
// Whether it waits for this version, or to take its place.
bool waits_for(const frame& waiting, const version&);

// Calls f(bytes, node) for every piece of memory a ready task will read; node may be unknown or interleaved.
// `known`: where user memory lies; null: nobody keeps that.
template <class F>
void for_each_input(const whereabouts& known, frame*, F&&);
// As for_each_input, but an update's bytes twice: it reads them, and writes them where they are.
template <class F>
void for_each_moved_input(const whereabouts& known, frame*, F&&);
// Calls f(bytes, node) for every output; node is unknown while it has no buffer, or no page.
template <class F>
void for_each_output(const whereabouts& known, frame*, F&&);

}  // namespace weir::flow

#include "flow/task_bytes.hpp"
