// The program's subcommands: one file each, one line each here and in command_line.cpp.
#pragma once

#include "sim/commands/command.hpp"

namespace linebounce::sim {

// Each adds its subcommand to the program.
void add_run(Command& program);
void add_reproduce(Command& program);
void add_validate(Command& program);
void add_what_if(Command& program);
void add_lines(Command& program);
void add_list(Command& program);
void add_describe(Command& program);
void add_bench(Command& program);
void add_check(Command& program);
void add_calibrate(Command& program);
void add_compare_locks(Command& program);
void add_find_sharing(Command& program);
void add_import(Command& program);
void add_advise(Command& program);
void add_check_lock(Command& program);
void add_steps(Command& program);
void add_trace(Command& program);

// Below `trace`: one line each here and in trace.cpp.
void add_trace_record(Command& trace);
void add_trace_replay(Command& trace);
void add_trace_info(Command& trace);
void add_trace_convert(Command& trace);
void add_trace_synth(Command& trace);

}  // namespace linebounce::sim
