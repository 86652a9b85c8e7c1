// The result of `linebounce find-sharing`, as a table and as JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/studies/advice/false_sharing.hpp"
#include "sim/studies/advice/proposals.hpp"
#include "sim/studies/advice/time_account.hpp"
#include "sim/studies/replay/orders.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// A line of a recorded run, and its cost.
struct CostlyLine {
  FalselySharedLine line;
  // Latency of misses on its objects on this line; divided in proportion to accesses if several objects have one name.
  double latency_us = 0;
  std::int64_t misses = 0;
};

// A proposal whose replays have run.
struct TriedProposal {
  Proposal proposal;
  double latency_us = 0;                       // latency of misses on all its lines, before the change
  OrdersChange change = {};                    // change of the whole program's throughput
  double misses_before = 0, misses_after = 0;  // misses served by another cache, and upgrades, in the whole run
};

// The best proposal, measured again in orders that were not used to choose it.
struct ConfirmedProposal {
  std::string name;  // the proposal's name, or kAllProposals
  OrdersChange change;
};
inline constexpr const char* kAllProposals = "all";

// The costliest line that no proposal changes.
struct UncuredLine {
  std::size_t line = 0;  // index in SharingReport::lines
  double pct = 0;        // cost of its misses, in percent of the run's time
};

struct SharingReport {
  std::string trace, machine;
  std::filesystem::path directory;
  int line_bytes = 64;                      // twice the line size if the machine fetches pairs of lines
  bool pairs = false;                       // it does
  double throughput_per_s = 0;              // as recorded
  double tries_otherwise_pct = 0;           // kTriesOtherwise, the largest over all runs without a proposal
  std::uint64_t heap_shift = 0;             // by how many bytes blocks from malloc are shifted from their recorded places
  std::vector<CostlyLine> lines;            // the costliest first
  std::vector<ElsewhereShared> elsewhere;   // lines that are not in `lines`, sorted by accesses: shared if the heap is shifted,
  std::vector<ElsewhereShared> in_pairs;    // or shared if lines are fetched in pairs
  std::size_t orders = 0;                   // number of orders in which the proposals ran
  std::vector<TriedProposal> tried;         // sorted by gain, the largest first; without proposals whose runs failed
  std::size_t untried = 0;                  // number of proposals that --top left out
  std::size_t cheap = 0;                    // number of proposals that were not worth a run,
  double cheap_pct = 0;                     // because all misses on their lines take only this share of the run's time
  std::optional<UncuredLine> uncured = {};  // none: all lines that no proposal changes cost too little to matter
  // Effect of all tried proposals together, if there are several and the runs finished.
  std::optional<OrdersChange> all = {};
  double all_misses_after = 0;                  // as TriedProposal::misses_after, with all proposals applied
  std::optional<ConfirmedProposal> again = {};  // none: no proposal gains, or the runs failed
  std::optional<TimeAccount> time = {};         // of the recorded run; none if the machine fetches pairs
  std::vector<std::string> missing = {};        // what the trace could not hold
  std::vector<std::string> assumptions = {};    // about the machine, worded by assumptions_of()
};

// The layout changes to recommend if other orders confirm them: the proposal with the largest OrdersChange::promise_pct, or
// all of them together if these promise more, by enough to be worth it. Empty if none promises a gain.
std::string best_choice(const SharingReport& report);
// The choice's effect in the orders by which it was chosen. REQUIRES: it is one of the report's proposals.
const OrdersChange& change_of(const SharingReport& report, const std::string& choice);

// "give each `cell` a cache line of its own: +12.0 % (11.2 to 12.8) throughput on p3_xeon_8way", or why there
// is no advice.
std::string advice(const SharingReport& report);

// The file for sharing_json(), in the parent folder of SharingReport::directory.
inline constexpr const char* kSharingFile = "find_sharing.json";

// `top`: number of lines to show. If there are more, the text says which file has them.
std::string sharing_text(const SharingReport& report, const trace::Symbols& symbols, std::size_t top, const Painter& paint);

// Schema linebounce.find_sharing/1. Contains all lines.
nlohmann::ordered_json sharing_json(const SharingReport& report, const trace::Symbols& symbols);

}  // namespace linebounce::sim
