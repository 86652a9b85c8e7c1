// `linebounce find-sharing`
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "sim/commands/command.hpp"
#include "sim/commands/sharing_finder.hpp"
#include "sim/results/result_files.hpp"
#include "trace/reader.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFindSharingFooter = R"(Examples:
  linebounce find-sharing program.lbt --machine p3_xeon_8way
      lines on which threads use different bytes, and cures for them
  linebounce find-sharing program.lbt --machine mine.toml --top 3 --json
      all lines, and proposals for the three costliest that have one, for a program

A line is falsely shared if threads use different bytes of it and at least one of them writes. Which thread uses which bytes
is read from the trace, and the cost of the lines is measured by replaying it. What a proposal saves is the median of --orders
replays, each beside one without it, with its 95 % interval (Student's t, of the factors' logarithms): in each of them every
acquisition and atomic operation comes a few cycles later at random, for any change also changes the order in which threads meet.
The best proposal runs again in as many other orders, in twice as many where all gain but too differently, and is recommended if
it gains at least 1 % there and the interval excludes 0. It is printed as C and as the [[layout.change]] with which it was run. Aligned blocks come from new or aligned_alloc; malloc only aligns to 16 bytes.

Which bytes share a line depends on where malloc puts a block, which may be at any multiple of 16: lines that only other places of
the heap or pairs of lines would share are listed, too. Where the recorded places share nothing, the costs and proposals are those
of the worst other place (workload.heap_shift).

Slots that threads use in turn are judged in time: where one thread uses a slot while another uses the next one, the line is
listed, although each slot is used by several. Where the machine fetches lines in pairs (machine.cpu.pair_prefetch), pairs take
the place of lines.

Proposals are not run where all misses on their lines together take less than a quarter of a percent of the run's time: nothing
can gain more than that. The answer says how much it is.

Finished runs are reused. A trace with more threads than the machine has CPUs needs
--set workload.threads=round_robin.)";

ExitCode print_sharing(const SharingArguments& arguments, const std::vector<std::string>& argv) {
  const trace::Reader reader(arguments.trace);
  ExitCode code = ExitCode::done;
  const auto report = find_sharing(arguments, reader, argv, code);
  if (!report) return code;
  const std::string document = sharing_json(*report, reader.symbols()).dump(1) + "\n";
  write_file(fs::path(arguments.directory) / kSharingFile, document);
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
  Command command = program.subcommand("find-sharing", "Find falsely shared lines in a trace, and try cures for them");
  command.option("--machine", "M", &arguments->machine,
                 "The machine to run on; default: the recorded one, else generic_2socket_32core");
  command.option("--top", "N", &arguments->top, "Number of lines to print and proposals to try, costliest first; default: 5")
      .between(1, 1000);
  add_orders(command, arguments->orders);
  add_study_options(command, *arguments, "out/find_sharing");
  command.footer(kFindSharingFooter);
  command.action([arguments](const std::vector<std::string>& argv) { return print_sharing(*arguments, argv); });
}

}  // namespace linebounce::sim
