// A workload declares a metric where it reports the metric: the name, unit, direction and meaning are arguments of the call
// that gives the value.
//
//   metrics.mean("tasklist.walk_mean_us", "us", kLower, "time of a walk, mean", walk_ns / 1000, walks);
//
// The catalogue of metrics (sim/results/metrics.hpp) collects the same declarations by calling every report() without a run. So
// a report() must make every such call whatever the run has counted. It omits a value by an empty optional or a mean of no
// samples, not by an `if` around the call.
//
// A point that runs with several seeds gets the mean over the runs that have the metric (sim/results/merge_seeds.hpp).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace linebounce::workloads {

enum class Better { higher, lower, neither };
inline constexpr Better kHigher = Better::higher;
inline constexpr Better kLower = Better::lower;
inline constexpr Better kNeither = Better::neither;

inline constexpr bool kDetail = false;

struct MetricDeclaration {
  // The metric's name, or for a family a pattern of names. Names have parts separated by dots. In a pattern, <word> stands for
  // one part, <word...> for one or more parts, and a single letter such as <i> for a number.
  std::string pattern;
  std::string unit;
  Better better;
  std::string meaning;
  bool headline = true;  // true: may be shown first if the workload names too few headlines; false is kDetail

  bool operator==(const MetricDeclaration&) const = default;
};

using MetricValue = std::variant<std::int64_t, double>;  // counts are integers, so they stay exact

// The latency of a cache line's transfer from one CPU to another: one row of matrix.csv.
struct HandOff {
  int from_cpu = 0;
  int to_cpu = 0;
  int home_node = 0;
  std::string state;  // the state in which from_cpu left the line: "Modified", "Exclusive" or "Shared"
  double latency_ns = 0;
};

// A quantity's value at a time, or over the time since the previous sample: one row of series.csv.
struct SeriesSample {
  double time_us = 0;  // time since the simulation began
  double value = 0;
};

class MetricFamily;

// Receives the metrics of a report(), and the rows of matrix.csv and series.csv.
class MetricSink {
 public:
  virtual ~MetricSink() = default;
  void count(const std::string& name, const char* unit, Better better, const char* meaning, std::optional<std::int64_t> value,
             bool headline = true);
  void value(const std::string& name, const char* unit, Better better, const char* meaning, std::optional<double> value,
             bool headline = true);
  // Reports sum / samples, or no value if there are no samples.
  void mean(const std::string& name, const char* unit, Better better, const char* meaning, double sum, std::int64_t samples,
            bool headline = true);
  // Declares metrics whose names differ only in the placeholders of `pattern`.
  MetricFamily family(const std::string& pattern, const char* unit, Better better, const char* meaning, bool headline = true);
  // Adds a row of matrix.csv. The caller determines the order of the rows.
  virtual void hand_off(const HandOff&) {}
  // Adds a quantity over time, including the warm-up. The name ends with the unit: "rcu.grace_period_ms".
  virtual void series(const std::string& /*name*/, std::span<const SeriesSample> /*sorted by time*/) {}

 protected:
  friend class MetricFamily;
  // Called once by each count(), value(), mean() and family(), before the values are added.
  virtual void declare(const MetricDeclaration&) {}
  virtual void add(const MetricDeclaration& metric, const std::string& name, MetricValue value) = 0;
};

class MetricFamily {
 public:
  MetricFamily(MetricSink& metrics, MetricDeclaration declaration) : metrics_(metrics), declaration_(std::move(declaration)) {
    metrics_.declare(declaration_);
  }
  // Adds the metric whose name is the pattern with its placeholders replaced by `parts`, in order.
  void add(std::initializer_list<std::string_view> parts, MetricValue value) const;

 private:
  MetricSink& metrics_;
  MetricDeclaration declaration_;
};

// Returns part->figures(), or empty figures if `part` is null because the workload was never set up.
template <class Part>
auto figures_of(const Part& part) {
  using Figures = std::remove_cvref_t<decltype(part->figures())>;
  return part ? part->figures() : Figures{};
}

}  // namespace linebounce::workloads
