// A metric is declared where it is reported: its name, unit, direction and meaning stand in the same line as its value.
//
//   metrics.mean("tasklist.walk_mean_us", "us", kLower, "time of a walk, mean", walk_ns / 1000, walks);
//
// The catalogue of metrics (sim/results/metrics.hpp) comes from these lines, too: it calls every report() without a run behind
// it. So each line must be reached whatever was counted, and what a run has no value for is left out by an empty optional or by
// a mean of no samples, not by an `if` around the line.
//
// Several seeds of a point merge as the mean over the runs that have the metric (sim/results/merge_seeds.hpp).
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
  // A name, or what its names have in common: <word> stands for a part without dots, <word...> for one or several parts, and a
  // single letter, <i>, for a number.
  std::string pattern;
  std::string unit;
  Better better;
  std::string meaning;
  bool headline = true;  // shown first where a workload names fewer such metrics than there is room for; kDetail: not

  bool operator==(const MetricDeclaration&) const = default;
};

using MetricValue = std::variant<std::int64_t, double>;  // counts are integers and stay exact

// What a line costs that one CPU hands over to another: one row of matrix.csv.
struct HandOff {
  int from_cpu = 0;
  int to_cpu = 0;
  int home_node = 0;
  std::string state;  // in which from_cpu left the line: "Modified", "Exclusive", "Shared"
  double latency_ns = 0;
};

// What a quantity was at a time, or since the sample before it: one row of series.csv.
struct SeriesSample {
  double time_us = 0;  // since the simulation began
  double value = 0;
};

class MetricFamily;

// Takes metrics, and the rows of two other files.
class MetricSink {
 public:
  virtual ~MetricSink() = default;
  void count(const std::string& name, const char* unit, Better better, const char* meaning, std::optional<std::int64_t> value,
             bool headline = true);
  void value(const std::string& name, const char* unit, Better better, const char* meaning, std::optional<double> value,
             bool headline = true);
  // sum / samples; nothing of no samples.
  void mean(const std::string& name, const char* unit, Better better, const char* meaning, double sum, std::int64_t samples,
            bool headline = true);
  // Metrics whose names differ in the placeholders of one pattern.
  MetricFamily family(const std::string& pattern, const char* unit, Better better, const char* meaning, bool headline = true);
  // Rows in the order in which the file is to have them.
  virtual void hand_off(const HandOff&) {}
  // A quantity over time, warm-up included. Its name says its unit: "rcu.grace_period_ms".
  virtual void series(const std::string& /*name*/, std::span<const SeriesSample> /*in the order of time*/) {}

 protected:
  friend class MetricFamily;
  // Once for each line that is reached, before its values.
  virtual void declare(const MetricDeclaration&) {}
  virtual void add(const MetricDeclaration& metric, const std::string& name, MetricValue value) = 0;
};

class MetricFamily {
 public:
  MetricFamily(MetricSink& metrics, MetricDeclaration declaration) : metrics_(metrics), declaration_(std::move(declaration)) {
    metrics_.declare(declaration_);
  }
  // `parts`: what stands for the placeholders, in their order.
  void add(std::initializer_list<std::string_view> parts, MetricValue value) const;

 private:
  MetricSink& metrics_;
  MetricDeclaration declaration_;
};

// What a part of a workload has counted; nothing, where the workload was never set up and has no parts.
template <class Part>
auto figures_of(const Part& part) {
  using Figures = std::remove_cvref_t<decltype(part->figures())>;
  return part ? part->figures() : Figures{};
}

}  // namespace linebounce::workloads
