// `linebounce trace info`
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "sim/commands/commands.hpp"
#include "trace/reader.hpp"

namespace linebounce {

namespace {

ExitCode show_trace(const std::string& file) {
  const trace::Reader reader(file);
  std::cout << fmt::format("{}: {} operations in {} streams\n", file, reader.operations(), reader.symbols().streams.size());
  return ExitCode::done;
}

}  // namespace

void add_trace_info(CLI::App& trace, Invocation& invocation) {
  auto file = std::make_shared<std::string>();
  CLI::App* command = trace.add_subcommand("info", "Show what is in a trace");
  command->add_option("TRACE", *file, "A trace, binary or text")->type_name("")->required();
  command->callback([file, &invocation] { invocation.action = [file] { return show_trace(*file); }; });
}

}  // namespace linebounce
