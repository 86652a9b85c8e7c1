// How fast a recorded program computes on another machine is known only as a range: answers are tried at both ends of it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "models/cpu_spec.hpp"
#include "trace/summary.hpp"

namespace linebounce::sim {

// The path of the parameter that varies.
inline constexpr const char* kPace = "machine.cpu.cycles_per_instruction";

struct PaceRange {
  double usual = 0, fast = 0, slow = 0;  // cycles of an instruction

  // The settings ("PATH=VALUE") of the fast end and of the slow one.
  [[nodiscard]] std::array<std::string, 2> ends() const;
};

// None if the trace does not tell its instructions, so that no machine's pace applies, or if `sets` chooses one.
std::optional<PaceRange> pace_range(const trace::Summary& trace, const CpuSpec& cpu, const std::vector<std::string>& sets);

// What the sizes of an answer rest on, as a sentence: how computation was recorded, and over which range it is tried. Says of
// earlier recordings of programs that they have no computation. Empty if there is nothing to say.
std::string pace_sentence(const trace::Summary& trace, const std::optional<PaceRange>& range);

}  // namespace linebounce::sim
