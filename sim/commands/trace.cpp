// `linebounce trace`: the commands that make, show and replay traces, one file each.
#include <CLI/CLI.hpp>
#include <array>

#include "sim/commands/commands.hpp"

namespace linebounce {

namespace {

constexpr std::array kTraceCommands = {add_trace_record, add_trace_replay, add_trace_info, add_trace_convert, add_trace_synth};

}  // namespace

void add_trace(CLI::App& program, Invocation& invocation) {
  CLI::App* trace = program.add_subcommand("trace", "Record, make, convert, look at and replay traces of operations");
  trace->require_subcommand(1);
  for (const auto add : kTraceCommands) add(*trace, invocation);
}

}  // namespace linebounce
