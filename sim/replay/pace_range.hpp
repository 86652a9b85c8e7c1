// How fast a recorded program computes on another machine is known only as a range: answers are tried at both ends of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/cpu_spec.hpp"
#include "sim/replay/replay_study.hpp"
#include "trace/summary.hpp"

namespace linebounce::sim {

struct PaceRange {
  double usual = 0, fast = 0, slow = 0;  // cycles of an instruction
};

enum class PaceEnd : std::uint8_t { fast, slow };
inline constexpr std::array kPaceEnds = {PaceEnd::fast, PaceEnd::slow};

// None if the trace does not tell its instructions, so that no machine's pace applies, or if `sets` chooses one.
std::optional<PaceRange> pace_range(const trace::Summary& trace, const CpuSpec& cpu, const std::vector<std::string>& sets);
// Likewise, for the study's machine and settings.
std::optional<PaceRange> pace_range(const trace::Summary& trace, const ReplayStudy& study);
// The study at an end of the range, with the end's name.
ReplayStudy at_end(ReplayStudy study, const PaceRange& range, PaceEnd end);

// What the sizes of an answer rest on, as a sentence: how computation was recorded, and over which range it is tried. Says of
// earlier recordings of programs that they have no computation. Empty if there is nothing to say.
std::string pace_sentence(const trace::Summary& trace, const std::optional<PaceRange>& range);

}  // namespace linebounce::sim
