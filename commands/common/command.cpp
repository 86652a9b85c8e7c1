#include "commands/common/command.hpp"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/suggestions.hpp"
#include "sim/results/own_directory.hpp"

namespace linebounce::sim {

std::string title(HelpGroup group) {
  switch (group) {
    case HelpGroup::runs: return "Run and compare";
    case HelpGroup::results: return "Look into results";
    case HelpGroup::programs: return "Real programs";
    case HelpGroup::checks: return "Check locks and protocols";
    case HelpGroup::machines: return "Fit a machine";
    case HelpGroup::publications: return "Compare with publications";
    case HelpGroup::teaching: return "Teach";
  }
  return "";
}

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

// The unit that an option's name or the word for its value states: "bytes" of --cache-bytes, "mhz"; else empty, for a count.
static std::string unit_of(const CLI::Option* option) {
  if (option == nullptr) return "";
  const std::string name = option->get_name();
  if (name.ends_with("-bytes") || option->get_type_name() == "BYTES") return "bytes";
  return name.ends_with("mhz") ? "mhz" : name.ends_with("seconds") ? "s" : "";
}

Option& Option::between(std::int64_t least, std::int64_t most) {
  return check([least, most, unit = unit_of(option_)](const std::string& text) {
    std::int64_t value = 0;
    if (!CLI::detail::lexical_cast(text, value))
      return fmt::format("\"{}\" is not a whole number; legal: {} to {}{}", text, least, most, number_meant(text, unit));
    return value >= least && value <= most ? "" : fmt::format("{} is out of range; legal: {} to {}", text, least, most);
  });
}

// CLI::Range accepts NaN, so this check is our own.
Option& Option::between_reals(double least, double most) {
  return check([least, most, unit = unit_of(option_)](const std::string& text) {
    double value = 0;
    if (!CLI::detail::lexical_cast(text, value))
      return fmt::format("\"{}\" is not a number; legal: {} to {}{}", text, least, most, number_meant(text, unit));
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

namespace {

namespace fs = std::filesystem;

// Endings that a user gives to a file, never to a directory of results.
constexpr std::array<std::string_view, 12> kFileEndings = {".html", ".pdf", ".png", ".svg",  ".json", ".csv",
                                                           ".md",   ".txt", ".log", ".toml", ".lbt",  ".xml"};

std::string directory_problem(const std::string& option, const fs::path& directory) {
  std::error_code ignored;
  const fs::file_status there = fs::status(directory, ignored);
  if (fs::is_regular_file(there)) return fmt::format("{} {}: this is a file; give a directory", option, directory.string());
  const std::string ending = directory.extension().string();
  if (fs::exists(there) || std::ranges::find(kFileEndings, ending) == kFileEndings.end()) return "";
  const std::string instead = (fs::path(directory).replace_extension()).string();
  return fmt::format("{0} {1}: a directory of results is named so, and {2} is the ending of a file; for example {0} {3}{4}",
                     option, directory.string(), ending, instead,
                     ending == ".html" ? ", then: linebounce report " + instead + " -o " + directory.string() : "");
}

std::string file_problem(const std::string& option, const fs::path& file, const std::string& what,
                         const std::vector<std::string>& endings) {
  std::error_code ignored;
  const fs::file_status there = fs::status(file, ignored);
  const std::string ending = file.extension().string();
  const bool is_device = fs::exists(there) && !fs::is_regular_file(there);
  if (ending.empty() || is_device || std::ranges::find(endings, ending) != endings.end()) return "";
  return fmt::format("{} {}: the name of {} ends in {}", option, file.string(), what,
                     fmt::join(endings, endings.size() > 2 ? ", " : " or "));
}

// The first path that has two values.
std::string repeated_setting(const std::vector<std::string>& settings) {
  std::map<std::string, std::string> values;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) continue;  // refused later
    const std::string path = setting.substr(0, equals), value = setting.substr(equals + 1);
    const auto [earlier, is_new] = values.emplace(path, value);
    if (is_new || earlier->second == value) continue;
    return fmt::format(
        "--set {0} is given twice, as {1} and as {2}; give it once (`linebounce ab` compares two values, and "
        "`linebounce run --set '{0}=[{1},{2}]'` runs both)",
        path, earlier->second, value);
  }
  return "";
}

}  // namespace

Option& Option::own_directory() {
  if (option_ == nullptr) return *this;
  invocation_->conditions.emplace_back([option = option_] {
    if (option->count() == 0) return std::string();
    const auto directory = option->as<std::string>();
    require_own_directory(directory);
    return option->get_type_name() == "DIR" ? directory_problem(option->get_name(), directory) : "";
  });
  return *this;
}

Option& Option::output_file(const std::string& what, const std::vector<std::string>& endings) {
  if (option_ == nullptr) return *this;
  invocation_->conditions.emplace_back([option = option_, what, endings] {
    return option->count() == 0 ? "" : file_problem(option->get_name(), option->as<std::string>(), what, endings);
  });
  return *this;
}

Option& Option::settings() {
  one_value_each();
  if (option_ == nullptr) return *this;
  invocation_->conditions.emplace_back(
      [option = option_] { return option->count() == 0 ? "" : repeated_setting(option->as<std::vector<std::string>>()); });
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

Command Command::subcommand(const std::string& name, const std::string& meaning, HelpGroup group) {
  Command added = child(name, meaning);
  if (named_) added.app_->group(title(group));
  added.group_ = group;
  return added;
}

Command Command::child(const std::string& name, const std::string& meaning) {
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

void Command::try_first(std::string_view command, std::string_view meaning) {
  invocation_->first_examples.push_back({group_, command, meaning});
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
