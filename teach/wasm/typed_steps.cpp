// `steps --accesses TEXT --protocol P`: the table that exams ask for, in the forms that the page shows and copies.
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/common/command.hpp"
#include "commands/course/typed_table.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kMostRows = 1000;  // more would make the page slow

ExitCode print_typed_table(const TraceOptions& options) {
  const Protocol protocol = protocol_of_accesses(options);
  return run_on_bus(protocol, [&] {
    const StateTableRun made = typed_table(options, options.accesses, protocol, kMostRows);
    const nlohmann::ordered_json forms = {{"cells", made.table->cells()},
                                          {"markdown", made.table->text(painter_for_stdout().for_markdown())},
                                          {"csv", made.table->csv()},
                                          {"cut", made.cut}};
    std::cout << forms.dump();
  });
}

}  // namespace

void add_steps(Command& program) {
  auto options = std::make_shared<TraceOptions>();
  Command command = program.subcommand("steps", "Print the table of typed accesses", HelpGroup::results);
  add_trace_options(command, *options);
  command.action([options] { return print_typed_table(*options); });
}

}  // namespace linebounce::sim
