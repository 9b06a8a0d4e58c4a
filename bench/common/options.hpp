// Reading the values of command-line options.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::bench {

// "768x768" as {768, 768}. Throws input_error that names the option; zeros and the number of dimensions are checked
// elsewhere, where the kernel is known.
std::vector<std::size_t> parse_size(std::string_view option, std::string_view text);

// "a,b" as {"a", "b"}. Throws input_error for an empty list or an empty name.
std::vector<std::string> parse_names(std::string_view option, std::string_view text);

// A list of policies with parameters: a part with '=' goes on with the parameters of the policy before it, so
// "local,push-weighted:in=1,out=2,steal" is three policies. "all" stands for every policy, the default first. Whether a
// policy exists is for the runtime to say.
std::vector<std::string> parse_policies(std::string_view text);

}  // namespace weir::bench
