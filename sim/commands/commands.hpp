// The program's subcommands: one file each, one line each here and in command_line.cpp.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "sim/plan/exit_code.hpp"

namespace linebounce::sim {

// A parsed command line: what a subcommand wants done, once its options are known to be right.
struct Invocation {
  std::vector<std::string> argv;
  std::function<ExitCode()> action;
};

// Each adds its subcommand to the program; when that is the one on the command line, parsing sets `invocation.action`.
void add_run(CLI::App& program, Invocation& invocation);
void add_reproduce(CLI::App& program, Invocation& invocation);
void add_what_if(CLI::App& program, Invocation& invocation);
void add_lines(CLI::App& program, Invocation& invocation);
void add_list(CLI::App& program, Invocation& invocation);
void add_describe(CLI::App& program, Invocation& invocation);
void add_bench(CLI::App& program, Invocation& invocation);
void add_check(CLI::App& program, Invocation& invocation);
void add_calibrate(CLI::App& program, Invocation& invocation);
void add_compare_locks(CLI::App& program, Invocation& invocation);
void add_find_sharing(CLI::App& program, Invocation& invocation);
void add_trace(CLI::App& program, Invocation& invocation);

// Below `trace`: one line each here and in trace.cpp.
void add_trace_record(CLI::App& trace, Invocation& invocation);
void add_trace_replay(CLI::App& trace, Invocation& invocation);
void add_trace_info(CLI::App& trace, Invocation& invocation);
void add_trace_convert(CLI::App& trace, Invocation& invocation);
void add_trace_synth(CLI::App& trace, Invocation& invocation);

}  // namespace linebounce::sim
