// A [[paper]] row: a published figure and the simulated metric that is compared with it.
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

// What was known about the published figure when parameters were chosen. calibrated: parameters were fitted to it. in_sight: it
// was known, but nothing was fitted to it. predicted: it was not known. input: it was set or follows from settings, so its
// agreement proves nothing.
enum class PaperKind { calibrated, in_sight, predicted, input };
constexpr std::array<std::string_view, 4> kPaperKindWords = {"calibrated", "in_sight", "predicted", "input"};
enum class Shape { none, increasing, decreasing, flat };

// The effect of a change, as published or simulated: better, worse, or not visible.
enum class ChangeSign { gain, loss, none };
constexpr std::array<std::string_view, 3> kSignWords = {"gain", "loss", "none"};
// Classes of reasons for a wrong row (docs/validation.md). In order: the experiment's guess of the load; another machine or
// number of CPUs; who gets a contended line and for how long; spinning waiters that delay the lock's releaser; overlap in an
// out-of-order core; sibling threads; a clean line that its owner supplies; anything else.
constexpr std::array<std::string_view, 8> kMissClasses = {"load",    "machine",  "turns",       "waiters",
                                                          "overlap", "siblings", "clean_owner", "other"};
// Smallest visible change, as a share of the base. Smaller ones count as no effect unless the row sets its own limit.
constexpr double kVisibleChange = 0.01;

// A [[paper]] row.
struct PaperRow {
  std::string id;
  std::vector<std::string> metrics;  // one metric, or several for a row with `order`
  std::string of = {};               // a metric of the same point by which the figure is divided; empty: none
  std::map<std::string, ConfigValue> at;
  std::optional<std::map<std::string, ConfigValue>> relative_to;  // replaces keys of `at`, to select the base point
  bool difference = false;
  std::optional<ChangeSign> sign;     // as published; requires relative_to
  double visible = kVisibleChange;    // relative changes below this count as no effect
  std::optional<Better> better = {};  // overrides the metric's declaration
  std::optional<double> value;
  std::optional<double> tolerance, tolerance_abs;
  Shape shape = Shape::none;
  std::string over;  // the swept path along which a shape's values are compared
  PaperKind kind = PaperKind::predicted;
  bool scored = true;  // false: the row is shown, but not scored
  std::string source;
  std::string miss = {};     // for a row that is off: the best fitting class of kMissClasses; empty: not classified
  std::string why_off = {};  // for a row that is off: the reason, as far as it is known
  // For a row that is off: the experiment that confirms why_off; empty: untested.
  std::string reason_tested = {};
  // For a prediction that holds: the entry of configs/breaks.toml that removes the responsible mechanism, with which the
  // prediction must fail.
  std::string broken_by = {};
  std::string table = {};  // the measured table that contains the row; empty: a [[paper]] row

  [[nodiscard]] bool is_order() const { return metrics.size() > 1; }
  // True if the figures are changes relative to the point of relative_to.
  [[nodiscard]] bool is_change() const { return relative_to && !difference; }
  // True if the source states only the direction of a change, not its size.
  [[nodiscard]] bool is_sign_alone() const { return sign && !value; }
};

std::string_view to_string(ChangeSign sign);  // "gain"

}  // namespace linebounce::sim
