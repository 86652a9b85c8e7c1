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
  double latency_us = 0;  // of misses on its objects there; divided by accesses if several objects share a name
  std::int64_t misses = 0;
};

// A proposal that has been run.
struct TriedProposal {
  Proposal proposal;
  double latency_us = 0;                       // on all its lines, before the change
  OrdersChange change = {};                    // of the whole program's throughput
  double misses_before = 0, misses_after = 0;  // misses served by another cache, and upgrades, in the whole run
};

// The best proposal again, in orders that had no part in its choice.
struct ConfirmedProposal {
  std::string name;  // of the proposal, or kAllProposals
  OrdersChange change;
};
inline constexpr const char* kAllProposals = "all";

// The costliest line that no proposal changes.
struct UncuredLine {
  std::size_t line = 0;  // index in SharingReport::lines
  double pct = 0;        // of the run's time, for its misses
};

struct SharingReport {
  std::string trace, machine;
  std::filesystem::path directory;
  int line_bytes = 64;                      // the size of a pair of lines if the machine fetches pairs
  bool pairs = false;                       // it does
  double throughput_per_s = 0;              // as recorded
  double tries_otherwise_pct = 0;           // kTriesOtherwise, the largest over all runs without a proposal
  std::uint64_t heap_shift = 0;             // bytes by which blocks from malloc are moved from their recorded places
  std::vector<CostlyLine> lines;            // the costliest first
  std::vector<ElsewhereShared> elsewhere;   // lines beyond `lines`, with most accesses first: with the heap shifted,
  std::vector<ElsewhereShared> in_pairs;    // or in pairs of lines
  std::size_t orders = 0;                   // in how many orders the proposals ran
  std::vector<TriedProposal> tried;         // the largest gain first; without those whose runs failed
  std::size_t untried = 0;                  // number of proposals that --top left out
  std::size_t cheap = 0;                    // number of proposals not worth a run,
  double cheap_pct = 0;                     // because all misses on their lines take only this share of the recorded run's time
  std::optional<UncuredLine> uncured = {};  // none: all lines that no proposal changes are too cheap to matter
  std::optional<OrdersChange> all = {};     // of all tried proposals together, if there are several and the runs finished
  double all_misses_after = 0;              // as TriedProposal::misses_after, with all of them
  std::optional<ConfirmedProposal> again = {};  // none: nothing gains, or the runs failed
  std::optional<TimeAccount> time = {};         // of the recorded run; none if the machine fetches pairs
  std::vector<std::string> missing = {};        // what the trace could not hold
  std::vector<std::string> assumptions = {};    // about the machine, worded by assumptions_of()
};

// The layout changes to recommend if other orders confirm them: the most promising proposal (OrdersChange::promise_pct), or all
// of them if they promise more by a change's worth. Empty: none promises anything.
std::string best_choice(const SharingReport& report);
// The choice's effect in the orders that it was chosen by. REQUIRES: it is one of the report's.
const OrdersChange& change_of(const SharingReport& report, const std::string& choice);

// "give each `cell` a cache line of its own: +12.0 % (11.2 to 12.8) throughput on p3_xeon_8way", or why there
// is no advice.
std::string advice(const SharingReport& report);

// The file for sharing_json() in the folder above SharingReport::directory.
inline constexpr const char* kSharingFile = "find_sharing.json";

// `top`: the number of lines shown; the text says where the others are.
std::string sharing_text(const SharingReport& report, const trace::Symbols& symbols, std::size_t top, const Painter& paint);

// Schema linebounce.find_sharing/1. Has all lines.
nlohmann::ordered_json sharing_json(const SharingReport& report, const trace::Symbols& symbols);

}  // namespace linebounce::sim
