// How a policy that comes with weir registers itself. Static libraries leave out what nobody refers to, so the list of
// them is made from the names of the files in policies/ when weir is configured, and each file defines the function of
// its name.
#pragma once

#include <weir/policy.hpp>

// At the end of policies/STEM.cpp.
#define WEIR_BUILT_IN_POLICY(stem, type, name)                      \
  namespace weir::place::built_in {                                 \
  void stem(std::vector<::weir::detail::policy_kind>& to);          \
  void stem(std::vector<::weir::detail::policy_kind>& to) {         \
    to.push_back(::weir::detail::kind_of<type>(name));              \
  }                                                                 \
  }
