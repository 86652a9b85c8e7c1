// `linebounce find-sharing`
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/advise/sharing_finder.hpp"
#include "commands/common/command.hpp"
#include "models/text/visible.hpp"
#include "sim/results/result_files.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFindSharingFooter = R"(Examples:
  linebounce find-sharing program.lbt --machine p3_xeon_8way
      lines on which threads use different bytes, and cures for them
  linebounce find-sharing program.lbt --machine mine.toml --top 3 --json
      all lines, and proposals for the three costliest that have one, as JSON

A line is falsely shared if threads use different bytes of it and at least one of them writes. The trace shows which thread uses
which bytes; replays measure what the lines cost. What a proposal saves is the median of --orders pairs of replays, with and
without the change, and its 95 % interval (Student's t, over the factors' logarithms). In each pair, every acquisition and atomic
operation is delayed by a few random cycles, because any change also changes the order in which threads meet. The best proposal
runs again in as many new orders, or in twice as many if all gain but by different amounts. It is recommended if it gains at least
1 % there and the interval excludes 0. It is printed as C and as the [[layout.change]] that was run. Aligned blocks come from new or
aligned_alloc; malloc aligns to 16 bytes only.

Which bytes share a line depends on where malloc places a block, which may be at any multiple of 16. So lines that would be shared
only at other heap positions, or as pairs of lines, are listed, too. If nothing is shared at the recorded positions, the costs and
proposals are those of the worst other position (workload.heap_shift).

If threads take turns using the slots of an array, time decides: a line is listed if one thread uses a slot while another uses the
next, although several threads use each slot. On machines that fetch lines in pairs (machine.cpu.pair_prefetch), pairs take the
place of lines.

Proposals are not run if all misses on their lines together take less than a quarter of a percent of the run's time, because
nothing can gain more than that. The answer says how much it is.

Finished runs are reused. A trace with more threads than the machine has CPUs needs
--set workload.threads=round_robin.)";

ExitCode print_sharing(const SharingArguments& arguments, const std::vector<std::string>& argv) {
  const trace::Reader reader(arguments.trace);
  ExitCode code = ExitCode::done;
  const auto report = find_sharing(arguments, reader, argv, code);
  if (!report) return code;
  const std::string document = visible(sharing_json(*report, reader.symbols()).dump(1)) + "\n";
  replace_file(fs::path(arguments.directory) / kSharingFile, document);
  if (arguments.json) {
    std::cout << document;
  } else {
    std::cout << sharing_text(*report, reader.symbols(), arguments.top, painter_for_stdout()) << "\n"
              << results_line(report->directory.string(), painter_for_stdout());
  }
  return code;
}

}  // namespace

void add_find_sharing(Command& program) {
  auto arguments = std::make_shared<SharingArguments>();
  Command command =
      program.subcommand("find-sharing", "Find falsely shared lines in a trace, and try cures for them", HelpGroup::programs);
  command.option("--machine", "M", &arguments->machine,
                 "The machine to run on; default: the recorded one, else generic_2socket_32core");
  command.option("--top", "N", &arguments->top, "Lines to print and proposals to try, costliest first; default: 5")
      .between(1, 1000);
  add_orders(command, arguments->orders);
  add_study_options(command, *arguments, "out/find_sharing");
  command.footer(kFindSharingFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return print_sharing(*arguments, argv); });
}

}  // namespace linebounce::sim
