// What tasks cost under StarPU, on CPU workers alone. The main thread creates the tasks: StarPU has no other way.
//
// A column's value is a handle of one byte, in two rows used in turn. Tasks are filled in and submitted by hand, which is
// cheaper than starpu_task_insert(); their dependences come from the order of submission, as usual.
#include <bench/overhead/program.hpp>

#include <starpu.h>

#include <cerrno>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <stdexcept>
#include <system_error>

namespace {

using namespace weir::bench::overhead;

constexpr std::uint32_t most_handles = STARPU_NMAXBUFS;  // more go into arrays that the task owns

std::uint64_t iterations;  // of compute() in each busy task

void run_nothing(void**, void*) {}
void run_loop(void**, void*) { weir::bench::compute(iterations); }
void run_check(void**, void* task) { (*static_cast<const checking_work::task*>(task))(); }

void check_status(int status, const char* call) {
  if (status != 0) throw std::runtime_error(std::string(call) + " failed with " + std::to_string(status));
}

class temporary_folder {
 public:
  temporary_folder() {
    if (::mkdtemp(path_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path_);
  }
  ~temporary_folder() {
    std::error_code left_behind;
    std::filesystem::remove_all(path_, left_behind);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_ = (std::filesystem::temp_directory_path() / "overhead-starpu-XXXXXX").string();
};

class starpu_under_test final : public runtime_under_test {
 public:
  explicit starpu_under_test(const options& o) {
    setenv("STARPU_SILENT", "1", 1);
    setenv("STARPU_HOME", models_.path().c_str(), 1);
    starpu_conf conf;
    check_status(starpu_conf_init(&conf), "starpu_conf_init");
    conf.precedence_over_environment_variables = 1;
    conf.ncpus = o.workers;
    conf.ncuda = conf.nopencl = conf.nmic = conf.nmpi_ms = 0;
    check_status(starpu_init(&conf), "starpu_init");
    if (const auto n = static_cast<int>(starpu_cpu_worker_get_count()); n != o.workers) {
      starpu_shutdown();
      throw std::runtime_error("StarPU starts " + std::to_string(n) + " workers here, not " + std::to_string(o.workers));
    }
  }
  ~starpu_under_test() override {
    release();
    starpu_shutdown();
  }

  void prepare(const workload& w) override {
    release();
    memory_.assign(2 * static_cast<std::size_t>(w.graph->width()), 0);
    for (char& cell : memory_) starpu_variable_data_register(&handles_.emplace_back(), STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&cell), 1);
  }

  void run(workload& w) override {
    starpu_codelet_init(&codelet_);
    codelet_.cpu_funcs[0] = w.check != nullptr ? run_check : w.iterations != 0 ? run_loop : run_nothing;
    codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
    iterations = w.iterations;
    if (w.what->shape == form::independent) w.for_each_independent([&](const position& p) { submit(w, p, 0); });
    else w.graph->for_each_task(w.tasks, [&](const position& p) { submit(w, p, w.what->in_place ? 1 : static_cast<int>(p.before.size()) + 1); });
    check_status(starpu_task_wait_for_all(), "starpu_task_wait_for_all");
    checked_.clear();
  }

 private:
  void submit(const workload& w, const position& p, int handles) {
    starpu_task* t = starpu_task_create();
    t->cl = &codelet_;
    t->nbuffers = handles;
    if (w.check != nullptr) t->cl_arg = &checked_.emplace_back(checking_work{w.check}.of(p));
    if (handles != 0) name_handles(w, p, *t);
    check_status(starpu_task_submit(t), "starpu_task_submit");
  }

  void name_handles(const workload& w, const position& p, starpu_task& t) {
    starpu_data_handle_t* handle = t.handles;
    starpu_data_access_mode* mode = t.modes;
    if (static_cast<std::uint32_t>(t.nbuffers) > most_handles) {  // StarPU frees them with the task
      handle = t.dyn_handles = static_cast<starpu_data_handle_t*>(std::malloc(sizeof(*handle) * static_cast<std::size_t>(t.nbuffers)));
      mode = t.dyn_modes = static_cast<starpu_data_access_mode*>(std::malloc(sizeof(*mode) * static_cast<std::size_t>(t.nbuffers)));
    }
    const std::size_t width = w.graph->width();
    if (w.what->in_place) {
      const bool in_group = w.what->has_groups() && p.is_in_group();
      *handle = handles_[w.what->has_groups() ? p.updated_column() : p.column];
      *mode = static_cast<starpu_data_access_mode>(in_group ? STARPU_RW | STARPU_COMMUTE : STARPU_RW);
      return;
    }
    for (const std::uint32_t column : p.before) {
      *handle++ = handles_[((p.step + 1) & 1) * width + column];
      *mode++ = STARPU_R;
    }
    *handle = handles_[(p.step & 1) * width + p.column];
    *mode = STARPU_W;
  }

  void release() {
    for (starpu_data_handle_t h : handles_) starpu_data_unregister_no_coherency(h);
    handles_.clear();
  }

  temporary_folder models_;  // performance models, which would go into the user's home
  starpu_codelet codelet_;
  std::vector<char> memory_;
  std::deque<starpu_data_handle_t> handles_;
  std::deque<checking_work::task> checked_;  // never moves one
};

}  // namespace

int main(int argc, char** argv) {
  return measure_main(argc, argv, {.runtime = "starpu",
                                   .has = [](const pattern& p) {
                                     return p.shape != form::fib && !p.replay && !p.by_address() && !p.creators &&
                                            p.updates != group::concurrent;
                                   },
                                   .has_policies = false,
                                   .start = [](const options& o) -> std::unique_ptr<runtime_under_test> { return std::make_unique<starpu_under_test>(o); }});
}
