// Does one group of runs, and puts together what its programs printed and what the emulator measured.
#pragma once

#include "plan.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace weir::tools {

struct group_outcome {
  std::vector<nlohmann::ordered_json> lines;   // one a run
  std::string failure;                         // one sentence; empty if all is well
  bool hopeless = false;                       // the others would fail as well: nothing can be emulated here
  int interrupted = 0;                         // by this signal
};

class group_runner {
 public:
  // command: path of the weir command.
  group_runner(const plan& p, std::string command);

  // The program of the group that is not there; nothing if all are.
  std::optional<std::string> missing_program(const run_group& g) const;
  // printed() is called for each result line as it comes.
  group_outcome run(const run_group& g, const std::function<void()>& printed) const;

 private:
  arguments resolved(const arguments& program) const;
  arguments command_of(const run_group& g) const;
  std::vector<nlohmann::ordered_json> with_regions(const run_group& g, std::vector<nlohmann::ordered_json> lines, const nlohmann::json& emulated) const;
  void name_distance(nlohmann::ordered_json& line) const;

  const plan& plan_;
  std::string weir_, folder_;
  std::vector<std::string> class_names_;   // of the machine's distances
  std::vector<int> classes_;               // nodes x nodes
  std::size_t nodes_ = 0;
};

}  // namespace weir::tools
