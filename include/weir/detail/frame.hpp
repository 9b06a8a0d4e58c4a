// What one task looks like in memory. Internal: programs never name these types, spawn() fills them in.
//
//   [frame 64 B][version 48 B x outputs][access 40 B x inputs][closure][stream_window 128 B x windows]
//
// One allocation holds it all. A frame lives until its task is done and every version it wrote is dead.
#pragma once

#include <weir/detail/atomic.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weir::detail {

struct frame;
struct version;
struct access;
struct scope_state;
struct runtime_state;
struct stream_window;

inline constexpr std::size_t window_bytes = 128;  // of a stream_window
inline constexpr std::int16_t node_unknown = -1;  // not placed yet, or spread over several nodes

// What a thing in a version's waiting list is. Kept in the low bits of waiter::target.
enum class waiter_kind : std::uint8_t {
  read,        // access: reads the version; a task waits for its reads one after the other
  update,      // access: overwrites the version in place once nobody else uses it
  window,      // access: a stream window; its segments wait through waiters of their own
  skip,        // access: moves a stream on, reads nothing
  overwrite,   // access to user memory: as update, but what the earlier writer did does not matter
  // Accesses to user memory that wait for nothing themselves: other accesses of the task, or parts, do that for them.
  covered_read,
  covered_update,
  covered_overwrite,
  shape,       // no access, but the shape of the tile that the access before it names (access::matrix() and below)
  dependence,  // one more thing a task waits for: a segment of a window
  external,    // a thread outside the runtime waits for this version
  part_read,   // access to one of several parts of a range: as read
  cut_publish, // a range was cut while tasks used it: the version of the whole is there
  cut_unused,  // nobody uses that version any more
  group_enter, // of a group of accesses: what was there before them is there, and nobody uses that any more
  group_leave, // all of them are over
};

inline constexpr bool is_covered(waiter_kind k) {
  return k == waiter_kind::covered_read || k == waiter_kind::covered_update || k == waiter_kind::covered_overwrite;
}

struct waiter {
  waiter* next = nullptr;
  std::uintptr_t target = 0;  // frame* (64-byte aligned) | waiter_kind

  waiter_kind kind() const { return static_cast<waiter_kind>(target & 63u); }
  frame* task() const { return reinterpret_cast<frame*>(target & ~std::uintptr_t{63}); }
};

// Locked while a task's accesses are matched. The word holds the id of the creator that owns it, so that a task
// naming a resource twice is told from one that somebody else is using.
struct resource {
  atomic<std::uint32_t> owner{0};
  atomic<std::uint32_t> handles{1};
};

// A datum: the sequence of its versions, of which only the current one can still be named by new tasks.
struct alignas(64) datum : resource {
  version* current = nullptr;
  std::uint32_t readers = 0;  // tasks matched to `current` since it became current; protected by owner
  std::uint32_t depth = 0;    // of the task that writes `current`: longest path of tasks through data (not streams) to it; protected by owner
  std::uint64_t bytes = 0;
  runtime_state* runtime = nullptr;
  const char* name = nullptr;
  std::uint32_t element_bytes = 1;
  std::int16_t home = 0;      // node whose pool the datum itself came from
  std::int16_t last_seen = node_unknown;  // by near(): node of a version of it; protected by owner
  // Data lie among frames. Who walks those finds here, where a frame has its state, that this is none: frame_state::free.
  alignas(8) unset_atomic<std::uint8_t> no_frame;
  // Its open group of commutative or concurrent accesses, as two parts of an address; protected by owner. While data
  // have one `current` is null, so that only who finds that looks here. Records of ranges have both.
  std::uint16_t group_high = 0;
  std::uint32_t group_low = 0;

  frame* group() const {
    return reinterpret_cast<frame*>(static_cast<std::uintptr_t>(std::uint64_t{group_high} << 32 | group_low));
  }
  void set_group(frame* g) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(g));
    group_high = static_cast<std::uint16_t>(address >> 32);
    group_low = static_cast<std::uint32_t>(address);
  }
};
static_assert(sizeof(datum) == 64);

struct access : waiter {
  union {
    datum* wanted;            // before matching
    version* source;          // after: the version read
    resource* stream;         // window, skip: before matching (a stream_state)
    stream_window* window;    // after
    frame* parts;  // covered: after matching, of the first of them; null in the others and if there are none
  };
  std::uint64_t place = 0;  // low 48 bits: bytes into the version, or where user memory begins; high 16: extra()
  std::uint64_t bytes = 0;  // declared; window: bytes visible
  access() : wanted(nullptr) {}

  static constexpr int offset_bits = 48;
  std::uint64_t offset() const { return place & ((std::uint64_t{1} << offset_bits) - 1); }
  // update, overwrite: which of the frame's versions it becomes.
  unsigned extra() const { return static_cast<unsigned>(place >> offset_bits); }
  // In the extra() of what reads, covered_read and dependence included: of user memory; of a commutative or concurrent
  // access, which waits as readers do; of a commutative one; and that its task was given up.
  static constexpr unsigned reads_range = 1, in_group = 2, exclusive = 4, given_up = 8;
  void set_place(std::uint64_t offset, std::uint64_t extra) { place = offset | extra << offset_bits; }

  // Of a shape: address of the matrix, bytes from row to row, bytes of a row of the tile.
  void set_shape(std::uintptr_t matrix, std::uint64_t stride, std::uint64_t width) {
    next = reinterpret_cast<waiter*>(matrix);
    place = stride;
    bytes = width;
  }
  std::uintptr_t matrix() const { return reinterpret_cast<std::uintptr_t>(next); }
  std::uint64_t stride() const { return place; }
  std::uint64_t width() const { return bytes; }
};
static_assert(sizeof(access) == 40);

enum class version_kind : std::uint8_t {
  replace, update, push,
  range,   // of user memory: no buffer
  ground,  // of user memory that no task has written: there from the start, and it has no producer
  unused,  // nobody will ever know of it: its access is covered by others
};

// The value one task wrote. Written once, then read any number of times.
//
// users, low half: 1 until its stream has moved on, 1 per reading task, and while_current as long as it is its datum's
// current version: readers matched meanwhile are only counted in the datum, and leave without having been added, so the
// count would pass zero if being current weighed just one.
// users, high half: read views, and has_heir while a successor is going to take over its buffer. Its producer is not
// counted: a version that nobody uses before it is published waits for that. src/flow/README.md has the proof.
struct version {
  static constexpr std::uint64_t one_user = 1;
  static constexpr std::uint64_t while_current = std::uint64_t{1} << 31;
  static constexpr std::uint64_t one_view = std::uint64_t{1} << 32;
  static constexpr std::uint64_t has_heir = std::uint64_t{1} << 63;

  atomic<std::uint64_t> users{0};
  atomic<waiter*> waiters{nullptr};  // published_mark() once published; unwanted_mark() if nobody will ever use it
  void* buffer = nullptr;
  std::uint64_t bytes = 0;
  union {
    resource* owner;          // before matching: the datum or stream written to
    access* heir;             // after: the in-place successor, if one is waiting for this version to be unused
    version* next_push;       // after, of a push: the one behind it in its stream
  };
  std::uint32_t frame_offset = 0;  // bytes from the frame's start
  std::int16_t node = node_unknown;  // before it has memory: node_unknown, or where it is planned (src/flow/versions.hpp)
  version_kind kind = version_kind::replace;
  bool failed = false;             // its producer threw or was skipped; set before publication

  version() : owner(nullptr) {}
  frame* producer() { return reinterpret_cast<frame*>(reinterpret_cast<char*>(this) - frame_offset); }
  static waiter* published_mark() { return reinterpret_cast<waiter*>(std::uintptr_t{1}); }
  static waiter* unwanted_mark() { return reinterpret_cast<waiter*>(std::uintptr_t{2}); }
  // Nobody will know of it: it goes when its producer is done.
  void be_unused() {
    kind = version_kind::unused;
    owner = nullptr;
    waiters.store(unwanted_mark(), std::memory_order_relaxed);
  }
  bool published() const { return waiters.load(std::memory_order_acquire) == published_mark(); }
};
static_assert(sizeof(version) == 48);

// How long tasks with the same closure's type take, as the last one says whose time was taken. unknown: none has
// finished. apart: their creator must not run them, however long they are.
enum class task_length : std::uint8_t { unknown = 0, apart, short_, long_ };

// What spawn() knows about the closure's type, and what is learnt about it. Whoever creates or runs a task of this type
// reads the first line, so that is written to only while the length is unknown, and when it turns out to be another
// one.
struct alignas(64) task_ops {
  void (*run)(frame*);              // calls the closure with its accesses
  void (*destroy)(frame*) noexcept; // destroys the closure; null: nothing to do
  mutable atomic<task_length> length{task_length::unknown};
  mutable atomic<std::uint32_t> queued{0};  // by creators that could have run them, while the length was unknown
  // Running average of those whose time was taken, right to an eighth and 50 ns; 0: none. Who sends tasks reads it.
  alignas(64) mutable atomic<std::uint32_t> typical_ns{0};

  bool is_unknown() const { return length.load(std::memory_order_relaxed) == task_length::unknown; }
  bool is_apart() const { return length.load(std::memory_order_relaxed) == task_length::apart; }
  // So that its creator may run it.
  bool has_run_before() const { return length.load(std::memory_order_relaxed) > task_length::apart; }
  // So many that one that waits for its creator would be one of a kind.
  bool is_one_of_many() const {
    if (!is_unknown()) return false;
    const std::uint32_t n = queued.load(std::memory_order_relaxed);
    if (n >= many) return true;
    queued.store(n + 1, std::memory_order_relaxed);
    return false;
  }
  static constexpr std::uint32_t many = 64;
  bool is_short() const { return length.load(std::memory_order_relaxed) == task_length::short_; }
  void note(task_length now, std::uint64_t ns) const {
    const task_length known = length.load(std::memory_order_relaxed);
    if (known != now && known != task_length::apart) length.store(now, std::memory_order_relaxed);
    const std::uint64_t before = typical_ns.load(std::memory_order_relaxed);
    // A time that is hardly another one, or differs by what two looks at a clock take, is not written down: that would
    // cost a line of all who take times.
    constexpr std::uint64_t clock_ns = 50;
    if (before != 0 && (ns > before ? ns - before : before - ns) <= before / 8 + clock_ns) return;
    const std::uint64_t mean = before == 0 ? ns : (3 * before + ns) / 4;
    typical_ns.store(static_cast<std::uint32_t>(std::clamp<std::uint64_t>(mean, 1, 0xffffffff)),
                     std::memory_order_relaxed);
  }
};

enum class frame_state : std::uint8_t { free = 0, creating, waiting, ready, running, done };

// How large a task is in memory; one register when it is created.
struct frame_size {
  std::uint32_t bytes;  // of the frame, its records and its closure
  std::uint16_t versions, accesses;
};

struct alignas(64) frame {
  static constexpr std::uint32_t being_created = std::uint32_t{1} << 31;
  static constexpr std::uint8_t has_updates = 1, has_streams = 2, has_ranges = 4, of_graph = 8;
  static constexpr std::uint8_t has_tiles = 16;  // among its ranges
  // Commutative or concurrent accesses; commutative ones.
  static constexpr std::uint8_t has_groups = 32, has_tokens = 64;
  // Of ran_as(); the top bit is being_created.
  static constexpr unsigned tasks_bits = 20, slots_told_apart = 1u << (31 - tasks_bits);
  static constexpr std::uint32_t tasks_mask = (1u << tasks_bits) - 1;

  const task_ops* ops = nullptr;
  // What it waits for: 1 for all its reads, 1 for every other input, and being_created until all are matched. When it
  // is ready and was sent elsewhere: sent_by(). When it has run: ran_as(). This and the state are looked at by who walks
  // all frames, also while one is made.
  unset_atomic<std::uint32_t> pending;
  atomic<std::uint16_t> live{0};          // versions alive, where several were announced
  std::uint16_t hint = 0;                 // of data, and placed: what a thief should know (sched::task_hint)
  scope_state* scope = nullptr;           // null: the runtime itself
  union {
    frame* next = nullptr;                // in whatever list holds it
    access* next_read;                    // in none yet: the one to look at when the read it waits for is there
    std::uint64_t trace_id;               // it has run, and is traced: for the traces of the tasks that read from it
  };
  const char* name = nullptr;
  atomic<const char*> skipped_because{nullptr};  // name of the task whose failure makes this one pointless
  std::uint32_t bytes = 0;                // size of the allocation
  std::uint16_t versions = 0;
  std::uint16_t accesses = 0;
  unset_atomic<frame_state> state;
  std::int8_t priority = 0;
  bool required = false;                  // affinity is an order, not a wish
  std::uint8_t unusual = 0;               // accesses other than in() and out() of data: bits below
  std::int16_t affinity = node_unknown;
  std::int16_t home = 0;                  // node whose pool the frame came from

  frame() = default;
  // Of a task that is being created: every field is stored once, pending and state by the caller.
  frame(const task_ops* operations, scope_state* in, const char* named, frame_size size, std::int8_t urgency,
        std::int16_t affinity_node, bool affinity_required, std::int16_t home_node)
      : ops(operations), scope(in), name(named), bytes(size.bytes), versions(size.versions), accesses(size.accesses),
        priority(urgency), required(affinity_required), affinity(affinity_node), home(home_node) {}

  // Of a ready task, for traces: which slot has sent it to another one's queues. No task waits with such a count.
  static constexpr std::uint32_t sent_by(int slot) { return being_created | static_cast<std::uint32_t>(slot + 1); }
  static constexpr int sender_in(std::uint32_t count) { return (count & being_created) != 0 ? static_cast<int>(count & ~being_created) - 1 : -1; }
  // Of a task that has run: who ran it, and after how many others, as far as the bits go. No task waits for so much.
  static constexpr std::uint32_t ran_by(int slot) {
    return static_cast<std::uint32_t>(slot + 1) % slots_told_apart << tasks_bits;
  }
  static constexpr std::uint32_t ran_as(std::uint32_t by, std::uint64_t before) {
    return by | (static_cast<std::uint32_t>(before) & tasks_mask);
  }
  // How many tasks that slot has run since, if it was that one: one that has run `now` by now. A huge number if not.
  static constexpr std::uint32_t ran_ago(std::uint32_t as, std::uint32_t by, std::uint64_t now) {
    return (as & ~tasks_mask) == by ? (static_cast<std::uint32_t>(now) - as) & tasks_mask : ~std::uint32_t{0};
  }
  bool has_no_data() const { return versions == 0 && accesses == 0; }
  version* version_at(unsigned i) { return reinterpret_cast<version*>(reinterpret_cast<char*>(this) + sizeof(frame)) + i; }
  access* access_at(unsigned i) { return access_behind(versions) + i; }
  access* access_behind(unsigned all_versions) { return reinterpret_cast<access*>(version_at(all_versions)); }
  // Its windows lie at its end, so that they need no memory of their own; the first is the last there.
  void* window_memory(unsigned i) { return reinterpret_cast<char*>(this) + bytes - (i + 1) * window_bytes; }
  const char* display_name() const { return name != nullptr ? name : "(unnamed)"; }
};
static_assert(sizeof(frame) == 64);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // of derived classes: right with every compiler that accepts it
static_assert(offsetof(datum, no_frame) == offsetof(frame, state) && static_cast<int>(frame_state::free) == 0);
#pragma GCC diagnostic pop

inline constexpr std::size_t align_up(std::size_t n, std::size_t alignment) { return (n + alignment - 1) & ~(alignment - 1); }

// Offset of a closure with this alignment behind the records.
inline constexpr std::size_t closure_offset(unsigned versions, unsigned accesses, std::size_t alignment) {
  return align_up(sizeof(frame) + versions * sizeof(version) + accesses * sizeof(access), alignment);
}

}  // namespace weir::detail
