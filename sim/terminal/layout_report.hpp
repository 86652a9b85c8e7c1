// The results of `linebounce layout optimise` and `layout diff`, as text and as JSON.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/studies/layout/declared_order.hpp"
#include "sim/studies/replay/orders.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// A layout's effect on one machine.
struct LayoutGain {
  std::string machine;
  OrdersChange change;                         // of the whole replay's throughput
  double misses_before = 0, misses_after = 0;  // of the whole replay, as of misses_of()
};

// A layout that was replayed on all machines.
struct TriedLayout {
  ArrangedLayout arranged;
  double cost = 0;     // as of SharedLineCosts
  bool exact = false;  // true if no layout with as many lines costs less
  std::vector<LayoutGain> gains = {};
};

// The change of the source, or the reason why there is none.
struct LayoutPatch {
  std::string diff, why_not, place;
  std::vector<std::string> cautions = {};
  std::string file = {};  // where the diff was written
};

struct LayoutReport {
  std::string structure, accesses;  // the file with the accesses
  StructureAccesses touched;        // from a replay on the first machine
  int line_bytes = 64;
  std::optional<int> max_size = {};               // the limit that the user set
  std::size_t searched = 0;                       // members that the search divided among lines
  double present_cost = 0;                        // as of SharedLineCosts
  std::vector<TriedLayout> tried = {};            // the best first
  std::optional<std::size_t> best = {};           // of `tried`: gains on some machine and loses on none
  std::vector<LayoutGain> confirmed = {};         // the best again, in other orders
  std::string declaration = {}, assertions = {};  // of the best; assertions only for a table, which is the kernel's
  std::optional<LayoutPatch> patch = {};          // for a recording
  std::vector<std::string> missing = {};          // what the trace could not hold
  std::vector<std::string> assumptions = {};      // about the machines
};

std::string layout_report_text(const LayoutReport& report, const Painter& paint);
// Schema linebounce.layout/1.
nlohmann::ordered_json layout_report_json(const LayoutReport& report);

struct LayoutDiffReport {
  std::string before, after;  // as the user names them
  StructureAccesses touched;  // from a replay of the layout before the change
  Layout before_layout, after_layout;
  int line_bytes = 64;
  LayoutDifference lines;
  std::vector<std::string> only_before = {}, only_after = {};  // members that only one of the layouts has
  std::vector<LayoutGain> gains = {};
  std::size_t orders = 0;
  std::vector<std::string> missing = {}, assumptions = {};
};

// Plain text of at most 72 columns, for a commit message.
std::string layout_diff_text(const LayoutDiffReport& report);
// Schema linebounce.layout_diff/1.
nlohmann::ordered_json layout_diff_json(const LayoutDiffReport& report);

}  // namespace linebounce::sim
