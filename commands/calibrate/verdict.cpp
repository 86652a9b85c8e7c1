#include "commands/calibrate/verdict.hpp"

#include <fmt/format.h>

#include <cmath>

namespace linebounce::sim {
namespace {

constexpr double kWellFitted = 0.05;  // RMS deviation as a share of the mean latency of all pairs
constexpr double kMost = 0.5;         // of the remaining squares
constexpr double kFarApart = 0.1;     // as a share of the mean latency; a larger difference between directions is mentioned

double squares_of(double value) {
  return value * value;
}

// The mean squared deviation of the blocks' means. Each block counts as often as it has pairs.
double between_blocks(const Calibration& calibration) {
  double squares = 0;
  double pairs = 0;
  for (const BlockResult& block : calibration.blocks) {
    const auto count = static_cast<double>(block.block.pairs.size());
    squares += count * squares_of(block.measured - block.simulated);
    pairs += count;
  }
  return pairs > 0 ? squares / pairs : 0;
}

std::string on_threads(const Contradiction& found, const Calibration& calibration) {
  const double percent = 100 * found.threads_ns / calibration.mean;
  if (found.measured_again == 0 || found.threads_ns <= 0) return "";
  if (found.threads_ns >= kWellFitted * calibration.mean) {
    return fmt::format(
        "The matrix contradicts itself by {:.1f} %: the nearest CPUs, if these are threads of one core, should be equally far "
        "from another core's. No machine with these cores could be fitted better than that. Measure again, on a quiet machine.",
        percent);
  }
  const bool good = calibration.rms <= kWellFitted * calibration.mean;
  if (good || squares_of(found.threads_ns) < kMost * squares_of(calibration.rms)) return "";
  return fmt::format(
      "At least {:.1f} % of the mean is the measurement: the nearest CPUs, if these are threads of one core, should be equally "
      "far from another core's, and differ by that. No machine with these cores could be fitted better.",
      percent);
}

std::string on_fit(const Calibration& calibration, StructureFrom structure) {
  if (calibration.rms <= kWellFitted * calibration.mean) return "";
  if (structure == StructureFrom::another_machine) {
    return "This is not a good fit, and the matrix shows another structure than " + calibration.base +
           " has: without --machine that one would be fitted.";
  }
  if (between_blocks(calibration) >= kMost * squares_of(calibration.rms)) {
    return "This is not a good fit. Most of what is left is whole kinds of pairs that are off, as the table shows, and not "
           "what "
           "pairs of a kind differ by.";
  }
  if (structure == StructureFrom::machine) {
    return "This is not a good fit. Most of what is left is what pairs of a kind differ by, and where cores are was not looked "
           "for: without --machine it would be.";
  }
  if (calibration.positions.positions.any()) {
    return "This is not a good fit. Neither groups nor the cores' positions, as a machine file can give them, explain what is "
           "left.";
  }
  return "This is not a good fit. Neither groups nor positions of cores say anything of pairs that they were not fitted to: "
         "either the pairs do not differ by their CPUs, as where threads were not kept on them, or in a way that no machine "
         "here has.";
}

std::string on_directions(const Calibration& calibration) {
  const double apart = calibration.directions.apart_ns;
  if (calibration.directions.pairs == 0 || apart < kFarApart * calibration.mean) return "";
  return fmt::format(
      "The two directions of a pair differ by {:.1f} % (RMS): noise, or a cost that depends on the direction, which no machine "
      "here has. Their mean was fitted.",
      100 * apart / calibration.mean);
}

}  // namespace

std::string far_off(const Calibration& calibration) {
  constexpr double kFarOff = 0.15;  // as a share of the measured mean
  std::string said;
  for (const BlockResult& block : calibration.blocks) {
    if (std::fabs(block.measured - block.simulated) <= kFarOff * block.measured) continue;
    said += fmt::format("{}{}: {:.1f} ns measured, {:.1f} ns simulated", said.empty() ? "" : "; ", name_of(block.block),
                        block.measured, block.simulated);
  }
  return said;
}

std::string verdict_on(const Calibration& calibration, StructureFrom structure) {
  std::string said = on_threads(calibration.contradiction, calibration);
  if (said.empty()) said = on_fit(calibration, structure);
  const std::string directions = on_directions(calibration);
  return said.empty() || directions.empty() ? said + directions : said + " " + directions;
}

std::string on_rows_that_differ(const ProbeFile& probe) {
  constexpr double kDiffers = 0.15;
  const ProbedHandOff* worst = nullptr;
  double most = kDiffers;
  int compared = 0, differing = 0;
  for (const ProbedHandOff& row : probe.hand_offs) {
    if (row.state != "modified" || row.access != "fetch_add" || row.home_node != probe.node[row.to]) continue;
    if (row.ns.repeats == 0) continue;
    const double of_matrix = probe.matrix.at(row.to, row.from);
    const double apart = std::fabs(row.ns.median - of_matrix) / std::min(row.ns.median, of_matrix);
    ++compared;
    if (apart > kDiffers) ++differing;
    if (apart > most) most = apart, worst = &row;
  }
  if (worst == nullptr) return "";
  const std::string others =
      differing > 1 ? fmt::format(" {} of the {} pairs that both have differ by more than 15 %.", differing, compared) : "";
  return fmt::format(
      "The file contradicts itself: a hand-off between CPUs {} and {} took {:.1f} ns in the matrix, and {:.1f} ns in the "
      "hand-off rows.{} The matrix was fitted. Measure a second time, on a quiet machine, and fit that file: linebounce-probe "
      "-o second.probe",
      probe.cpus[worst->from], probe.cpus[worst->to], probe.matrix.at(worst->to, worst->from), worst->ns.median, others);
}

}  // namespace linebounce::sim
