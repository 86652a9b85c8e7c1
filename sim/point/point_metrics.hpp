// Metrics of one run, and rows of matrix.csv and series.csv, in the form in which they are reported.
#pragma once

#include "sim/point/point_data.hpp"
#include "workloads/program/metric_sink.hpp"

namespace linebounce::sim {

class PointMetrics final : public workloads::MetricSink {
 public:
  explicit PointMetrics(PointData& point) : point_(point) {}
  void hand_off(const workloads::HandOff& cost) override {
    point_.matrix.push_back({cost.from_cpu, cost.to_cpu, cost.home_node, cost.state, cost.latency_ns});
  }
  void series(const std::string& name, std::span<const workloads::SeriesSample> samples) override {
    for (const auto& sample : samples) point_.series.push_back({sample.time_us, name, sample.value});
  }

 protected:
  void add(const workloads::MetricDeclaration& metric, const std::string& name, workloads::MetricValue value) override {
    point_.metrics[name] = {value, metric.unit};
  }

 private:
  PointData& point_;
};

}  // namespace linebounce::sim
