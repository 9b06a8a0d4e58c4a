// What is printed of a run.
#include <bench/shapes/program.hpp>

namespace weir::bench::shapes {

void print_run(const options& o, std::string_view runtime, std::string_view policy, int workers,
               const shape_info& shape, std::uint64_t size, std::uint64_t run, std::uint64_t tasks, double seconds,
               bool verified) {
  const auto number = [](std::uint64_t n) { return std::to_string(n); };
  std::string line = "{\"shape\":\"" + std::string(shape.name) + "\",\"runtime\":\"" + std::string(runtime) + "\"";
  line += ",\"policy\":" + (policy.empty() ? std::string("null") : "\"" + std::string(policy) + "\"");
  line += ",\"workers\":" + std::to_string(workers) + ",\"task_us\":" + number(o.task_us);
  line += ",\"data\":\"" + std::string(shape.has_data ? name_of(o.data) : "none") + "\"";
  line += ",\"size\":" + number(size) + ",\"bytes\":" + number(o.words * sizeof(word));
  line += ",\"run\":" + number(run) + ",\"tasks\":" + number(tasks) + ",\"seconds\":" + std::to_string(seconds);
  line += std::string(",\"verified\":") + (verified ? "true" : "false") + "}";
  std::printf("%s\n", line.c_str());
  flush_output();
}

}  // namespace weir::bench::shapes
