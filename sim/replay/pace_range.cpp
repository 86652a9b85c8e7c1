#include "sim/replay/pace_range.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "trace/losses.hpp"

namespace linebounce::sim {

namespace {

// The parameter that varies.
constexpr const char* kPace = "machine.cpu.cycles_per_instruction";

}  // namespace

std::optional<PaceRange> pace_range(const trace::Summary& trace, const CpuSpec& cpu, const std::vector<std::string>& sets) {
  const auto chooses = [](const std::string& set) { return set.starts_with(kPace); };
  if (!trace::has_recorded_instructions(trace) || std::ranges::any_of(sets, chooses)) return std::nullopt;
  return PaceRange{cpu.cycles_per_instruction, cpu.least_cycles_per_instruction, cpu.most_cycles_per_instruction};
}

std::optional<PaceRange> pace_range(const trace::Summary& trace, const ReplayStudy& study) {
  return pace_range(trace, plan_of(study).make_point(0).input.machine.cpu, study.sets);
}

ReplayStudy at_end(ReplayStudy study, const PaceRange& range, PaceEnd end) {
  const bool is_fast = end == PaceEnd::fast;
  study.name = is_fast ? "fast" : "slow";
  study.sets.push_back(fmt::format("{}={}", kPace, is_fast ? range.fast : range.slow));
  return study;
}

std::string pace_sentence(const trace::Summary& trace, const std::optional<PaceRange>& range) {
  if (trace.recorder.starts_with(trace::kProgramRecorder) && trace::has_assumed_instructions(trace.missing)) {
    if (trace::is_untimed(trace))
      return "The recording has no computation, because it was made with --untimed: shares and gains are those of a program "
             "that does nothing between its accesses.";
    return "The recording has no computation: an earlier version made it. Shares and gains may be far too large; record the "
           "program again.";
  }
  if (!range) return {};
  if (!trace::has_measured_instructions(trace.missing)) {
    return fmt::format(
        "Sizes rest on the instructions that were counted, at {} clock cycles each. How many they take on the simulated "
        "machine is not known: each size was also tried with {} and {}.",
        range->usual, range->fast, range->slow);
  }
  const auto times = [](double cycles) { return fmt::format("{:.2g}", cycles / trace::kCyclesOfInstruction); };
  const std::string usual = times(range->usual);
  return fmt::format(
      "Sizes rest on how long the program computed where it was recorded{}. How long it computes on the simulated machine is "
      "not known: each size was also tried with {} and {} times as many clock cycles.",
      usual == "1" ? "" : fmt::format(", with {} times as many clock cycles", usual), times(range->fast), times(range->slow));
}

}  // namespace linebounce::sim
