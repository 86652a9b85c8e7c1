// The results of `linebounce layout optimise` and `layout diff`, as text and as JSON.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands/layout/declared_order.hpp"
#include "sim/replay/orders.hpp"
#include "sim/terminal/terminal.hpp"
#include "trace/limits.hpp"

namespace linebounce::sim {

// A layout's effect on one machine.
struct LayoutGain {
  std::string machine;
  OrdersChange change;                         // change of the whole replay's throughput
  double misses_before = 0, misses_after = 0;  // misses of the whole replay, as counted by misses_of()
};

// A layout that was replayed on all machines.
struct TriedLayout {
  ArrangedLayout arranged;
  double cost = 0;     // as of SharedLineCosts
  bool exact = false;  // true if no layout with as many lines has a lower cost in the model
  std::vector<LayoutGain> gains = {};
};

// The change of the source, or the reason why there is none.
struct LayoutPatch {
  std::string diff, why_not, place;
  std::vector<std::string> cautions = {};
  std::string file = {};  // path of the file that contains the diff
};

struct LayoutReport {
  std::string structure, accesses;  // the file with the accesses
  StructureAccesses touched;        // accesses in a replay on the first machine
  int line_bytes = 64;
  std::optional<int> max_size = {};     // the limit that the user set
  std::size_t searched = 0;             // number of members that the search divided among lines
  double present_cost = 0;              // as of SharedLineCosts
  std::vector<TriedLayout> tried = {};  // the best first
  // Index in `tried` of the best layout; it gains on some machine and loses on none.
  std::optional<std::size_t> best = {};
  std::vector<LayoutGain> confirmed = {};  // gains of the best layout in orders that were not used to choose it
  // Of the best layout; assertions only if the accesses come from a table, not from a recording.
  std::string declaration = {}, assertions = {};
  std::optional<LayoutPatch> patch = {};      // for a recording
  std::vector<std::string> missing = {};      // sentences on what the trace does not contain
  std::string basis = {};                     // what sizes rest on, from pace_sentence()
  trace::Limits limits = {};                  // those of them, and other facts, that limit the verdict
  std::vector<std::string> assumptions = {};  // about the machines
};

std::string layout_report_text(const LayoutReport& report, const Painter& paint);
// Schema linebounce.layout/1.
nlohmann::ordered_json layout_report_json(const LayoutReport& report);

struct LayoutDiffReport {
  std::string before, after;  // the two layouts' files, as the user named them
  StructureAccesses touched;  // accesses in a replay of the layout before the change
  Layout before_layout, after_layout;
  int line_bytes = 64;
  LayoutDifference lines;
  std::vector<std::string> only_before = {}, only_after = {};  // members that only one of the layouts has
  std::vector<LayoutGain> gains = {};
  std::size_t orders = 0;
  std::vector<std::string> missing = {}, assumptions = {};
  std::string basis = {};  // as in LayoutReport
  trace::Limits limits = {};
};

// Plain text of at most 72 columns, for a commit message.
std::string layout_diff_text(const LayoutDiffReport& report);
// Schema linebounce.layout_diff/1.
nlohmann::ordered_json layout_diff_json(const LayoutDiffReport& report);

}  // namespace linebounce::sim
