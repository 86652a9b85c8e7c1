// The result of `linebounce find-sharing`, as a table and as JSON.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands/advise/false_sharing.hpp"
#include "commands/advise/proposals.hpp"
#include "commands/advise/time_account.hpp"
#include "sim/replay/orders.hpp"
#include "sim/terminal/terminal.hpp"
#include "trace/limits.hpp"

namespace linebounce::sim {

// A line of a recorded run, and its cost.
struct CostlyLine {
  FalselySharedLine line;
  // Latency of misses on the line's objects, on this line only. If several objects have one name, they share the name's
  // misses in proportion to their accesses.
  double latency_us = 0;
  std::int64_t misses = 0;
};

// A proposal whose replays have run.
struct TriedProposal {
  Proposal proposal;
  double latency_us = 0;                       // latency of misses on all lines that the proposal changes, before the change
  OrdersChange change = {};                    // change of the whole program's throughput
  double misses_before = 0, misses_after = 0;  // of the whole run: misses that another cache served, and upgrades
};

// The best proposal, measured again in orders that were not used to choose it.
struct ConfirmedProposal {
  std::string name;  // the proposal's name, or kAllProposals
  OrdersChange change;
};
inline constexpr const char* kAllProposals = "all";

// The costliest line that no proposal would change.
struct UncuredLine {
  std::size_t line = 0;  // index in SharingReport::lines
  double pct = 0;        // latency of the line's misses, in percent of the run's time
};

struct SharingReport {
  std::string trace, machine;
  std::filesystem::path directory;
  int line_bytes = 64;             // twice the machine's line size if it fetches pairs of lines
  bool pairs = false;              // true if the machine fetches lines in pairs
  double throughput_per_s = 0;     // as recorded
  double tries_otherwise_pct = 0;  // kTriesOtherwise: the largest of all runs without a proposal
  std::uint64_t heap_shift = 0;    // bytes by which blocks from malloc are shifted from their recorded places
  std::vector<CostlyLine> lines;   // the costliest first
  // Lines that would be falsely shared if the heap were shifted, the most accesses first.
  std::vector<ElsewhereShared> elsewhere;
  // Lines that would be falsely shared if lines were fetched in pairs, the most accesses first.
  std::vector<ElsewhereShared> in_pairs;
  std::size_t orders = 0;            // in how many orders each proposal ran
  std::vector<TriedProposal> tried;  // sorted by gain, the largest first; without proposals whose runs failed
  std::size_t untried = 0;           // number of proposals that --top left out
  std::size_t cheap = 0;             // number of proposals that were not run, because misses on their lines cost too little
  // Latency of all misses on the lines of these proposals, in percent of the run's time.
  double cheap_pct = 0;
  std::optional<UncuredLine> uncured = {};  // the costliest line that no proposal changes; none: such lines cost too little
  // Effect of all tried proposals together, if there are several and the runs finished.
  std::optional<OrdersChange> all = {};
  double all_misses_after = 0;                  // as TriedProposal::misses_after, for all proposals together
  std::optional<ConfirmedProposal> again = {};  // none: no proposal gains, or the confirming runs failed
  std::optional<TimeAccount> time = {};         // of the recorded run; none if the machine fetches pairs
  std::vector<std::string> missing = {};        // sentences on what the trace does not contain
  std::string basis = {};                       // what sizes rest on, from pace_sentence()
  trace::Limits limits = {};                    // those of them, and other facts, that limit the verdict
  std::vector<std::string> assumptions = {};    // sentences about the machine, from assumptions_of()
};

// The layout changes to recommend if other orders confirm them: the proposal with the largest OrdersChange::promise_pct, or
// kAllProposals if all together promise more by at least kWorthIt. Empty if none promises a gain.
std::string best_choice(const SharingReport& report);
// The effect of `choice` in the orders by which it was chosen. REQUIRES: it is kAllProposals or a tried proposal's name.
const OrdersChange& change_of(const SharingReport& report, const std::string& choice);

// "give each `cell` a cache line of its own: +12.0 % (11.2 to 12.8) throughput on p3_xeon_8way", or why there
// is no advice.
std::string advice(const SharingReport& report);

// Name of the file with sharing_json(). It lies in the parent folder of SharingReport::directory.
inline constexpr const char* kSharingFile = "find_sharing.json";

// `top`: number of lines to show. If there are more, the text says which file has them.
std::string sharing_text(const SharingReport& report, const trace::Symbols& symbols, std::size_t top, const Painter& paint);

// Schema linebounce.find_sharing/1. Contains all lines.
nlohmann::ordered_json sharing_json(const SharingReport& report, const trace::Symbols& symbols);

}  // namespace linebounce::sim
