#include "sim/studies/replay/pace_range.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/losses.hpp"

namespace linebounce::sim {

std::array<std::string, 2> PaceRange::ends() const {
  return {fmt::format("{}={}", kPace, fast), fmt::format("{}={}", kPace, slow)};
}

std::optional<PaceRange> pace_range(const trace::Summary& trace, const CpuSpec& cpu, const std::vector<std::string>& sets) {
  const auto chooses = [](const std::string& set) { return set.starts_with(kPace); };
  if (!trace::has_recorded_instructions(trace) || std::ranges::any_of(sets, chooses)) return std::nullopt;
  return PaceRange{cpu.cycles_per_instruction, cpu.least_cycles_per_instruction, cpu.most_cycles_per_instruction};
}

std::string pace_sentence(const trace::Summary& trace, const std::optional<PaceRange>& range) {
  if (!range) return {};
  const std::string measured = trace::facts_text(trace::Loss::instructions_measured, trace::kProgramRecorder,
                                                 fmt::format("{}", trace::kCyclesOfInstruction));
  const bool is_measured = std::ranges::find(trace.missing, measured) != trace.missing.end();
  return fmt::format("{} on the machine {} is not known: sizes are tried from {} to {} cycles for an instruction, beside {}.",
                     is_measured ? "The time of computation was measured where the program was recorded; how long it takes"
                                 : "Instructions were counted; how long they take",
                     "that is simulated", range->fast, range->slow, range->usual);
}

}  // namespace linebounce::sim
