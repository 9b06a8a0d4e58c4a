// The parameter of policies that place outputs before the tasks run that write them: whose creator's node it is. "Immediate
// allocation" of Drebes et al., PACT 2016, section 3.2, is the consumer's: a task's input buffers lie where it was created.
#pragma once

#include <weir/policy.hpp>

#include <string>

namespace weir::place {

inline policy::memory allocate_parameter(policy_parameters& p) {
  const std::string w = p.word("allocate", {"creator", "consumer"},
                               "whose node outputs lie on: the creator's of the task that writes them, or of the first "
                               "one that reads them, if that is created before they are written");
  return w == "consumer" ? policy::memory::at_consumer : policy::memory::at_creation;
}

}  // namespace weir::place
