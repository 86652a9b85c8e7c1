#include "sim/commands/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

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
  if (option_ != nullptr) option_->check(CLI::IsMember(words));
  return *this;
}

Option& Option::between(std::int64_t least, std::int64_t most) {
  if (option_ != nullptr) option_->check(CLI::Range(least, most).description(""));
  return *this;
}

// CLI::Range lets a NaN through.
Option& Option::between_reals(double least, double most) {
  return check([least, most](const std::string& text) {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(text, value);
    return number && value >= least && value <= most ? "" : fmt::format("{} is not a number from {} to {}", text, least, most);
  });
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
  if (!named_) return Option(nullptr);
  CLI::Option* option = std::visit([&](auto* into) { return app_->add_option(name, *into, meaning); }, target);
  return Option(option->type_name(value));
}

void Command::flag(const std::string& name, bool& target, const std::string& meaning) {
  if (named_) app_->add_flag(name, target, meaning);
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
    if (!app->get_subcommands().empty()) return;  // that one's action it is
    invocation->action = [=] { return action(invocation->argv); };
  });
}

}  // namespace linebounce::sim
