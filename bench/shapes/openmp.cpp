// The shapes under OpenMP. The runtime is the one the compiler brings along: libgomp or libomp.
//
// One thread of a parallel region creates the tasks. What a task writes and what it updates is the same to OpenMP.
#include <bench/shapes/program.hpp>

#include <omp.h>

#include <utility>

namespace {

using namespace weir::bench::shapes;

// What a task depends on. The pragmas below name single elements; only a group needs an iterator.
class dependences {
 public:
  static constexpr std::size_t most_read = 3, most_written = 3;

  void add(const reads& r) { read_[reads_++] = r.view.data(); }
  void add(const writes& w) { written_[writes_++] = w.view.data(); }
  void add(const group_reads& g) { read_group_ = &g.view; }
  void add(const group_writes& g) { written_group_ = &g.view; }

  template <class Task>
  void create(const Task& task) const {
    if (written_group_ != nullptr) create_writing_group(task);
    else if (read_group_ != nullptr) create_reading_group(task);
    else if (writes_ == 0) create_free(task);
    else if (writes_ == 1) create_writing_one(task);
    else create_writing_several(task);
  }

 private:
  template <class Task>
  static void create_free(const Task& task) {
#pragma omp task firstprivate(task)
    task();
  }

  template <class Task>
  void create_writing_one(const Task& task) const {
    [[maybe_unused]] const word *const a = read_[0], *const b = read_[1], *const c = read_[2];
    [[maybe_unused]] word* const own = written_[0];
    switch (reads_) {
      case 0:
#pragma omp task firstprivate(task) depend(inout : own[0])
        task();
        break;
      case 1:
#pragma omp task firstprivate(task) depend(in : a[0]) depend(inout : own[0])
        task();
        break;
      case 2:
#pragma omp task firstprivate(task) depend(in : a[0], b[0]) depend(inout : own[0])
        task();
        break;
      default:
#pragma omp task firstprivate(task) depend(in : a[0], b[0], c[0]) depend(inout : own[0])
        task();
    }
  }

  template <class Task>
  void create_writing_several(const Task& task) const {
    [[maybe_unused]] word *const a = written_[0], *const b = written_[1], *const c = written_[2];
    if (writes_ == 2) {
#pragma omp task firstprivate(task) depend(inout : a[0], b[0])
      task();
      return;
    }
#pragma omp task firstprivate(task) depend(inout : a[0], b[0], c[0])
    task();
  }

  template <class Task>
  void create_reading_group(const Task& task) const {
    [[maybe_unused]] const group_view<false>& group = *read_group_;
    [[maybe_unused]] word* const own = written_[0];
    [[maybe_unused]] const std::size_t n = group.size();
#pragma omp task firstprivate(task) depend(iterator(std::size_t i = 0 : n), in : *group.first_of(i)) \
    depend(inout : own[0])
    task();
  }

  template <class Task>
  void create_writing_group(const Task& task) const {
    [[maybe_unused]] const group_view<true>& group = *written_group_;
    [[maybe_unused]] const std::size_t n = group.size();
#pragma omp task firstprivate(task) depend(iterator(std::size_t i = 0 : n), out : *group.first_of(i))
    task();
  }

  const word* read_[most_read] = {};
  word* written_[most_written] = {};
  std::size_t reads_ = 0, writes_ = 0;
  const group_view<false>* read_group_ = nullptr;
  const group_view<true>* written_group_ = nullptr;
};

class openmp {
 public:
#if defined(__clang__)
  static constexpr std::string_view name = "libomp";
#else
  static constexpr std::string_view name = "libgomp";
#endif
  static constexpr bool has_policies = false;
  using block = weir::bench::shapes::block;
  using array = weir::bench::shapes::array;

  explicit openmp(const options& o)
      : words_(o.words), data_(o.data), workers_(o.workers != 0 ? o.workers : omp_get_max_threads()) {
    omp_set_dynamic(0);
    omp_set_num_threads(workers_);
  }

  std::vector<block> make(std::size_t count) { return blocks_of(memory(count * words_)); }
  // main() touches them as well: in C++ memory has values from the beginning.
  std::vector<block> make_empty(std::size_t count) { return make(count); }
  array memory(std::size_t words) const {
    array result(words);
    const std::span<word> all = result.words();
    if (data_ == first_data::node0) {
      fill(all, 0);
      return result;
    }
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < words; i++) all[i] = mixed(i);
    return result;
  }

  template <class... Arguments>
  void spawn(const Arguments&... arguments) {
    bind_task([](const auto& task, const auto&... accesses) {
      dependences d;
      (d.add(accesses), ...);
      d.create(task);
    }, arguments...);
  }
  void wait() {
#pragma omp taskwait
  }
  void settle() {}
  word checksum(const std::vector<block>& blocks) const { return checksum_of(blocks); }

  class group {
   public:
    explicit group(openmp&) {}
    template <class Task>
    void spawn(const Task& task) {
#pragma omp task firstprivate(task)
      task();
    }
    void wait() {
#pragma omp taskwait
    }
  };

  // A parallel region ends when all its tasks are done.
  template <class Shape>
  void execute(Shape& shape) {
#pragma omp parallel
#pragma omp single
    shape.run();
  }

  std::string_view policy() const { return {}; }
  int workers() const { return workers_; }

 private:
  std::vector<block> blocks_of(array memory) {
    std::vector<block> blocks;
    const std::span<word> all = arrays_.emplace_back(std::move(memory)).words();
    for (std::size_t at = 0; at < all.size(); at += words_) blocks.push_back({all.subspan(at, words_)});
    return blocks;
  }

  std::size_t words_;
  first_data data_;
  int workers_;
  std::vector<array> arrays_;
};

}  // namespace

int main(int argc, char** argv) { return program_main<openmp>(argc, argv); }
