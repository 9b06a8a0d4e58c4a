// The parser's errors as sentences. It tells what kind of error it met and keeps what it could not place; the rest is
// looked up in the tree of commands.
#include <bench/common/parser.hpp>

#include <weir/detail/nearest.hpp>
#include <weir/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <sstream>

namespace weir::bench {
namespace {

using weir::detail::proposal;

template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// "a, b or c".
std::string either(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); i++)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : commands_of(app)) names.push_back(each->get_name());
  return names;
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* each : commands_of(app))
    if (each->get_name() == name) return each;
  return nullptr;
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : full_name(*app.get_parent()) + " " + app.get_name();
}

// "bench overhead: " for the beginning of a sentence about that command. Who prints it says the program's name before
// it.
std::string place(const CLI::App& app) {
  if (app.get_parent() == nullptr) return "";
  const std::string name = full_name(app);
  return name.substr(name.find(' ') + 1) + ": ";
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// From the whole command to the subcommand that was being read.
std::vector<const CLI::App*> commands_read(const CLI::App& app) {
  std::vector<const CLI::App*> chain{&app};
  while (!chain.back()->get_subcommands().empty()) chain.push_back(chain.back()->get_subcommands().back());
  return chain;
}

std::string no_such_option(const CLI::App& command, const std::string& given) {
  const std::string name = given.substr(0, given.find('='));
  return fmt::format("{}there is no option {}: expected one that {} --help lists{}", place(command), name,
                     full_name(command), proposal(name, option_names(command)));
}

std::string no_such_command(const CLI::App& command, const std::string& name) {
  const std::vector<std::string> known = command_names(command);
  return fmt::format("{}there is no command {}: expected {}{}", place(command), name, either(known),
                     proposal(name, known));
}

// Of an argument that no option or command took.
std::string misplaced(const CLI::App& command, const std::string& argument) {
  if (argument.starts_with('-')) return no_such_option(command, argument);
  if (command.get_require_subcommand_min() > 0) return no_such_command(command, argument);
  std::string expected = "options only";
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) expected = fmt::format("one {} and options", option->get_type_name());
  return fmt::format("{}{} is one argument too many: expected {}", place(command), argument, expected);
}

std::string name_of(const CLI::Option& option) {
  return option.get_positional() ? option.get_type_name() : option.get_name();
}

// A command, an operand or an option that must be there and is not.
std::string lacking(const CLI::App& command, const CLI::ParseError& error) {
  if (command.get_require_subcommand_min() > 0 && command.get_subcommands().empty())
    return fmt::format("{}a command is missing: expected {}", place(command), either(command_names(command)));
  for (const CLI::Option* option : command.get_options())
    if (option->get_required() && option->count() == 0)
      return fmt::format("{}{} is missing: expected {}", place(command), name_of(*option), option->get_description());
  return place(command) + error.what();
}

// An option with too many values or too few.
std::string miscounted(const CLI::App& command, const CLI::ParseError& error) {
  const std::string said = error.what(), where = place(command), subject = said.substr(0, said.find_first_of(": "));
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() > 1 && option->get_items_expected_max() == 1)
      return fmt::format("{}{} is given {} times: expected it once", where, name, option->count());
    if (!option->check_name(subject) && !option->check_lname(subject)) continue;
    if (option->get_items_expected_max() == 0)
      return fmt::format("{}{} takes no value: expected it alone", where, name);
    return fmt::format("{}{} needs a value: expected {}, {}", where, name, option->get_type_name(),
                       option->get_description());
  }
  return where + said;
}

// "--tol: abc: expected a number" of a check above becomes "--tol abc: expected a number".
std::string unfit(std::string said) {
  const std::size_t colon = said.find(": ");
  if (said.starts_with('-') && colon != std::string::npos) said.erase(colon, 1);
  return said;
}

void show_help(const CLI::App& app, const std::vector<std::string>& names) {
  const CLI::App* command = &app;
  for (const std::string& name : names) {
    const CLI::App* next = find_command(*command, name);
    if (next == nullptr && commands_of(*command).empty())
      throw configuration_error(fmt::format("help: there are no commands below {}: expected nothing after it, not {}",
                                            full_name(*command), name));
    if (next == nullptr) throw configuration_error(no_such_command(*command, name));
    command = next;
  }
  fmt::print("{}", command->help(command->get_parent() == nullptr ? "" : full_name(*command->get_parent())));
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [=](std::string& text) {
    const auto value = parsed<std::uint64_t>(text);
    if (!value || *value < least || *value > most)
      return fmt::format("{}: expected a whole number from {} to {}", text, least, most);
    text = std::to_string(*value);  // the parser would take 010 for an octal number
    return std::string();
  };
  return {check, fmt::format("{}..{}", least, most)};
}

CLI::Validator number_that(const std::function<bool(double)>& fits, const std::string& expected) {
  const auto check = [=](std::string& text) {
    const auto value = parsed<double>(text);
    const bool good = value && std::isfinite(*value) && fits(*value);
    return good ? std::string() : fmt::format("{}: expected {}", text, expected);
  };
  return {check, expected};
}

CLI::Validator number_between(double least, double most) {
  const auto fits = [=](double value) { return value >= least && value <= most; };
  return number_that(fits, fmt::format("a number from {:g} to {:g}", least, most));
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [=](std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    return fmt::format("{}: expected {}{}", text, either(words), proposal(text, words));
  };
  return {check, ""};
}

void refuse_values_of_flags(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
  for (CLI::App* each : app.get_subcommands([](CLI::App*) { return true; })) refuse_values_of_flags(*each);
}

void add_help_command(CLI::App& app) {
  auto names = std::make_shared<std::vector<std::string>>();
  CLI::App* help = app.add_subcommand("help", "Show this, or the options of a command: weir help bench overhead");
  help->add_option("commands", *names, "Names of commands")->type_name("COMMAND");
  help->callback([&app, names] { show_help(app, *names); });
}

int show_what_was_asked_for(const CLI::App& app, const CLI::ParseError& request) {
  std::ostringstream text;
  app.exit(request, text, text);
  fmt::print("{}", text.str());  // into the stream that is checked at the end
  return 0;
}

std::optional<int> parse(CLI::App& app, const char* program, int argc, char** argv) {
  app.name(program);
  refuse_values_of_flags(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return show_what_was_asked_for(app, e);
    fmt::print(stderr, "{}: {}\n", program, sentence_of(app, e));
    return 2;
  }
  return {};
}

std::string sentence_of(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<const CLI::App*> chain = commands_read(app);
  const CLI::App& command = *chain.back();
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return unfit(error.what());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return miscounted(command, error);
  for (const CLI::App* each : chain)
    if (const std::vector<std::string> left = each->remaining(false); !left.empty())
      return misplaced(*each, left.front());
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return lacking(command, error);
  return place(command) + error.what();
}

}  // namespace weir::bench
