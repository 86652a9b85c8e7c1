// What `linebounce find-sharing` has found, as a table and as JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/studies/advice/proposals.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// Lines of a recorded run, and what they cost there.
struct CostlyLine {
  FalselySharedLine line;
  double latency_us = 0;  // of misses on its objects there; of several objects of one name by their shares of the accesses
  std::int64_t misses = 0;
};

// A proposal that has been run.
struct TriedProposal {
  Proposal proposal;
  double latency_us = 0;                       // of all its lines, before
  double throughput_pct = 0;                   // change of the whole program's
  double misses_before = 0, misses_after = 0;  // lines that went from one cache to another or were upgraded, in the whole run
};

struct SharingReport {
  std::string trace, machine;
  std::filesystem::path directory;
  int line_bytes = 64;
  double throughput_per_s = 0;                    // as recorded
  std::vector<CostlyLine> lines;                  // the costliest first
  std::vector<TriedProposal> tried;               // that with the largest gain first; without those whose runs failed
  std::size_t untried = 0;                        // proposals that --top left out
  std::optional<double> all_throughput_pct = {};  // with all that were tried together, unless that run failed
  std::vector<std::string> missing = {};          // what the trace could not hold
};

// In the folder above SharingReport::directory: sharing_json.
inline constexpr const char* kSharingFile = "find_sharing.json";

// `top`: so many lines; where the others are is said.
std::string sharing_text(const SharingReport& report, const trace::Symbols& symbols, std::size_t top, const Painter& paint);

// Schema linebounce.find_sharing/1. All lines.
nlohmann::ordered_json sharing_json(const SharingReport& report, const trace::Symbols& symbols);

}  // namespace linebounce::sim
