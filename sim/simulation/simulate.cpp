#include "sim/simulation/simulate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/failure.hpp"
#include "models/text/spelling.hpp"
#include "sim/config/config_error.hpp"
#include "sim/simulation/statistics.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/registry.hpp"

namespace linebounce {

namespace {

class PointMetrics final : public MetricSink {
 public:
  explicit PointMetrics(PointData& point) : point_(point) {}
  void metric(const std::string& name, double value, const std::string& unit) override { point_.metrics[name] = {value, unit}; }
  void count(const std::string& name, std::int64_t value) override { point_.metrics[name] = {value, ""}; }
  void handover(const Handover& cost) override {
    point_.matrix.push_back({cost.from_cpu, cost.to_cpu, cost.home_node, cost.state, cost.latency_ns});
  }

 private:
  PointData& point_;
};

// The machine wants its listener before the listener can know the machine's memory.
class Relay final : public Observer {
 public:
  void set(Observer& target) { target_ = &target; }
  void miss(const Miss& miss) override { target_->miss(miss); }

 private:
  Observer* target_ = nullptr;
};

// The configuration may place any object by name; which there are is known once the workload has set up its memory.
void refuse_unknown_objects(const SimulationInput& input, const AddressSpace& memory) {
  constexpr std::size_t kMostNamed = 40;
  const std::vector<std::string> objects = memory.object_names();
  for (const auto& [name, home] : input.placement) {
    if (std::find(objects.begin(), objects.end(), name) != objects.end()) continue;
    const std::size_t named = std::min(objects.size(), kMostNamed);
    std::string text =
        fmt::format("placement.{}: workload {} has no object of this name; its objects: {}", name, input.workload,
                    fmt::join(objects.begin(), objects.begin() + static_cast<std::ptrdiff_t>(named), ", "));
    if (named < objects.size()) text += fmt::format(" and {} more", objects.size() - named);
    if (const auto near = nearest(name, objects); !near.empty()) text += fmt::format("; did you mean {}?", near);
    throw ConfigError(text);
  }
}

PointData run(const SimulationInput& input, const std::function<void(double)>& progress) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);  // "stopped by user"
  const auto entry =
      std::find_if(workloads().begin(), workloads().end(), [&](const WorkloadEntry& w) { return w.name == input.workload; });
  const std::unique_ptr<Workload> workload = entry->create(input.parameters);
  if (input.run.measure_us == 0 && !workload->ends()) {
    throw std::invalid_argument("run.measure_us: the programs of workload " + input.workload +
                                " never end; give the time to measure");
  }
  Relay relay;
  Machine machine(input.machine, input.protocols, input.engine, input.run.warmup_us, input.run.measure_us, relay);
  AddressSpace memory(machine.store(), &machine.homes(), input.placement);
  workload->set_up({memory, input.machine, machine.layout(), input.seed});
  refuse_unknown_objects(input, memory);
  Statistics statistics(machine, memory);
  relay.set(statistics);
  machine.set_functions(memory.functions().size());
  for (int cpu = 0; cpu < machine.cpus(); ++cpu) {
    machine.set_program(cpu, [&workload](Cpu& thread) { workload->run(thread); });
  }
  machine.run(progress);
  PointData point;
  statistics.collect(machine, point);
  PointMetrics metrics(point);
  const std::function<const Cpu&(int)> cpu = [&machine](int number) -> const Cpu& { return machine.cpu(number); };
  workload->report({machine.timebase().to_ns(machine.measured()), cpu, machine.cpus()}, metrics);
  return point;
}

}  // namespace

PointData simulate(const SimulationInput& input, const std::function<void(double)>& progress) {
  try {
    return run(input, progress);
  } catch (const ModelFailure& failure) {
    throw SimulationFailure(std::string(failure.what()) + "\nseed " + std::to_string(input.seed));
  } catch (const std::invalid_argument& refused) {
    throw ConfigError(refused.what());
  }
}

}  // namespace linebounce
