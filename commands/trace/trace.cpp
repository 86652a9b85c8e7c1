// `linebounce trace`: the parent of the commands that make, show and replay traces. Each has a file of its own.
#include "commands/common/command.hpp"
#include "models/listed.hpp"

namespace linebounce::sim {

static void add_trace_commands(Command& trace) {
  LISTED(AddSubcommand, add_trace_record)(trace);
  LISTED(AddSubcommand, add_trace_replay)(trace);
  LISTED(AddSubcommand, add_trace_info)(trace);
  LISTED(AddSubcommand, add_trace_convert)(trace);
  LISTED(AddSubcommand, add_trace_synth)(trace);
}

namespace {

constexpr const char* kTraceFooter = R"(Examples:
  linebounce trace record timer_churn -o timers.lbt
      the operations of a kernel workload; linebounce-record records real programs
  linebounce trace info timers.lbt
      its threads, locks, objects and operations
  linebounce trace replay timers.lbt --machine numaq_16way --lock mcs
      what they cost elsewhere
  linebounce trace convert lackey.txt program.lbt --from lackey
      traces of other tools; and between binary and text
  linebounce trace export out/oltp --perfetto oltp.pftrace
      a run as tracks in the Perfetto viewer; from the Python package, see analysis/README.md)";

}  // namespace

void add_trace(Command& program) {
  Command trace =
      program.subcommand("trace", "Record, make, convert, inspect and replay traces of operations", HelpGroup::programs);
  trace.require_subcommand();
  trace.footer(kTraceFooter);
  add_trace_commands(trace);
}

}  // namespace linebounce::sim
