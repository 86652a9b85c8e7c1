#include "commands/calibrate/calibration_report.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

std::string counted(int count, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::string structure_line(const Calibration& calibration) {
  const MachineSpec machine = to_typed(calibration.machine.settings, calibration.machine.parts).machine;
  const int buses = machine.nodes * machine.buses_per_node;
  std::string text = counted(machine.cpus, "CPU", "CPUs") + ": " + counted(machine.nodes, "node", "nodes") + ", " +
                     counted(buses, "bus", "buses") + ", " + counted(machine.cpu.threads_per_core, "thread", "threads") +
                     " a core";
  if (machine.nodes > 1) text += ", network: " + std::string(word_of(machine.network.topology));
  return "  " + text + "\n";
}

// A table of CPU numbers; empty if the machine and the file number CPUs equally.
std::string numbering(const Calibration& calibration, const Painter& paint) {
  if (std::ranges::is_sorted(calibration.file_cpu)) return "";
  const std::string text =
      fmt::format("The machine's CPUs 0, 1, 2, ... are these of the file: {}", fmt::join(calibration.file_cpu, ", "));
  return "\n  " + wrapped_from(text, 2, Colour::none, paint);
}

std::string blocks_table(const Calibration& calibration, const Painter& paint) {
  Table table({words("pairs", 26), figures("number", 7), figures("measured, ns", 15), figures("simulated, ns", 15),
               figures("off", 9), figures("RMS, ns", 13)},
              paint);
  table.add_rule();
  for (const BlockResult& block : calibration.blocks) {
    table.add({name_of(block.block), std::to_string(block.block.pairs.size()), fmt::format("{:.1f}", block.measured),
               fmt::format("{:.1f}", block.simulated),
               block.measured > 0 ? signed_percent(block.simulated / block.measured - 1) : "-",
               fmt::format("{:.2f}", block.rms)});
  }
  const auto [a, b] = calibration.worst;
  const auto file_cpu = [&](int cpu) { return calibration.file_cpu[cpu]; };
  return "\n" + table.text() +
         fmt::format(
             "\n  RMS of all pairs {:.2f} ns, {:.1f} % of their mean. Worst: CPUs {} and {} of the file, {:.1f} ns "
             "measured, {:.1f} ns simulated\n",
             calibration.rms, calibration.mean > 0 ? 100 * calibration.rms / calibration.mean : 0.0,
             std::min(file_cpu(a), file_cpu(b)), std::max(file_cpu(a), file_cpu(b)), calibration.measured.at(a, b),
             calibration.simulated.at(a, b));
}

std::string list_of(const std::string& head, const std::vector<std::string>& sentences, const Painter& paint) {
  if (sentences.empty()) return "";
  std::string text = "\n  " + paint(Colour::bold, head) + "\n" + rule(paint, 85) + "\n";
  for (const std::string& sentence : sentences) text += "  - " + wrapped_from(sentence, 4, Colour::none, paint);
  return text;
}

// The number of parameters that were fitted, and the error over pairs to which nothing was fitted.
std::string freedom(const Calibration& calibration, const Painter& paint) {
  const int cpus = calibration.measured.cpus();
  const FoundPositions& found = calibration.positions;
  std::string text = counted(calibration.parameters, "parameter was", "parameters were") + " chosen by " +
                     counted(cpus * (cpus - 1) / 2, "pair", "pairs") + ".";
  if (found.positions.any() && calibration.mean > 0) {
    text += fmt::format(
        " With the positions of cores found from half of the pairs, the others are {:.1f} % off; with each kind of pair at its "
        "mean, {:.1f} %.",
        100 * found.held_out / calibration.mean, 100 * found.held_out_without / calibration.mean);
  }
  return "  " + wrapped_from(text, 2, Colour::none, paint);
}

std::string verdict(const Calibration& calibration, const Painter& paint) {
  if (calibration.verdict.empty()) return "";
  return "  " + wrapped_from(calibration.verdict, 2, Colour::bold, paint);
}

std::string positions_text(const Calibration& calibration, const Painter& paint) {
  const Positions& positions = calibration.positions.positions;
  std::vector<std::string> said;
  const auto ways = [&](const char* key, const char* whither, const std::vector<double>& ns) {
    if (ns.empty()) return;
    said.push_back(fmt::format("bus.{}: a line's way between a core and {}, {} cores, 0 to {:.1f} ns.", key, whither, ns.size(),
                               *std::ranges::max_element(ns)));
  };
  ways("way_ns", "the others of its bus", positions.way_ns);
  ways("edge_way_ns", "the edge of its bus", positions.edge_way_ns);
  if (!positions.places.empty()) {
    int columns = 0;
    int rows = 0;
    for (const auto& [column, row] : positions.places) columns = std::max(columns, column + 1), rows = std::max(rows, row + 1);
    said.push_back(fmt::format("bus.places: a mesh of {} columns and {} rows, {:g} ns from one to the next (bus.hop_ns).",
                               columns, rows, positions.hop_ns));
  }
  if (calibration.home >= 0) {
    said.push_back(
        fmt::format("The measured line is at home on node {}: pairs of other nodes reach each other over it. To see this "
                    "matrix again: --set "
                    "workload.homes={}.",
                    calibration.home, calibration.home));
  }
  return list_of("where cores and lines are", said, paint);
}

std::string fitted_table(const Calibration& calibration, const Painter& paint) {
  if (calibration.fitted.empty())
    return fmt::format("\n  Nothing to change: {} shows this matrix as it is.\n", calibration.base);
  Table table({words("fitted", 44), figures("was", 12), figures("is", 12), words("", 16, 1)}, paint);
  table.add_rule();
  for (const FittedValue& value : calibration.fitted) {
    table.add({value.path, fmt::format("{:g}", value.before), fmt::format("{:g}", value.after), value.unit});
  }
  return "\n" + table.text();
}

// Measurements other than the matrix.
std::string costs_table(const std::string& head, const std::vector<ComparedCost>& costs, const Painter& paint) {
  if (costs.empty()) return "";
  Table table({words(head, 46), figures("measured", 10), figures("quartiles", 17), figures("simulated", 11), figures("off", 9)},
              paint);
  table.add_rule();
  for (const ComparedCost& cost : costs) {
    const int decimals = cost.measured.median < 10 ? 2 : cost.measured.median < 1000 ? 1 : 0;
    const auto figure = [&](double value) { return fmt::format("{:.{}f}", value, decimals); };
    table.add({cost.what + ", " + cost.unit, figure(cost.measured.median),
               figure(cost.measured.lower) + " to " + figure(cost.measured.upper), figure(cost.simulated),
               cost.measured.median > 0 ? signed_percent(cost.simulated / cost.measured.median - 1) : "-"});
  }
  return "\n" + table.text();
}

}  // namespace

std::string calibration_report(const Calibration& calibration, const Painter& paint) {
  return structure_line(calibration) + numbering(calibration, paint) + blocks_table(calibration, paint) +
         verdict(calibration, paint) + freedom(calibration, paint) + fitted_table(calibration, paint) +
         positions_text(calibration, paint) + costs_table("fitted beside the matrix", calibration.own_costs, paint) +
         costs_table("predicted: nothing was fitted to these", calibration.predictions, paint) +
         list_of("what waiting costs", calibration.waiting, paint) + list_of("noted", calibration.noted, paint) +
         list_of("not explained", calibration.unexplained, paint) +
         list_of("not determined by the matrix", calibration.undetermined, paint) +
         list_of("left as in " + calibration.base, calibration.assumed, paint);
}

}  // namespace linebounce::sim
