// Paper rows beside simulated figures, as a table for the terminal.
#pragma once

#include <string>
#include <vector>

#include "sim/results/paper.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

std::string name_of(PaperKind kind);  // for people: "in sight"

// Counts the scored rows that are within their tolerance.
struct Score {
  int within = 0;
  int of = 0;
};
Score score_of(const std::vector<PaperResult>& rows, PaperKind kind);

// "12.9 ns"; for a change "+43.0 %"; empty if no figure was published.
std::string published_value(const PaperRow& row, const std::string& unit);

// The rows, grouped by source. Leaves out those of measured tables (see measured_view.hpp).
std::string paper_table(const std::vector<PaperResult>& rows, const Painter& paint);

// "within tolerance: calibrated 5 of 5, in sight 3 of 4, predicted 2 of 3"; empty when nothing was scored.
std::string score_text(const std::vector<PaperResult>& rows, const Painter& paint);

}  // namespace linebounce::sim
