// `linebounce trace convert`: each format that it reads is one line in kFormats.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "sim/commands/commands.hpp"
#include "sim/config/config_error.hpp"
#include "sim/config/suggestions.hpp"
#include "trace/copy.hpp"

namespace linebounce {

namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter = R"(
Examples:
  linebounce trace convert pool.lbt pool.txt             to read it: one line an operation
  linebounce trace convert pool.txt pool.lbt             and back, with nothing lost
  linebounce trace convert --recover torn.lbt whole.lbt  what a damaged file still holds

OUT is written as text if its name ends in .txt. A text holds one stream after the other; in the text of a recorder that writes
text itself they take turns as they came.)";

struct ConvertArguments {
  std::string in;
  std::string out;
  std::string from;
  bool recover = false;
};

void from_trace(const ConvertArguments& arguments) {
  const trace::Reader reader(arguments.in, {.recover = arguments.recover});
  if (!reader.damage().empty()) std::cerr << "linebounce: " << arguments.in << " is damaged:\n" << reader.damage() << "\n";
  trace::Writer writer(arguments.out);
  trace::copy(reader, writer);
}

struct Format {
  std::string_view name;
  void (*convert)(const ConvertArguments&);
};
// The first is what IN is taken for without --from.
constexpr std::array kFormats = {Format{"trace", from_trace}};

ExitCode convert(const ConvertArguments& arguments) {
  std::error_code ignored;
  if (fs::equivalent(arguments.in, arguments.out, ignored)) {
    throw ConfigError(fmt::format("{}: OUT is the file that is read; name another", arguments.out));
  }
  std::vector<std::string> names;
  for (const Format& format : kFormats) names.emplace_back(format.name);
  const auto format = std::find(names.begin(), names.end(), arguments.from.empty() ? names.front() : arguments.from);
  if (format == names.end()) throw ConfigError("--from: the format " + not_known(arguments.from, names));
  kFormats[static_cast<std::size_t>(format - names.begin())].convert(arguments);
  return ExitCode::done;
}

}  // namespace

void add_trace_convert(CLI::App& trace, Invocation& invocation) {
  auto arguments = std::make_shared<ConvertArguments>();
  CLI::App* command = trace.add_subcommand("convert", "Convert a trace between its binary and its text form");
  command->add_option("IN", arguments->in, "A trace, binary or text")->type_name("")->required();
  command->add_option("OUT", arguments->out, "The file to write; text if its name ends in .txt")->type_name("")->required();
  command->add_option("--from", arguments->from, "The format of IN; default: trace")->type_name("FORMAT");
  command->add_flag("--recover", arguments->recover, "Read what comes before the first damage of each stream");
  command->footer(kFooter);
  command->callback([arguments, &invocation] { invocation.action = [arguments] { return convert(*arguments); }; });
}

}  // namespace linebounce
