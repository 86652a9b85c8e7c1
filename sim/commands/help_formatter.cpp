#include "sim/commands/help_formatter.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

#include "models/text/text_lines.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kExampleIndent = 2;
constexpr std::size_t kWordsIndent = 6;
constexpr std::size_t kMeaningColumn = 30;
constexpr std::size_t kNarrowMeaningColumn = 24;

std::string lines_from(const std::vector<std::string>& lines, std::size_t indent) {
  std::string out;
  for (const std::string& line : lines) out += std::string(indent, ' ') + line + "\n";
  return out;
}

bool is_example(const std::string& line) {
  return line.starts_with("  ");
}

// A command of several options goes on below itself; an option and its value stay together.
std::string command_lines(std::string command, std::size_t width) {
  constexpr char kHeld = '\x1f';
  for (std::size_t at = command.find(" --"); at != std::string::npos; at = command.find(" --", at + 1)) {
    const std::size_t value = command.find(' ', at + 1);
    if (value != std::string::npos && command[value + 1] != '-') command[value] = kHeld;
  }
  std::vector<std::string> lines = wrapped(command, width - kWordsIndent);
  for (std::string& line : lines) std::replace(line.begin(), line.end(), kHeld, ' ');
  return std::string(kExampleIndent, ' ') + lines.front() + "\n" + lines_from({lines.begin() + 1, lines.end()}, kWordsIndent);
}

std::string example_text(const std::string& line, std::size_t width) {
  if (line.starts_with(std::string(kWordsIndent, ' ')))
    return lines_from(wrapped(line.substr(kWordsIndent), width - kWordsIndent), kWordsIndent);
  const std::size_t command_end = line.find("  ", kExampleIndent);
  std::string command = line.substr(kExampleIndent, command_end - kExampleIndent);
  if (command_end == std::string::npos) return command_lines(command, width);
  const std::string words = line.substr(line.find_first_not_of(' ', command_end));
  return command_lines(command, width) + lines_from(wrapped(words, width - kWordsIndent), kWordsIndent);
}

std::string group_text(const std::vector<std::string>& group, std::size_t width) {
  if (std::ranges::all_of(group, [&](const std::string& line) { return width_of(line) <= width; })) return lines_from(group, 0);
  std::string out;
  for (const std::string& line : group)
    out += is_example(line) ? example_text(line, width) : lines_from(wrapped(line, width), 0);
  return out;
}

// Paragraphs, and examples, lines of "  COMMAND    what it does". Where an example is too long, the words of its group stand
// below the commands.
std::string help_footer(std::string_view text, std::size_t width) {
  std::string out;
  std::vector<std::string> group;
  for (const std::string& line : text_lines(text)) {
    if (!line.empty()) {
      if (!group.empty() && !is_example(line) && !is_example(group.back())) {
        group.back() += " " + line;
      } else {
        group.push_back(line);
      }
      continue;
    }
    out += group_text(group, width);
    if (!out.empty()) out += "\n";
    group.clear();
  }
  return out + group_text(group, width);
}

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::size_t width) : width_(width) {
    column_width(width < kTerminalWidth ? kNarrowMeaningColumn : kMeaningColumn);
  }

  std::string make_description(const CLI::App* app) const override {
    return lines_from(wrapped(app->get_description(), width_), 0);
  }
  std::string make_footer(const CLI::App* app) const override { return help_footer(app->get_footer(), width_); }
  std::string make_subcommand(const CLI::App* sub) const override { return entry(sub->get_name(), sub->get_description()); }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }

 private:
  std::string entry(const std::string& name, const std::string& meaning) const {
    const std::size_t column = get_column_width();
    const std::string left = "  " + name;
    const std::string right = lines_from(wrapped(meaning, width_ - column), column);
    return left.size() < column ? left + right.substr(left.size()) : left + "\n" + right;
  }

  std::size_t width_;
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter(std::size_t width) {
  return std::make_shared<HelpFormatter>(width);
}

}  // namespace linebounce::sim
