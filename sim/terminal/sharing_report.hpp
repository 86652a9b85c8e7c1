// What `linebounce find-sharing` has found, as a table and as JSON.
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
  OrdersChange change = {};                    // of the whole program's throughput
  double misses_before = 0, misses_after = 0;  // lines that went from one cache to another or were upgraded, in the whole run
};

// The best of them once more, in orders that had no part in its choice.
struct ConfirmedProposal {
  std::string name;  // of the proposal; kAllProposals
  OrdersChange change;
};
inline constexpr const char* kAllProposals = "all";

// The costliest line that no proposal changes.
struct UncuredLine {
  std::size_t line = 0;  // of SharingReport::lines
  double pct = 0;        // of the run's time, for its misses
};

struct SharingReport {
  std::string trace, machine;
  std::filesystem::path directory;
  int line_bytes = 64;                          // of a pair of lines where the machine fetches pairs
  bool pairs = false;                           // it does
  double throughput_per_s = 0;                  // as recorded
  double tries_otherwise_pct = 0;               // kTriesOtherwise, the largest of all runs without a proposal
  std::uint64_t heap_shift = 0;                 // bytes by which blocks from malloc lie behind where they lay
  std::vector<CostlyLine> lines;                // the costliest first
  std::vector<ElsewhereShared> elsewhere;       // what `lines` have not, with most accesses first: by a shift of the heap,
  std::vector<ElsewhereShared> in_pairs;        // or in pairs of lines
  std::size_t orders = 0;                       // in which the proposals were run
  std::vector<TriedProposal> tried;             // that with the largest gain first; without those whose runs failed
  std::size_t untried = 0;                      // proposals that --top left out
  std::size_t cheap = 0;                        // and those that are not worth a run,
  double cheap_pct = 0;                         // for all misses on their lines take this share of the recorded run's time
  std::optional<UncuredLine> uncured = {};      // none: what no proposal changes is too cheap to matter
  std::optional<OrdersChange> all = {};         // of all that were tried together, if they are several and the runs finished
  double all_misses_after = 0;                  // as TriedProposal::misses_after, with all of them
  std::optional<ConfirmedProposal> again = {};  // none: nothing gains, or the runs failed
  std::optional<TimeAccount> time = {};         // of the recorded run; none where the machine fetches pairs
  std::vector<std::string> missing = {};        // what the trace could not hold
  std::vector<std::string> assumptions = {};    // about the machine, as assumptions_of() words them
};

// The choice of layout changes to advise, if it proves itself in other orders: the proposal that promises most
// (OrdersChange::promise_pct), or all of them if they promise more by a change's worth. Empty: none promises anything.
std::string best_choice(const SharingReport& report);
// What the choice has done in the orders that it comes from. REQUIRES: it is one of the report's.
const OrdersChange& change_of(const SharingReport& report, const std::string& choice);

// "give each `cell` a cache line of its own: +12.0 % (11.2 to 12.8) throughput on p3_xeon_8way", or why there
// is no advice.
std::string advice(const SharingReport& report);

// In the folder above SharingReport::directory: sharing_json.
inline constexpr const char* kSharingFile = "find_sharing.json";

// `top`: so many lines; where the others are is said.
std::string sharing_text(const SharingReport& report, const trace::Symbols& symbols, std::size_t top, const Painter& paint);

// Schema linebounce.find_sharing/1. All lines.
nlohmann::ordered_json sharing_json(const SharingReport& report, const trace::Symbols& symbols);

}  // namespace linebounce::sim
