// Gives this folder short names for the table of trace/losses.hpp, which the recorder uses too.
#pragma once

#include "trace/losses.hpp"

namespace linebounce::sim {

using trace::facts_of;
using trace::facts_text;
using trace::FoundLoss;
using trace::is_reconstruction;
using trace::kAssumedMhz;
using trace::kLossKinds;
using trace::kReconstructed;
using trace::kSeverityNames;
using trace::Loss;
using trace::Losses;
using trace::LossKind;
using trace::Severity;

}  // namespace linebounce::sim
