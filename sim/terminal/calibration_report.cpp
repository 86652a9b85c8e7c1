#include "sim/terminal/calibration_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

// A table of CPU numbers, where the machine's are not the file's.
std::string numbering(const Calibration& calibration, const Painter& paint) {
  if (std::is_sorted(calibration.file_cpu.begin(), calibration.file_cpu.end())) return "";
  const std::string text =
      fmt::format("The machine's CPUs 0, 1, 2, ... are these of the file: {}", fmt::join(calibration.file_cpu, ", "));
  return "\n  " + wrapped_from(text, 2, Colour::none, paint);
}

std::string blocks_table(const Calibration& calibration, const Painter& paint) {
  std::string text = "\n  " +
                     paint(Colour::bold, fmt::format("{:<26}{:>7}{:>15}{:>15}{:>9}{:>13}", "pairs", "number", "measured, ns",
                                                     "simulated, ns", "off", "RMS, ns")) +
                     "\n" + rule(paint, 85);
  for (const BlockResult& block : calibration.blocks) {
    const std::string off = block.measured > 0 ? signed_percent(block.simulated / block.measured - 1) : "-";
    text += fmt::format("  {:<26}{:>7}{:>15.1f}{:>15.1f}{:>9}{:>13.2f}\n", name_of(block.block), block.block.pairs.size(),
                        block.measured, block.simulated, off, block.rms);
  }
  const auto [a, b] = calibration.worst;
  const auto file_cpu = [&](int cpu) { return calibration.file_cpu[static_cast<std::size_t>(cpu)]; };
  return text + fmt::format(
                    "\n  RMS of all pairs {:.2f} ns, {:.1f} % of their mean. Worst: CPUs {} and {} of the file, {:.1f} ns "
                    "measured, {:.1f} ns simulated\n",
                    calibration.rms, calibration.mean > 0 ? 100 * calibration.rms / calibration.mean : 0.0,
                    std::min(file_cpu(a), file_cpu(b)), std::max(file_cpu(a), file_cpu(b)), calibration.measured.at(a, b),
                    calibration.simulated.at(a, b));
}

std::string fitted_table(const Calibration& calibration, const Painter& paint) {
  if (calibration.fitted.empty())
    return fmt::format("\n  Nothing to change: {} shows this matrix as it is.\n", calibration.base);
  std::string text =
      "\n  " + paint(Colour::bold, fmt::format("{:<44}{:>12}{:>12}", "fitted", "was", "is")) + "\n" + rule(paint, 85);
  for (const FittedValue& value : calibration.fitted) {
    text += fmt::format("  {:<44}{:>12}{:>12} {}\n", value.path, fmt::format("{:g}", value.before),
                        fmt::format("{:g}", value.after), value.unit);
  }
  return text;
}

}  // namespace

std::string calibration_report(const Calibration& calibration, const Painter& paint) {
  std::string text = structure_line(calibration) + numbering(calibration, paint) + blocks_table(calibration, paint) +
                     fitted_table(calibration, paint) + "\n  " + paint(Colour::bold, "not explained") + "\n" + rule(paint, 85) +
                     "\n";
  for (const std::string& sentence : calibration.unexplained) {
    text += "  - " + wrapped_from(sentence, 4, Colour::none, paint);
  }
  return text;
}

}  // namespace linebounce::sim
