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

// What was known of the figure when parameters were chosen. calibrated: they were fitted to it. in_sight: it was known, but
// nothing was fitted to it. predicted: it was not known. An input was set, or follows from settings, so it proves nothing.
enum class PaperKind { calibrated, in_sight, predicted, input };
constexpr std::array<std::string_view, 4> kPaperKindWords = {"calibrated", "in_sight", "predicted", "input"};
enum class Shape { none, increasing, decreasing, flat };

// The effect of a change, as published or simulated: better, worse, or not visible.
enum class ChangeSign { gain, loss, none };
constexpr std::array<std::string_view, 3> kSignWords = {"gain", "loss", "none"};
// The classes of reasons why a row is off (docs/validation.md): the experiment's guess of the load; another machine or number
// of CPUs; who gets a contended line and for how long; spin waiters against the releaser; overlap in an out-of-order core;
// sibling threads; a clean line from its owner; anything else.
constexpr std::array<std::string_view, 8> kMissClasses = {"load",    "machine",  "turns",       "waiters",
                                                          "overlap", "siblings", "clean_owner", "other"};
// As a share of the base; a smaller change counts as no effect unless the row says otherwise.
constexpr double kVisibleChange = 0.01;

// A [[paper]] row.
struct PaperRow {
  std::string id;
  std::vector<std::string> metrics;  // one, or several with `order`
  std::string of = {};               // the figure is divided by this metric of the same point; empty: it is not
  std::map<std::string, ConfigValue> at;
  std::optional<std::map<std::string, ConfigValue>> relative_to;  // overrides keys of `at`, to select a point of its own
  bool difference = false;
  std::optional<ChangeSign> sign;     // as published; requires relative_to
  double visible = kVisibleChange;    // a smaller relative change counts as no effect
  std::optional<Better> better = {};  // overrides the metric's declaration
  std::optional<double> value;
  std::optional<double> tolerance, tolerance_abs;
  Shape shape = Shape::none;
  std::string over;  // the swept path along which a shape is examined
  PaperKind kind = PaperKind::predicted;
  bool scored = true;  // false: the row is shown, but not scored
  std::string source;
  std::string miss = {};     // for a row that is off: the class of kMissClasses that fits best; empty: not classified
  std::string why_off = {};  // for a row that is off: the reason, as far as it is known
  // The experiment that confirms the reason; empty: the reason is untested.
  std::string reason_tested = {};
  // For a prediction that holds: the entry of configs/breaks.toml that removes the mechanism, so that the prediction fails.
  std::string broken_by = {};
  std::string table = {};  // the measured table that the row comes from; empty: a [[paper]] row

  [[nodiscard]] bool is_order() const { return metrics.size() > 1; }
  // True if the figures are relative changes from the point of relative_to.
  [[nodiscard]] bool is_change() const { return relative_to && !difference; }
  // True if the source states only the sign of a change, without a size.
  [[nodiscard]] bool is_sign_alone() const { return sign && !value; }
};

std::string_view to_string(ChangeSign sign);  // "gain"

}  // namespace linebounce::sim
