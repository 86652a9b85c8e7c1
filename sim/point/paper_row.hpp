// A [[paper]] row: a published figure and which simulated metric is held against it.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/point/config_value.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

using workloads::Better;

// What a row's figure was to whoever chose the parameters: they were fitted to it; chosen with it known, but not fitted to it;
// chosen without it. An input was set, or follows from what was: nothing is to be found out.
enum class PaperKind { calibrated, in_sight, predicted, input };
constexpr std::array<std::string_view, 4> kPaperKindWords = {"calibrated", "in_sight", "predicted", "input"};
enum class Shape { none, increasing, decreasing, flat };

// What a change did, to whoever published it or in the simulation: better, worse, or nothing that could be seen.
enum class ChangeSign { gain, loss, none };
constexpr std::array<std::string_view, 3> kSignWords = {"gain", "loss", "none"};
// What the simulator lacks where a row is off (docs/validation.md): the experiment's guess of the load; another machine or
// number of CPUs; who gets a contended line and for how long; spin waiters against the releaser; overlap in a core out of
// order; sibling threads; a clean line from its owner; anything else.
constexpr std::array<std::string_view, 8> kMissClasses = {"load",    "machine",  "turns",       "waiters",
                                                          "overlap", "siblings", "clean_owner", "other"};
constexpr double kVisibleChange = 0.01;  // of the base; less is no effect unless a row says otherwise

// One [[paper]] row.
struct PaperRow {
  std::string id;
  std::vector<std::string> metrics;  // one, or several with `order`
  std::string of = {};               // the metric of the same point that it is divided by; empty: none
  std::map<std::string, ConfigValue> at;
  std::optional<std::map<std::string, ConfigValue>> relative_to;  // laid over `at`: selects a point by itself
  bool difference = false;
  std::optional<ChangeSign> sign;     // as published, with relative_to
  double visible = kVisibleChange;    // a smaller change of the base's value is no effect
  std::optional<Better> better = {};  // where the metric's declaration doesn't say it
  std::optional<double> value;
  std::optional<double> tolerance, tolerance_abs;
  Shape shape = Shape::none;
  std::string over;  // the swept path that a shape is looked at along
  PaperKind kind = PaperKind::predicted;
  bool scored = true;  // false: the row is shown, but decides nothing
  std::string source;
  std::string miss = {};     // if the row is off: which of kMissClasses fits best; empty: not classed
  std::string why_off = {};  // what is known of the reason, if the row is off
  // The experiment that shows that the reason is the right one; empty: nobody has tested it.
  std::string reason_tested = {};
  // Of a prediction: the entry of configs/breaks.toml that takes its mechanism away, and the row with it.
  std::string broken_by = {};
  std::string table = {};  // the id of the measured table that it is a row of; empty: a [[paper]] row

  [[nodiscard]] bool is_order() const { return metrics.size() > 1; }
  // Its figures say by what share of relative_to's point the row's own is more or less.
  [[nodiscard]] bool is_change() const { return relative_to && !difference; }
  // A published sign, and no figure of a size.
  [[nodiscard]] bool is_sign_alone() const { return sign && !value; }
};

std::string_view to_string(ChangeSign sign);  // "gain"

}  // namespace linebounce::sim
