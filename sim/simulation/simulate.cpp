#include "sim/simulation/simulate.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "models/failure.hpp"
#include "models/machine/machine.hpp"
#include "models/text/spelling.hpp"
#include "sim/point/config_error.hpp"
#include "sim/point/point_metrics.hpp"
#include "sim/results/metrics.hpp"
#include "sim/simulation/counter_listener.hpp"
#include "sim/simulation/idle_listener.hpp"
#include "sim/simulation/table_places.hpp"
#include "sim/simulation/timeline_recorder.hpp"
#include "sim/statistics/lock_rows.hpp"
#include "sim/statistics/statistics.hpp"
#include "sim/systemc/run.hpp"
#include "trace/reader.hpp"
#include "trace/recover.hpp"
#include "workloads/counters/counter_trial.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/lua/lua_file.hpp"
#include "workloads/native/native_lock.hpp"
#include "workloads/program/workload.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

// Forwards reports to a listener that is set later. The machine needs a listener when it is made, but the real one needs the
// finished machine's memory.
class Relay final : public Observer {
 public:
  void set(Observer& target, SimulationTap* tap) {
    target_ = &target;
    tap_ = tap;
  }
  void miss(const Miss& miss) override {
    target_->miss(miss);
    if (tap_ != nullptr) tap_->miss(miss);
  }

 private:
  Observer* target_ = nullptr;
  SimulationTap* tap_ = nullptr;
};

// Throws if `placement` names objects that the workload lacks. Called after the workload has placed its objects.
void refuse_unknown_objects(const SimulationInput& input, const AddressSpace& memory) {
  constexpr std::size_t kMostNamed = 40;
  const std::vector<std::string> objects = memory.object_names();
  for (const auto& [name, home] : input.placement) {
    if (std::ranges::find(objects, name) != objects.end()) continue;
    const std::size_t named = std::min(objects.size(), kMostNamed);
    std::string text =
        fmt::format("placement.{}: workload {} has no object of this name; its objects: {}", name, input.workload,
                    fmt::join(objects.begin(), objects.begin() + static_cast<std::ptrdiff_t>(named), ", "));
    if (named < objects.size()) text += fmt::format(" and {} more", objects.size() - named);
    if (const auto near = nearest(name, objects); !near.empty()) text += fmt::format("; did you mean {}?", near);
    throw std::invalid_argument(text);
  }
}

// If a refusal begins with a setting's path ("workload.layout: ..."), says where that setting was written.
std::string with_place(const std::string& refusal, const SimulationInput& input) {
  const std::string path = refusal.substr(0, refusal.find(": "));
  return input.located(path) + refusal.substr(path.size());
}

// The words that CPUs were spinning on when the run failed.
std::string awaited_words(Machine& machine, const AddressSpace& memory) {
  std::string text;
  for (int cpu = 0; cpu < machine.cpus(); ++cpu) {
    std::vector<std::string> names;
    for (const Address word : machine.cpu(cpu).awaited_words()) {
      const AddressSpace::Place place = memory.find(word);
      const std::string name = place.object == AddressSpace::kNoObject ? "memory without a name" : memory.symbol(place).object;
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    const std::string& function = memory.functions()[machine.cpu(cpu).function()].name;
    if (!names.empty()) text += fmt::format("  CPU {} awaits {}, in {}\n", cpu, fmt::join(names, " or "), function);
  }
  return text;
}

// Whether to repeat the failed run with EngineSpec::line_history, for a better report.
bool wants_history(const ModelFailure& failure) {
  const auto* const of_line = dynamic_cast<const LineFailure*>(&failure);
  return of_line != nullptr && !of_line->has_history();
}

// Runs the machine. If it fails, adds to the report who holds each lock, and who waits for a lock or a word. A lock's own check
// reports that already.
void run_machine(Machine& machine, LockSet& locks, const AddressSpace& memory, const std::function<void(double)>& progress,
                 SimulationTap* tap) {
  try {
    tap != nullptr ? tap->drive(machine, progress) : run_in_systemc(machine, progress);
  } catch (const LockMisuse&) {
    throw;
  } catch (const ModelFailure& failure) {
    if (wants_history(failure)) throw;
    const std::string uses = locks.describe();
    const std::string words = awaited_words(machine, memory);
    throw ModelFailure(failure.what() + (uses.empty() ? "" : "\nlocks:\n" + uses) +
                       (words.empty() ? "" : "\nwords:\n" + words));
  }
  std::vector<const Cpu*> cpus;
  for (int cpu = 0; cpu < machine.cpus(); ++cpu) cpus.push_back(&machine.cpu(cpu));
  locks.finish(cpus, machine.finished_at());
}

// Opens the trace that the workload replays; null if there is none.
std::unique_ptr<trace::Reader> open_trace(const SimulationInput& input) {
  if (input.trace.empty()) return nullptr;
  const bool recover = input.parameters.flag("recover");
  auto reader = std::make_unique<trace::Reader>(input.trace, trace::ReadOptions{.recover = recover});
  if (recover) trace::keep_what_makes_sense(*reader);
  return reader;
}

std::vector<FunctionId> user_functions(const AddressSpace& memory) {
  std::vector<FunctionId> user;
  for (std::size_t function = 0; function < memory.functions().size(); ++function) {
    if (memory.functions()[function].mode == Mode::user) user.push_back(static_cast<FunctionId>(function));
  }
  return user;
}

// Declared last in a run, so that its destructor unwinds interrupted programs before the objects that they use are destroyed.
class UnwindPrograms {
 public:
  explicit UnwindPrograms(Machine& machine) : machine_(machine) {}
  ~UnwindPrograms() {
    machine_.set_tap(nullptr);
    machine_.set_step_listener(nullptr);
    machine_.unwind_programs();
  }
  UnwindPrograms(const UnwindPrograms&) = delete;
  UnwindPrograms& operator=(const UnwindPrograms&) = delete;

 private:
  Machine& machine_;
};

template <class Entry>
std::vector<Entry> entries_of(const std::vector<SourceFile>& files, const std::function<Entry(const SourceFile&)>& entry_of) {
  std::vector<Entry> entries;
  for (const SourceFile& file : files) entries.push_back(entry_of(file));
  return entries;
}

void check_declared([[maybe_unused]] const PointData& point) {
#ifndef NDEBUG
  for (const auto& [name, metric] : point.metrics) {
    if (find_metric(name) == nullptr)
      throw std::logic_error("metric " + name + ": report() doesn't reach its line where nothing has run");
  }
#endif
}

void refuse_endless(const SimulationInput& input, const Workload& workload) {
  if (input.run.measure_us > 0 || workload.ends()) return;
  throw std::invalid_argument("run.measure_us: the programs of workload " + input.workload +
                              " never end; give the time to measure");
}

void refuse_less_than_a_tick(const SimulationInput& input, const Machine& machine) {
  if (input.run.measure_us == 0 || machine.core_spec().end > machine.core_spec().warmup_end) return;
  throw std::invalid_argument(
      fmt::format("run.measure_us: {} is less than a tick of the simulation; legal: 0, which measures "
                  "until all programs end, or at least {:.3g}",
                  input.run.measure_us, machine.timebase().to_ns(1) / 1000));
}

// A machine with a workload that is set up, before anything has run.
struct PreparedRun {
  // Errors: std::invalid_argument for what can't be built; trace::TraceError.
  explicit PreparedRun(const SimulationInput& input)
      : workload(find_workload(input.workload).create(input.parameters)),
        trace(open_trace(input)),
        machine(input.machine, input.protocols, input.engine, warmup_us(input), input.run.measure_us, relay),
        memory(machine.store(), &machine.homes(), input.placement),
        lock_files(entries_of<LockEntry>(
            input.lock_files,
            [&](const SourceFile& file) { return lock_entry_of_file(file, input.machine.cpu.pause_cycles); })),
        locks(memory, input.machine.cpus, machine.layout().cpus, lock_files, input.seed),
        counters(entries_of<CounterEntry>(input.counter_files, counter_entry_of)) {
    refuse_less_than_a_tick(input, machine);
    workload->set_up({memory, locks, input.machine, machine.layout(), input.seed, &input.layouts, trace.get(),
                      input.program.path.empty() ? nullptr : &input.program, counters});
    refuse_endless(input, *workload);
    refuse_unknown_objects(input, memory);
    tables = place_tables(input.tables, input.layouts, memory, machine.store(), machine.homes());
  }

  std::unique_ptr<Workload> workload;
  std::unique_ptr<trace::Reader> trace;
  Relay relay;
  Machine machine;
  AddressSpace memory;
  std::vector<LockEntry> lock_files;
  LockSet locks;
  std::vector<CounterEntry> counters;
  std::vector<PlacedTable> tables;
};

PointData run(const SimulationInput& input, const std::function<void(double)>& progress, SimulationTap* tap) {
  PreparedRun prepared(input);
  Machine& machine = prepared.machine;
  const AddressSpace& memory = prepared.memory;
  LockSet& locks = prepared.locks;
  Workload& workload = *prepared.workload;
  Statistics statistics(machine, memory);
  prepared.relay.set(statistics, tap);
  const Tick measured_from = machine.core_spec().warmup_end;
  TimelineRecorder timeline(measured_from, measured_from + machine.timebase().from_us(input.run.timeline_us),
                            machine.core_spec().end);
  if (input.run.record_timeline) machine.set_timeline(timeline);
  machine.set_functions(memory.functions().size(), user_functions(memory));
  for (int cpu = 0; cpu < machine.cpus(); ++cpu) {
    machine.set_program(cpu, [&workload, tap](Cpu& thread) {
      workload.run(thread);
      if (tap != nullptr) tap->program_ended(thread);
    });
  }
  if (tap != nullptr) {
    tap->set_up(workload);
    machine.set_tap(&tap->begin(machine, memory, locks));
    machine.set_step_listener(tap->listener());
  }
  const UnwindPrograms unwind(machine);
  if (progress) progress(0);
  run_machine(machine, locks, memory, progress, tap);
  machine.set_tap(nullptr);
  machine.set_step_listener(nullptr);
  PointData point;
  statistics.collect(machine, point);
  add_table_metrics(prepared.tables, statistics.placed_rows(prepared.tables), point);
  collect_locks(locks, memory, machine.timebase(), machine.measured(), machine.cpus(), statistics.lock_misses(locks), point);
  PointMetrics metrics(point);
  const std::function<const Cpu&(int)> cpu = [&machine](int number) -> const Cpu& { return machine.cpu(number); };
  const double measured_ns = machine.timebase().to_ns(machine.measured());
  workload.report({measured_ns, cpu, machine.cpus()}, metrics);
  statistics.add_latency_per_operation(measured_ns, point);
  if (input.as_recorded) Statistics::add_replay_differences(prepared.trace->summary().misses, point);
  if (tap != nullptr) tap->report(point, metrics);
  check_declared(point);
  if (tap != nullptr) tap->end(point);
  if (input.run.record_timeline) point.timeline = timeline.csv(memory, machine.timebase(), machine.store().line_bytes());
  return point;
}

}  // namespace

namespace {

// Repeats a failed run with line history on; the same configuration fails at the same tick. So only failed runs pay for
// recording it.
std::string what_failed(const SimulationInput& input, const ModelFailure& failure) {
  if (!wants_history(failure)) return failure.what();
  SimulationInput again = input;
  again.engine.line_history = true;
  try {
    run(again, {}, nullptr);
  } catch (const ModelFailure& second) {
    return second.what();
  }
  return failure.what();
}

PointData run_or_say_why(const SimulationInput& input, const std::function<void(double)>& progress, SimulationTap* tap) {
  try {
    return run(input, progress, tap);
  } catch (const ModelFailure& failure) {
    std::string text = what_failed(input, failure);
    text.insert(std::min(text.find('\n'), text.size()), " (seed " + std::to_string(input.seed) + ")");
    throw SimulationFailure(text);
  } catch (const std::invalid_argument& refused) {
    throw ConfigError(with_place(refused.what(), input));
  }
}

}  // namespace

void SimulationTap::drive(Machine& machine, const std::function<void(double)>& progress) {
  run_in_systemc(machine, progress);
}

void check_set_up(const SimulationInput& input) {
  try {
    const PreparedRun prepared(input);
    if (input.run.counters) const CounterListener counting(input);
  } catch (const std::invalid_argument& refused) {
    throw ConfigError(with_place(refused.what(), input));
  }
}

double warmup_us(const SimulationInput& input) {
  return input.run.warmup_us + (input.counter_files.empty() ? 0 : CounterTrials::kUs);
}

PointData simulate(const SimulationInput& input, const std::function<void(double)>& progress) {
  if (input.run.counters) {
    CounterListener counting(input);
    return run_or_say_why(input, progress, &counting);
  }
  IdleListener idle;
  return run_or_say_why(input, progress, input.engine.step_listener ? &idle : nullptr);
}

PointData simulate_with(SimulationTap& tap, const SimulationInput& input, const std::function<void(double)>& progress) {
  return run_or_say_why(input, progress, &tap);
}

}  // namespace linebounce::sim
