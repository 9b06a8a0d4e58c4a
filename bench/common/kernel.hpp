// What a kernel offers to `weir bench`, to the tests and to the peers: a description, the sequential program, and
// instances that run under a weir::runtime. The table of all kernels is in registry.cpp.
#pragma once

#include <weir/weir.hpp>

#include <any>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::bench {

class page_checker;
class task_names;

// Bad options or input: one sentence that names the kernel or file and what was expected.
class input_error : public weir::error {
 public:
  using error::error;
};

// Where a kernel's data lie, and what its tasks name.
enum class storage : std::uint8_t {
  versions,  // "private": a datum per block, and the runtime's memory for each version
  shared,    // bodies work on interleaved global arrays, tokens carry the dependences
  own,       // ordinary arrays of the program's, whose parts tasks name with weir::ref
};
std::string_view name_of(storage);

// Who writes own memory first, and so decides where its pages lie.
enum class first_touch : std::uint8_t {
  chunks,  // tasks, a task a block, which a task a worker creates; they are waited for before the measured region
  tasks,   // a task a block, in the order of the blocks, all created by one; likewise
  one,     // one thread, before the measured region
  inside,  // the same as `tasks`, but in the measured region, and nobody waits before the first iteration
};
std::string_view name_of(first_touch);

// Where those run who create tasks chunk by chunk, and with them, before the measured region, the first values are made.
enum class creators {
  dealt,      // each chunk's on one node, the nodes in turn
  stolen,     // wherever somebody is idle
  scattered,  // each on a node at random
};

// One problem to solve and how. Fields a kernel has no use for (see kernel::uses) keep their defaults.
struct configuration {
  std::vector<std::size_t> size;   // elements per dimension, outermost first
  std::vector<std::size_t> block;  // elements per dimension of one block; the last blocks may be smaller
  int iterations = 0;
  std::size_t clusters = 0;        // kmeans
  std::size_t bins = 0;            // integral-histogram
  std::uint64_t seed = 1;          // of the synthetic input
  bool parallel_control = false;   // tasks are created by tasks, chunk by chunk, instead of by one task
  creators where_created = creators::dealt;  // with parallel_control
  storage data_in = storage::versions;
  bool load_store = false;         // private variant: first values come from interleaved arrays, and results go there
  first_touch init = first_touch::chunks;  // own memory
  bool annotate = false;           // own memory: tasks say on which node they are to run (hand_placement.hpp)
  std::filesystem::path input;     // empty: synthetic
  std::filesystem::path output;    // empty: the result is not kept
  std::any loaded;                 // what kernel::complete() read from `input`, in a type of the kernel's own
  page_checker* pages = nullptr;   // if set, bodies hand it every output they have written (page_check.hpp)
  task_names* names = nullptr;     // own memory: if set, each task has a name of its own (task_names.hpp)
};

// Result against the sequential program's.
struct verification {
  bool passed = false;
  double tolerance = 0;           // largest difference allowed; 0: bit for bit
  double largest_difference = 0;  // in the unit that `tolerance` is in
  std::string what;               // one phrase: what was compared with what
};

// One run of one kernel. The order of calls is that of the declarations; every object of the runtime an instance holds
// dies with it, so it must die before the runtime. Calls are made outside tasks.
class instance {
 public:
  virtual ~instance() = default;

  // Before the measured region: creates the data and has tasks fill them, so that every first version lies where the
  // policy puts it; waits for that. Creates nothing that run() is meant to create. With configuration::load_store only
  // the arrays to load from are filled, and nothing else has a first version.
  virtual void prepare(runtime&) = 0;
  // The measured region: the control program, and waiting for all its tasks; loading and storing, if they belong to it.
  virtual void run(runtime&) = 0;
  // After it: brings the result into ordinary memory. Called only if the result is wanted.
  virtual void collect(runtime&) = 0;
  // `expected` is what kernel::solve() returned for the same configuration. After collect().
  virtual verification verify(const std::any& expected) const = 0;
  // Writes the result to configuration::output, whole or not at all. After collect(). Throws input_error.
  virtual void write_output() const;
  // Bytes of the data one iteration works on: the least a run must keep.
  virtual std::uint64_t live_bytes() const = 0;
};

// What the sequential program came to: the result, in a type the kernel's verify() knows, and its time alone.
struct serial_result {
  std::any value;
  double seconds = 0;
};

// The options a kernel has. One it does not have is refused, not ignored. All kernels have --size and --block.
struct used_options {
  bool iterations = false;
  bool clusters = false;
  bool bins = false;
  bool parallel_control = false;
  bool creators = false;  // where they run can be chosen
  bool versions = true;   // --memory private
  bool shared = false;
  bool own = false;
  bool load_store = false;  // with --memory private
  bool by_hand = false;   // --init and --annotate, in own memory
  bool input = false;
  bool output = false;
};

struct kernel {
  std::string_view name;
  std::string_view description;    // one line
  std::string_view size_meaning;   // "ROWSxCOLUMNS", one name per dimension
  std::string_view block_meaning;  // kernel::complete fills in what is not cut
  used_options uses;
  configuration defaults;          // about a second or less on 2 CPUs

  // Reads `input` if there is one (into `loaded`, and the size it implies), and throws input_error for what
  // check_configuration() cannot know: unreadable input, counts that do not fit together. May be null.
  void (*complete)(configuration&) = nullptr;
  // Bytes one run needs at least, its result and its verification included; saturates at UINT64_MAX.
  std::uint64_t (*memory_bytes)(const configuration&) = nullptr;
  // The sequential program: optimised, no tasks. Times the computation, not the input.
  serial_result (*solve)(const configuration&) = nullptr;
  std::unique_ptr<instance> (*make)(const configuration&) = nullptr;
};

// All kernels, in the order in which they are listed.
const std::vector<kernel>& kernels();

// Throws input_error that lists the known ones.
const kernel& find_kernel(std::string_view name);

// What to do with a block larger than the array.
enum class block_choice {
  exact,  // refuse it: somebody asked for it
  fit,    // make it smaller: it is the kernel's default
};

// Calls kernel::complete, then refuses what no kernel can use: wrong number of dimensions, zero, blocks larger than the
// array, more bytes than there is memory. Throws input_error.
void check_configuration(const kernel&, configuration&, block_choice = block_choice::exact);

// "768x768"
std::string format_size(std::span<const std::size_t> size);

}  // namespace weir::bench
