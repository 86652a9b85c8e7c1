// Feeds a timed run's protocol rows and accesses to the counters of a course (run.counters).
#pragma once

#include <memory>
#include <stdexcept>

#include "models/core/cpu_operation.hpp"
#include "models/machine/machine.hpp"
#include "sim/simulation/idle_listener.hpp"
#include "sim/statistics/class_counters.hpp"

namespace linebounce::sim {

class CounterListener final : public IdleListener {
 public:
  // REQUIRES: `input` outlives this object.
  explicit CounterListener(const SimulationInput& input) : input_(input) {}

  // Errors: std::invalid_argument for a machine with several buses, for whose transactions a course has no names.
  ProgramTap& begin(Machine& machine, const AddressSpace&, const LockSet&) override {
    if (input_.machine.has_nodes())
      throw std::invalid_argument("run.counters: counts caches on one bus; this machine has nodes; legal here: false");
    for (const CpuPlace& place : machine.layout().cpus) core_of_cpu_.push_back(place.core);
    line_bytes_ = machine.store().line_bytes();
    from_ = machine.core_spec().warmup_end;
    until_ = machine.core_spec().end;
    const std::int64_t bytes = std::int64_t{kKibibyte} * input_.machine.caches.back().size_kib;
    counters_ = std::make_unique<ClassCounters>(input_.protocols.bus, machine.layout().cores_on_bus.front(), line_bytes_,
                                                bytes / line_bytes_);
    return *this;
  }

  void row_ran(Tick time, Controller controller, int cache, LineAddr line, StateId state, EventId event, StateId) override {
    if (controller != Controller::cache) return;
    at(time);
    counters_->row_ran(cache, line, state, event);
  }
  void access_ran(Tick time, int cache, CpuId, const Operation& operation, Value, Value, Served served) override {
    at(time);
    counters_->access_ran(cache, operation.address, operation.bytes, operation.writes(), served == Served::hit);
  }
  void load_forwarded(Tick time, CpuId cpu, const Operation&, Value) override {
    at(time);
    counters_->load_forwarded(core_of_cpu_[static_cast<std::size_t>(cpu.value)]);
  }

  void report(const PointData& point, workloads::MetricSink& metrics) override {
    std::vector<ClassCounts> counts;
    for (int cache = 0; cache < counters_->caches(); ++cache) counts.push_back(counters_->of(cache));
    report_class_counters(counts, point.cpi, core_of_cpu_, metrics);
  }

 private:
  static constexpr int kKibibyte = 1024;
  void at(Tick time) { counters_->set_on(time >= from_ && time < until_); }

  const SimulationInput& input_;
  std::vector<int> core_of_cpu_;
  int line_bytes_ = 1;
  Tick from_ = 0, until_ = 0;
  std::unique_ptr<ClassCounters> counters_;
};

}  // namespace linebounce::sim
