// Short names for the rows of trace/losses.hpp, the table of what a trace may lack. The recorder uses the same table.
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
