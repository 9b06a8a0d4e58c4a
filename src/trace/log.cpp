// Writing records: chunks, names, and what a frame tells about its task.
#include "trace/log.hpp"

#include "flow/flow.hpp"
#include "graph/graph.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace weir::trace {

spill_file::~spill_file() {
  if (file_ >= 0) ::close(file_);
}

void spill_file::open() {
  file_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file_ >= 0) return;
  std::string path = folder_ + "/.weir-trace-XXXXXX";  // a file system without files that have no name
  file_ = ::mkostemp(path.data(), O_CLOEXEC);
  if (file_ >= 0) ::unlink(path.c_str());
}

bool spill_file::write(const std::byte* data, std::size_t bytes, std::uint64_t& offset) {
  std::call_once(opened_, [this] { open(); });
  if (file_ < 0) return false;
  offset = end_.fetch_add(bytes, std::memory_order_relaxed);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::pwrite(file_, data + done, bytes - done, static_cast<off_t>(offset + done));
    if (n <= 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return true;
}

bool spill_file::read(std::byte* data, std::size_t bytes, std::uint64_t offset) const {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n = ::pread(file_, data + done, bytes - done, static_cast<off_t>(offset + done));
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  return true;
}

namespace {

// How often a worker looks how many bytes are in buffers: a line that all its node's workers write.
constexpr std::uint64_t sample_ns = 100'000;
// Of a name. The rest says nothing on a screen.
constexpr std::size_t most_name_bytes = 200;
constexpr const char* unnamed = "(unnamed)";
// Of a task that is written down the short way. More: its list grows in time that is quadratic.
constexpr unsigned most_usual_inputs = 8;

constexpr std::size_t whole_words(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

// Calls f(id) for every task this one has an input from.
template <class F>
void for_each_producer(frame* t, F&& f) {
  using detail::waiter_kind;
  const auto from = [&](detail::version* v) {
    if (v->kind != detail::version_kind::ground) f(v->producer()->trace_id);
  };
  for (unsigned i = 0; i < t->accesses; i++) {
    detail::access& a = *t->access_at(i);
    switch (a.kind()) {
      case waiter_kind::read:
      case waiter_kind::update:
      case waiter_kind::overwrite: from(a.source); break;
      case waiter_kind::window: a.window->for_each_piece([&](const detail::stream_window::piece& p) { from(p.source); }); break;
      default: break;
    }
  }
  flow::for_each_part(flow::parts_of(*t), [&](const detail::access& a) { from(a.source); });
}

// An empty vector may have no memory to copy from.
void put(const std::vector<std::uint64_t>& edges, std::byte* to) {
  if (!edges.empty()) std::memcpy(to, edges.data(), 8 * edges.size());
}

}  // namespace

log::log(common& shared, int worker, int nodes, const memory::pools& buffers, const memory::regions& user_memory,
         std::vector<int> places)
    : common_(shared),
      worker_(worker),
      nodes_(nodes),
      start_ticks_(shared.clock.start_ticks()),
      sample_ticks_(shared.clock.ticks_in(sample_ns)),
      by_node_(static_cast<std::size_t>(nodes), 0),
      reads_(nodes),
      writes_(nodes),
      buffers_(buffers),
      user_memory_(user_memory),
      places_(std::move(places)) {}

log::start log::begin(int& stolen_from, bool nested) const {
  const int from = stolen_from;
  stolen_from = -1;
  return {now(), from, nested};
}

// If there is no memory the log stays as it is but for the records of the chunk, which is closed or empty.
void log::change_chunk(std::size_t bytes) {
  close_chunk();
  const std::size_t wanted = std::max(bytes, chunk_bytes);
  if (open_ == nullptr || open_bytes_ < wanted) {
    open_.reset();
    at_ = end_ = nullptr;
    open_ = std::make_unique_for_overwrite<std::byte[]>(wanted);
    open_bytes_ = wanted;
  }
  at_ = open_.get();
  end_ = at_ + open_bytes_;
  open_tasks_ = tasks_;
  last_end_ = no_task;
  for (name_slot& n : names_) n.pointer = nullptr;  // a chunk can be read without the ones before it
}

void log::close_chunk() {
  if (open_ == nullptr || at_ == open_.get()) return;
  const std::size_t used = static_cast<std::size_t>(at_ - open_.get());
  const std::uint64_t in_chunk = tasks_ - std::exchange(open_tasks_, tasks_);
  at_ = end_ = open_.get();
  std::uint64_t offset = 0;
  try {
    if (chunks_.size() == chunks_.capacity()) chunks_.reserve(std::max<std::size_t>(8, 2 * chunks_.size()));
    if (common_.chunks_left.fetch_sub(1, std::memory_order_relaxed) > 0) chunks_.push_back({std::move(open_), 0, used});
    else if (common_.spill.write(open_.get(), used, offset)) chunks_.push_back({nullptr, offset, used});
    else lost_ += in_chunk;
  } catch (const std::bad_alloc&) {
    lost_ += in_chunk;
  }
}

std::vector<chunk>& log::finish() {
  close_chunk();
  return chunks_;
}

// By address first; then the characters, for a name need not live longer than its task.
std::uint8_t log::name_index(const char* name) {
  if (name == nullptr) name = unnamed;
  const auto address = reinterpret_cast<std::uintptr_t>(name);
  const std::size_t index = (address ^ address >> 8 ^ address >> 16) % name_slots;
  name_slot& slot = names_[index];
  if (slot.pointer == name && (name == unnamed || std::strncmp(slot.text.c_str(), name, most_name_bytes) == 0)) [[likely]] return static_cast<std::uint8_t>(index);
  slot.text.assign(name, ::strnlen(name, most_name_bytes));
  const std::size_t bytes = sizeof(name_record) + whole_words(slot.text.size());
  slot.pointer = name;
  std::byte* const p = append(bytes);
  name_record r{.head = {.kind = kind::name, .name = static_cast<std::uint8_t>(index), .bytes = static_cast<std::uint32_t>(bytes)}, .length = slot.text.size()};
  std::memset(p, 0, bytes);
  std::memcpy(p, &r, sizeof r);
  std::memcpy(p + sizeof r, slot.text.data(), slot.text.size());
  return static_cast<std::uint8_t>(index);
}

void log::count_bytes(frame* f, int here, task_record& r) {
  if (nodes_ == 1) {
    flow::for_each_input_bytes(f, [&](std::uint64_t bytes) { r.read_local += bytes; });
    flow::for_each_output(&user_memory_, f, [&](std::uint64_t bytes, int) { r.write_local += bytes; });
    reads_.bytes[0] += r.read_local;
    writes_.bytes[0] += r.write_local;
    if (r.read_local + r.write_local != 0) r.home = 0;
    return;
  }
  const auto nodes = static_cast<std::uint64_t>(nodes_);
  const auto count = [&](std::uint64_t bytes, int place, std::uint64_t& local, std::uint64_t& remote, traffic_matrix& traffic) {
    std::uint64_t* const row = traffic.row(here);
    if (place == memory::place_interleaved) {
      for (std::uint64_t n = 0; n < nodes; n++) {
        const std::uint64_t share = bytes / nodes + (n < bytes % nodes ? 1 : 0);
        (static_cast<int>(n) == here ? local : remote) += share;
        row[n] += share;
      }
      return;
    }
    const int node = place < 0 ? here : place;  // the system does not tell: first touch by this very task, as statistics have it
    (node == here ? local : remote) += bytes;
    row[node] += bytes;
  };
  int home = -1;
  std::uint64_t most = 0;
  const auto weigh = [&](std::uint64_t bytes, int place) {
    if (place < 0) return;
    const std::uint64_t sum = by_node_[static_cast<std::size_t>(place)] += bytes;
    if (sum > most || (sum == most && place == here)) {
      most = sum;
      home = place;
    }
  };
  flow::for_each_input(&user_memory_, f, [&](std::uint64_t bytes, int place) {
    count(bytes, place, r.read_local, r.read_remote, reads_);
    weigh(bytes, place);
  });
  if (most == 0 && f->affinity >= 0) home = f->affinity;
  const bool by_outputs = most == 0 && f->affinity < 0;
  flow::for_each_output(&user_memory_, f, [&](std::uint64_t bytes, int place) {
    count(bytes, place, r.write_local, r.write_remote, writes_);
    if (by_outputs) weigh(bytes, place);
  });
  if (most != 0) std::fill(by_node_.begin(), by_node_.end(), 0);
  r.home = static_cast<std::int16_t>(home);
}

void log::collect_edges(frame* f, task_record& r) {
  edges_.clear();
  if (f->unusual == frame::of_graph) {
    const auto* const t = static_cast<const detail::graph_task*>(f);
    r.of_graph = 1;
    edges_.push_back(reinterpret_cast<std::uintptr_t>(f));
    for (std::uint32_t i = 0; i < t->after_count; i++) edges_.push_back(reinterpret_cast<std::uintptr_t>(t->after[i]));
    return;
  }
  for_each_producer(f, [&](task_id id) {
    if (id != 0) edges_.push_back(id);
  });
  // Who reads piece by piece from one other depends on it once.
  if (edges_.size() < 2) return;
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
}

void log::task(frame* f, start s, int here, const char* cause) noexcept {
  const std::uint64_t end = since_start(now());
  try {
    append_task_record(f, s, end, here, cause);
    last_end_ = end;
  } catch (const std::bad_alloc&) {
    lost_++;
    open_tasks_++;  // of the chunk it is none
  }
  tasks_++;
  if (end >= next_sample_) [[unlikely]] sample_buffers(end);
}

void log::append_task_record(frame* f, start s, std::uint64_t end, int here, const char* cause) {
  const int pushed_from = frame::sender_in(f->pending.load(std::memory_order_relaxed));
  const bool usual = f->unusual == 0 && cause == nullptr && s.stolen_from < 0 && (pushed_from < 0 || pushed_from == worker_) && nodes_ == 1 && f->accesses <= most_usual_inputs;
  if (!usual || !append_usual(f, s, end, here)) append_unusual(f, s, end, here, pushed_from, cause);
}

void log::make_room(std::size_t record_bytes) {
  const std::size_t most = record_bytes + sizeof(name_record) + whole_words(most_name_bytes);
  if (static_cast<std::size_t>(end_ - at_) < most) [[unlikely]] change_chunk(most);
}

// A task of the worker's own queues that reads and writes data, or has none, on a machine with one node: one pass over
// its accesses, and nothing is written twice. False, and nothing was done: it does not fit into the short form.
bool log::append_usual(frame* f, start s, std::uint64_t end, int here) {
  make_room(sizeof(short_task_record) + 2 * sizeof(std::uint32_t) + most_usual_inputs * sizeof(task_id));
  const std::uint64_t begin = since_start(s.ticks), gap = end - last_end_, duration = end - begin;
  if (last_end_ == no_task) [[unlikely]] return false;
  const task_id mine = make_id(worker_, end);
  if (f->has_no_data()) {
    if (!append_plain(f, gap, duration, s.nested, here)) return false;
    f->trace_id = mine;
    return true;
  }
  std::uint64_t read = 0, written = 0, farthest = 0;
  std::array<task_id, most_usual_inputs> ids{};  // each once
  unsigned n = 0;
  const detail::access* const accesses_end = f->access_at(0) + f->accesses;
  for (const detail::access* a = f->access_at(0); a != accesses_end; a++) {
    read += a->bytes;
    const task_id id = a->source->producer()->trace_id;
    if (id == 0) continue;
    unsigned same = 0;
    while (same < n && ids[same] != id) same++;
    if (same < n) continue;
    ids[n++] = id;
    farthest |= mine - id;  // of another worker: that is far, too
  }
  flow::for_each_output(&user_memory_, f, [&](std::uint64_t bytes, int) { written += bytes; });
  if ((gap | duration | read | written) >> 32 != 0) [[unlikely]] return false;

  const bool near = farthest >> 32 == 0 && n > 0, has_local = (read | written) != 0;
  const std::uint8_t name = name_index(f->name);
  std::byte* p = at_;
  const auto put = [&p](const auto& value) {
    std::memcpy(p, &value, sizeof value);
    p += sizeof value;
  };
  put(short_task_record{.name = name,
                        .flags = static_cast<std::uint8_t>((has_local ? short_task_record::has_local : 0) | (near ? short_task_record::near_edges : 0) | (s.nested ? short_task_record::nested : 0)),
                        .edges = static_cast<std::uint8_t>(n),
                        .gap = static_cast<std::uint32_t>(gap),
                        .duration = static_cast<std::uint32_t>(duration),
                        .home = has_local ? std::int16_t{0} : std::int16_t{-1},
                        .node = static_cast<std::int16_t>(here)});
  if (has_local) put(std::array{static_cast<std::uint32_t>(read), static_cast<std::uint32_t>(written)});
  // All of them, which is less work than a loop over those that are there; there is room.
  if (near) {
    std::array<std::uint32_t, most_usual_inputs> later;
    for (unsigned i = 0; i < most_usual_inputs; i++) later[i] = static_cast<std::uint32_t>(mine - ids[i]);
    std::memcpy(p, &later, sizeof later);
    p += whole_words(n * sizeof later[0]);
  } else if (n > 0) {
    std::memcpy(p, &ids, sizeof ids);
    p += n * sizeof ids[0];
  }
  at_ = p;
  reads_.bytes[0] += read;
  writes_.bytes[0] += written;
  f->trace_id = mine;
  return true;
}

// The same for a task without data; there is room.
bool log::append_plain(frame* f, std::uint64_t gap, std::uint64_t duration, bool nested, int here) {
  if ((gap | duration) >> 32 != 0) [[unlikely]] return false;
  const short_task_record r{.name = name_index(f->name),
                            .flags = nested ? short_task_record::nested : std::uint8_t{0},
                            .gap = static_cast<std::uint32_t>(gap),
                            .duration = static_cast<std::uint32_t>(duration),
                            .home = std::max(f->affinity, detail::node_unknown),  // planned: not by its program
                            .node = static_cast<std::int16_t>(here)};
  std::memcpy(append(sizeof r), &r, sizeof r);
  return true;
}

void log::append_unusual(frame* f, start s, std::uint64_t end, int here, int pushed_from, const char* cause) {
  task_record r{.head = {.kind = kind::task}, .begin = since_start(s.ticks), .end = end, .node = static_cast<std::int16_t>(here), .nested = s.nested};
  r.required = f->required && nodes_ > 1;
  if (s.stolen_from >= 0) r.head.origin = origin::stolen, r.from = s.stolen_from;
  else if (pushed_from >= 0 && pushed_from != worker_) r.head.origin = origin::pushed, r.from = pushed_from;
  if (cause != nullptr) r.head.outcome = cause == f->display_name() ? outcome::failed : outcome::skipped;
  edges_.clear();
  if (!f->has_no_data() && cause == nullptr) count_bytes(f, here, r);
  if ((!f->has_no_data() && cause == nullptr) || f->unusual == frame::of_graph) collect_edges(f, r);
  if (f->unusual != frame::of_graph) f->trace_id = make_id(worker_, end);
  if (f->has_no_data() && f->affinity >= 0) r.home = f->affinity;
  r.edges = static_cast<std::uint32_t>(edges_.size());
  r.head.bytes = static_cast<std::uint32_t>(sizeof r + 8 * edges_.size());
  make_room(r.head.bytes);
  r.head.name = name_index(f->name);
  if (!append_short(r)) append_task(r);
}

void log::append_task(const task_record& r) {
  std::byte* const p = append(r.head.bytes);
  std::memcpy(p, &r, sizeof r);
  put(edges_, p + sizeof r);
}

// False if the task does not fit into the short form.
bool log::append_short(const task_record& r) {
  const std::uint64_t gap = r.end - last_end_, duration = r.end - r.begin;
  const std::uint64_t bytes = r.read_local | r.read_remote | r.write_local | r.write_remote;
  if (last_end_ == no_task || (gap | duration | bytes) >> 32 != 0 || r.edges > 255 || r.head.origin != origin::own || r.head.outcome != outcome::done) return false;
  short_task_record s{.name = r.head.name, .edges = static_cast<std::uint8_t>(r.edges), .gap = static_cast<std::uint32_t>(gap), .duration = static_cast<std::uint32_t>(duration), .home = r.home, .node = r.node};
  s.flags = static_cast<std::uint8_t>((bytes != 0 ? short_task_record::has_local | short_task_record::has_remote : 0) |
                                      (r.of_graph != 0 ? short_task_record::of_graph : 0) |
                                      (r.nested != 0 ? short_task_record::nested : 0) |
                                      (r.required != 0 ? short_task_record::required : 0));
  const std::uint32_t numbers[4] = {static_cast<std::uint32_t>(r.read_local), static_cast<std::uint32_t>(r.write_local), static_cast<std::uint32_t>(r.read_remote), static_cast<std::uint32_t>(r.write_remote)};
  const std::size_t number_bytes = bytes != 0 ? sizeof numbers : 0;
  std::byte* const p = append(sizeof s + number_bytes + 8 * edges_.size());
  std::memcpy(p, &s, sizeof s);
  if (number_bytes != 0) std::memcpy(p + sizeof s, numbers, sizeof numbers);
  put(edges_, p + sizeof s + number_bytes);
  return true;
}

void log::sample_buffers(std::uint64_t time) noexcept {
  next_sample_ = time + sample_ticks_;
  for (const int place : places_) {
    const buffers_record r{.head = {.kind = kind::buffers, .bytes = sizeof(buffers_record)}, .time = time, .place = place, .bytes = buffers_.live_bytes(place)};
    append_if_possible(r);
  }
}

void log::slept(std::uint64_t begin_ticks, bool nested) noexcept {
  const sleep_record r{.head = {.kind = kind::sleep, .bytes = sizeof(sleep_record)}, .begin = since_start(begin_ticks), .end = since_start(now()), .nested = nested};
  append_if_possible(r);
  sample_buffers(r.end);
}

// What a reader does without, if there is no memory.
template <class Record>
void log::append_if_possible(const Record& r) noexcept {
  try {
    std::memcpy(append(sizeof r), &r, sizeof r);
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace weir::trace
