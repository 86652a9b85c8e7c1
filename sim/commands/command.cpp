#include "sim/commands/command.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/config/suggestions.hpp"
#include "sim/results/own_directory.hpp"

namespace linebounce::sim {

Option& Option::required() {
  if (option_ != nullptr) option_->required();
  return *this;
}

Option& Option::one_value_each() {
  if (option_ != nullptr) option_->allow_extra_args(false);
  return *this;
}

Option& Option::one_of(const std::vector<std::string>& words) {
  return check(
      [words](const std::string& text) { return std::ranges::find(words, text) == words.end() ? not_known(text, words) : ""; });
}

Option& Option::between(std::int64_t least, std::int64_t most) {
  return check([least, most](const std::string& text) {
    std::int64_t value = 0;
    if (!CLI::detail::lexical_cast(text, value))
      return fmt::format("\"{}\" is not a whole number; legal: {} to {}", text, least, most);
    return value >= least && value <= most ? "" : fmt::format("{} is out of range; legal: {} to {}", text, least, most);
  });
}

// CLI::Range accepts NaN, so this check is our own.
Option& Option::between_reals(double least, double most) {
  return check([least, most](const std::string& text) {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value))
      return fmt::format("\"{}\" is not a number; legal: {} to {}", text, least, most);
    return value >= least && value <= most ? "" : fmt::format("{} is out of range; legal: {} to {}", text, least, most);
  });
}

Option& Option::belongs_to(const std::vector<std::string>& owners) {
  if (option_ == nullptr) return *this;
  invocation_->conditions.emplace_back([app = app_, option = option_, owners] {
    const auto is_given = [app](const std::string& owner) { return app->get_option(owner)->count() > 0; };
    if (option->count() == 0 || std::ranges::any_of(owners, is_given)) return std::string();
    return fmt::format("{} needs {}", option->get_name(), fmt::join(owners, " or "));
  });
  return *this;
}

Option& Option::excludes(const std::vector<std::string>& others) {
  if (option_ == nullptr) return *this;
  invocation_->conditions.emplace_back([app = app_, option = option_, others] {
    const auto other =
        std::ranges::find_if(others, [app](const std::string& name) { return app->get_option(name)->count() > 0; });
    if (option->count() == 0 || other == others.end()) return std::string();
    return fmt::format("{} has no effect with {}", option->get_name(), *other);
  });
  return *this;
}

Option& Option::own_directory() {
  if (option_ == nullptr) return *this;
  invocation_->conditions.emplace_back([option = option_] {
    if (option->count() > 0) require_own_directory(option->as<std::string>());
    return std::string();
  });
  return *this;
}

Option& Option::check(const std::function<std::string(std::string)>& problem) {
  if (option_ != nullptr) option_->check(CLI::Validator([problem](const std::string& text) { return problem(text); }, ""));
  return *this;
}

Option& Option::group(const std::string& title) {
  if (option_ != nullptr) option_->group(title);
  return *this;
}

Command Command::subcommand(const std::string& name, const std::string& meaning) {
  if (!named_) return *this;
  const std::vector<std::string>& argv = invocation_->argv;
  return {*app_->add_subcommand(name, meaning), *invocation_, std::ranges::find(argv, name) != argv.end()};
}

void Command::require_subcommand() {
  if (named_) app_->require_subcommand(1);
}

Option Command::option(const std::string& name, const std::string& value, OptionTarget target, const std::string& meaning) {
  if (!named_) return {};
  CLI::Option* option = std::visit([&](auto* into) { return app_->add_option(name, *into, meaning); }, target);
  option->type_name(value);
  Option added(*app_, *option, *invocation_);
  if (std::holds_alternative<std::string*>(target) && name.starts_with('-'))
    added.check([](const std::string& text) { return text.empty() ? "the value is empty" : ""; });
  return added;
}

Option Command::flag(const std::string& name, bool& target, const std::string& meaning) {
  if (!named_) return {};
  return {*app_, *app_->add_flag(name, target, meaning), *invocation_};
}

void Command::footer(const std::string& text) {
  if (named_) app_->footer(text);
}

void Command::when_parsed(const std::function<void()>& complete) {
  if (named_) app_->parse_complete_callback(complete);
}

void Command::action(const std::function<ExitCode()>& action) {
  this->action([action](const std::vector<std::string>&) { return action(); });
}

void Command::action(const std::function<ExitCode(const std::vector<std::string>& argv)>& action) {
  if (!named_) return;
  app_->callback([app = app_, invocation = invocation_, action] {
    if (!app->get_subcommands().empty()) return;  // The chosen subcommand's own action runs instead.
    invocation->action = [=] { return action(invocation->argv); };
  });
}

}  // namespace linebounce::sim
