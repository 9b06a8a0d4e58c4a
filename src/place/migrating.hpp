// The parameter of policies that can have the program's own memory moved to where its tasks run.
#pragma once

#include <weir/policy.hpp>

#include <string>
#include <vector>

namespace weir::place {

inline policy::migration migrate_parameter(policy_parameters& p, policy::migration usual) {
  const std::vector<std::string> words = usual == policy::migration::off
                                             ? std::vector<std::string>{"off", "auto", "barrier"}
                                             : std::vector<std::string>{"auto", "off", "barrier"};
  const std::string w = p.word("migrate", words,
                               "whether pages of the program's own memory move to where tasks use them, once that "
                               "pays: after tasks (auto), or in runtime::wait() (barrier)");
  if (w == "auto") return policy::migration::automatic;
  return w == "barrier" ? policy::migration::at_barriers : policy::migration::off;
}

}  // namespace weir::place
