// What command lines that CLI11 reads have in common: the values of options, and a sentence for whatever it refuses.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace weir::bench {

// Checks of values for CLI::Option::check() and transform(). The sentence is "OPTION VALUE: expected WHAT".
// A whole number in decimal digits.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
// A finite number for which `fits` holds; `expected` is what that means, as in "a number between 0 and 1".
CLI::Validator number_that(const std::function<bool(double)>& fits, const std::string& expected);
CLI::Validator number_between(double least, double most);
CLI::Validator one_of(const std::vector<std::string>& words);

// Once all options are there: flags take no value.
void refuse_values_of_flags(CLI::App& app);
// The command `help`, for those that are there when it is called.
void add_help_command(CLI::App& app);

// Of an error that is none: --help or --version. Returns 0.
int show_what_was_asked_for(const CLI::App& app, const CLI::ParseError& request);

// Reads the command line of a program without subcommands. Returns its exit status if it ends here: 0 after --help, 2
// after one line on standard error that begins with the program's name.
std::optional<int> parse(CLI::App& app, const char* program, int argc, char** argv);

// One sentence: what was wrong, in which command, what is there, what is near.
std::string sentence_of(const CLI::App& app, const CLI::ParseError& error);

}  // namespace weir::bench
