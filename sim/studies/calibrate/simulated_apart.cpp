#include "sim/studies/calibrate/simulated_apart.hpp"

#include "sim/plan/process_pool.hpp"
#include "sim/point/config_error.hpp"
#include "sim/simulation/simulate.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

[[noreturn]] void raise(const Failure& failure) {
  if (failure.code == ExitCode::interrupted) throw Interrupted();
  if (failure.code == ExitCode::usage) throw ConfigError(failure.message);
  throw SimulationFailure(failure.message);
}

}  // namespace

Parameters parameters_with(const std::string& workload, const std::map<std::string, ParameterValue>& changed) {
  std::map<std::string, ParameterValue> values;
  for (const auto& parameter : find_workload(workload).parameters) values[parameter.name] = parameter.default_value;
  for (const auto& [name, value] : changed) values.at(name) = value;
  return Parameters(std::move(values));
}

void simulate_apart(const std::vector<SimulationInput>& inputs, int at_once,
                    const std::function<void(std::size_t number, const PointData&)>& keep,
                    const std::function<void(int ended)>& tick) {
  Failure failure;
  int ended = 0;
  {
    InterruptGuard guard;
    const PoolCallbacks callbacks = {
        .work = [&](int job, const std::function<void(double)>& progress) { keep(job, simulate(inputs[job], progress)); },
        .finished =
            [&](int, const JobOutcome& outcome) {
              failure = outcome.failure;
              ++ended;
              return failure.code == ExitCode::done;
            },
        .tick = [&](double) { tick(ended); },
    };
    run_in_processes(static_cast<int>(inputs.size()), at_once, guard, callbacks);
    if (guard.interrupted()) throw Interrupted();
  }
  if (failure.code != ExitCode::done) raise(failure);
}

}  // namespace linebounce::sim
