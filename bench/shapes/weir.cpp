// The shapes under weir.
#include <bench/shapes/program.hpp>

#include <bench/common/command_line.hpp>

#include <weir/weir.hpp>

#include <utility>

namespace {

using namespace weir::bench::shapes;

class weir_runtime {
 public:
  static constexpr std::string_view name = "weir";
  static constexpr bool has_policies = true;
  using block = weir::data<word>;
  using array = weir::bench::shapes::array;

  explicit weir_runtime(const options& o) try
      : words_(o.words), data_(o.data), runtime_({.workers = o.workers, .policy = o.policy}) {
  } catch (const weir::configuration_error& e) {
    weir::bench::refuse(e.what());
  }

  std::vector<block> make(std::size_t count) {
    std::vector<block> blocks = make_empty(count);
    std::vector<word> values(words_);
    for (std::size_t i = 0; i < count; i++) {
      const std::size_t first = i * words_;
      if (data_ == first_data::near) {
        runtime_.spawn(out(blocks[i]), [first](std::span<word> memory) { fill(memory, first); });
        continue;
      }
      fill(values, first);
      blocks[i] = runtime_.make_data(values);
    }
    return blocks;
  }
  std::vector<block> make_empty(std::size_t count) {
    std::vector<block> blocks;
    for (std::size_t i = 0; i < count; i++) blocks.push_back(runtime_.make_data<word>(words_));
    return blocks;
  }
  array memory(std::size_t words) {
    array result(words);
    if (data_ == first_data::node0) fill(result.words(), 0);
    else touch(result.words());
    return result;
  }

  template <class... Arguments>
  void spawn(Arguments&&... arguments) {
    runtime_.spawn(std::forward<Arguments>(arguments)...);
  }
  void wait() { runtime_.wait(); }
  void settle() { runtime_.wait(); }

  word checksum(const std::vector<block>& blocks) const {
    word sum = 0;
    for (const block& b : blocks) sum = reading(sum, std::span<const word>(b.read()));
    return sum;
  }

  class group {
   public:
    explicit group(weir_runtime& rt) : scope_(rt.runtime_) {}
    template <class Task>
    void spawn(const Task& task) {
      scope_.spawn(task);
    }
    void wait() { scope_.wait(); }

   private:
    weir::scope scope_;
  };

  // A recursion is a task that waits for tasks; what only creates tasks is done by main().
  template <class Shape>
  void execute(Shape& shape) {
    if constexpr (Shape::info.recursive) return runtime_.run([&] { shape.run(); });
    shape.run();
    runtime_.wait();
  }

  std::string_view policy() const { return runtime_.policy(); }
  int workers() const { return runtime_.workers(); }

 private:
  void touch(std::span<word> memory) {
    weir::parallel_for(runtime_, std::size_t{0}, memory.size(), [memory](std::size_t i) { memory[i] = mixed(i); });
  }

  std::size_t words_;
  first_data data_;
  weir::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) { return program_main<weir_runtime>(argc, argv); }
