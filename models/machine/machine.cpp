#include "models/machine/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

#include "models/failure.hpp"

namespace linebounce {
namespace {

Timebase make_timebase(const MachineSpec& spec) {
  const std::array<Frequency, 2> clocks{spec.cpu.clock, spec.bus.clock};
  return Timebase(clocks);
}

// Refuses protocols that the `check` command can prove but this machine cannot run.
void refuse_unfit(const MachineSpec& spec, const MachineProtocols& protocols) {
  const auto refuse = [](const std::string& key, const Protocol& protocol, const char* why) {
    throw std::invalid_argument(key + ": " + protocol.name + " " + why);
  };
  if (protocols.bus.kind != ProtocolKind::bus) refuse("machine.bus.protocol", protocols.bus, "is not for a bus");
  if (protocols.bus.bus != BusKind::split)
    refuse("machine.bus.protocol", protocols.bus, "is for an atomic bus; the machine's bus has split transactions");
  if (!spec.has_nodes()) {
    if (protocols.bus.memory.states.size() > 1)
      refuse("machine.bus.protocol", protocols.bus, "has a memory with states; the memory behind the machine's bus keeps none");
    return;
  }
  if (protocols.node.kind != ProtocolKind::node) refuse("machine.node.protocol", protocols.node, "has no node controller");
  if (protocols.directory.kind != ProtocolKind::directory)
    refuse("machine.directory.protocol", protocols.directory, "has no directory");
  if (spec.directory.entries > 0 &&
      ControllerRules(protocols.directory, Controller::directory).eviction(Storage::entries) == nullptr)
    refuse("machine.directory.entries", protocols.directory, "has no Evict, so that its entries can't be limited; legal: 0");
  if (!spec.groups.empty() && protocols.group.kind != ProtocolKind::group)
    refuse("machine.group." + spec.groups.front().name + ".protocol", protocols.group, "has no controller of a group");
}

// Checks the protocols, and makes the node controller's table the memory table of the bus's protocol.
MachineProtocols joined(const MachineSpec& spec, MachineProtocols protocols) {
  refuse_unfit(spec, protocols);
  if (spec.has_nodes()) protocols.bus.memory = protocols.node.node;
  return protocols;
}

std::array<const ControllerTable*, kControllers> tables_of(const MachineSpec& spec, const MachineProtocols& protocols) {
  static const ControllerTable kNone;
  const bool nodes = spec.has_nodes();
  return {&protocols.bus.cache, nodes ? &kNone : &protocols.bus.memory, nodes ? &protocols.directory.directory : &kNone,
          nodes ? &protocols.node.node : &kNone, nodes ? &protocols.group.group : &kNone};
}

}  // namespace

Machine::Machine(const MachineSpec& spec, const MachineProtocols& protocols, const EngineSpec& engine, double warmup_us,
                 double measure_us, Observer& observer)
    : spec_(spec),
      layout_(lay_out(spec)),
      timebase_(make_timebase(spec)),
      core_spec_(spec, engine, timebase_, warmup_us, measure_us),
      store_(spec.caches.back().line_bytes, spec.cpus),
      homes_(spec, layout_, store_.line_bytes()),
      protocols_(joined(spec, protocols)),
      log_(tables_of(spec, protocols_), core_spec_.warmup_end, core_spec_.end, engine.line_history),
      watchdog_(timebase_.from_us(engine.watchdog_us)) {
  build_buses();
  if (spec.has_nodes()) {
    build_nodes();
  } else {
    memory_ = std::make_unique<PlainMemory>(context_);
  }
  build_cores(observer);
  if (network_) scheduler_.add(*network_, EventScheduler::Turns::most);
  connect();
  scheduler_.set_programs(cpus(), core_spec_.end);
}

void Machine::build_buses() {
  int first_core = 0;
  for (const int cores : layout_.cores_on_bus) {
    buses_.push_back(std::make_unique<SnoopingBus>(context_, protocols_.bus, first_core));
    scheduler_.add(*buses_.back(), EventScheduler::Turns::many);
    const int number = static_cast<int>(buses_.size()) - 1;
    buses_.back()->set_names(number, spec_.has_nodes() ? Endpoint::Kind::controller : Endpoint::Kind::memory);
    buses_.back()->set_places(places_on_bus(spec_, layout_, number, timebase_));
    first_core += cores;
  }
}

void Machine::build_nodes() {
  network_ = std::make_unique<Network>(context_);
  const auto build = [this](Controller kind, int count, const Protocol& protocol) {
    for (int number = 0; number < count; ++number) {
      controllers_.push_back(std::make_unique<CoherenceController>(kind, number, context_, protocol, *network_));
      network_->connect(static_cast<int>(controllers_.size()) - 1, *controllers_.back());
    }
  };
  build(Controller::node, buses(), protocols_.node);
  build(Controller::directory, spec_.nodes, protocols_.directory);
  build(Controller::group, static_cast<int>(layout_.groups.size()), protocols_.group);
}

void Machine::build_cores(Observer& observer) {
  const int cores = std::accumulate(layout_.cores_on_bus.begin(), layout_.cores_on_bus.end(), 0);
  std::vector<std::vector<CpuId>> threads_of(cores);
  for (int cpu = 0; cpu < cpus(); ++cpu) {
    threads_of[layout_.cpus[cpu].core].push_back(CpuId(cpu));
  }
  std::vector<std::size_t> bus_of;
  for (std::size_t bus = 0; bus < buses_.size(); ++bus)
    bus_of.insert(bus_of.end(), static_cast<std::size_t>(layout_.cores_on_bus[bus]), bus);
  cores_.resize(cores);
  for (int i = 0; i < cores; ++i) {
    const int core = core_spec_.engine.reverse_construction ? cores - 1 - i : i;
    const std::size_t at = core;
    SnoopingBus& bus = *buses_[bus_of[at]];
    const Core::Wiring wiring{.announcements = &bus.announcements(),
                              .lookahead = std::min(bus.announcements().lookahead(), core_spec_.ipi_latency),
                              .log = &log_,
                              .observer = &observer};
    // Copies outside the cache levels: those in write-back buffers, and those that memory operates on.
    const int spare = core_spec_.write_back_buffers + core_spec_.outstanding_misses;
    CacheAgent agent(core, spec_.caches, protocols_.bus.cache, store_, spare);
    cores_[at] = std::make_unique<Core>(core_spec_, core, std::move(agent), threads_of[at], wiring);
    scheduler_.add(*cores_[at]);
  }
  for (const auto& core : cores_) core->set_find_thread([this](CpuId id) -> HardwareThread& { return cpu(id.value); });
}

void Machine::connect() {
  std::size_t core = 0;
  for (std::size_t number = 0; number < buses_.size(); ++number) {
    SnoopingBus& bus = *buses_[number];
    std::vector<BusClient*> clients;
    for (int i = 0; i < layout_.cores_on_bus[number]; ++i, ++core) {
      cores_[core]->connect(bus);
      clients.push_back(&cores_[core]->unit());
    }
    if (network_) {
      BusSide& side = controllers_[number]->bus_side();
      side.connect(bus);
      bus.connect(std::move(clients), side);
    } else {
      bus.connect(std::move(clients), *memory_);
    }
  }
}

void Machine::set_program(int cpu, Core::Program program) {
  core_of(cpu).set_program(layout_.cpus[cpu].thread, std::move(program));
}

void Machine::set_tap(ProgramTap* tap) {
  for (const auto& core : cores_) core->set_tap(tap);
}

void Machine::set_functions(std::size_t count, std::span<const FunctionId> user) {
  for (const auto& core : cores_) core->set_functions(count, user);
}

void Machine::set_step_listener(StepListener* listener) {
  log_.set_listener(listener);
}

void Machine::wake(int cpu, Tick at) {
  this->cpu(cpu).receive({at, cpu, Interrupt::kWake});
}

void Machine::set_memory(int node, MemoryTiming& memory) {
  if (memory_) {
    memory_->set_timing(memory);
  } else {
    controllers_[network_->directory_of(node)]->set_memory(memory);
  }
}

void Machine::set_timeline(Timeline& timeline) {
  for (const auto& core : cores_) core->set_timeline(timeline);
  for (int bus = 0; bus < buses(); ++bus) buses_[bus]->set_timeline(timeline);
  if (network_) network_->set_timeline(timeline);
}

void Machine::run(const std::function<void(double)>& progress) {
  while (advance(now() + slice(), progress)) {
  }
}

Tick Machine::slice() const {
  return std::max<Tick>(1, core_spec_.end == kNever ? watchdog_ : std::min(watchdog_, core_spec_.end / 100 + 1));
}

bool Machine::advance(Tick until, const std::function<void(double)>& progress) {
  scheduler_.run_until(until);
  if (!is_over(progress)) return true;
  finish();
  return false;
}

void Machine::finish() {
  finished_at_ = 0;
  for (const auto& core : cores_) finished_at_ = std::max(finished_at_, core->latest());
  if (core_spec_.end != kNever) finished_at_ = core_spec_.end;
  for (const auto& core : cores_) core->finish_measuring(finished_at_);
  require_conservation();
}

// Returns true if the run is over. After all programs have ended it continues while stores and write-backs are under way,
// because they still count.
bool Machine::is_over(const std::function<void(double)>& progress) {
  const Tick now = scheduler_.now();
  if (progress && core_spec_.end != kNever) progress(static_cast<double>(now) / static_cast<double>(core_spec_.end));
  // At the end of the measured time, requests that still wait for the bus are abandoned.
  if (now >= core_spec_.end) return true;
  if (scheduler_.next() == kNever) {
    // CPUs that spin or sleep for others that have reached the end are not deadlocked. A last computation may run past the end.
    const auto came_to_end = [this](const auto& core) { return core->stopped() || core->latest() >= core_spec_.end; };
    if (std::any_of(cores_.begin(), cores_.end(), came_to_end) || all_ended()) return true;
    stuck("deadlock: nothing can happen any more, and not every program has ended");
  }
  const std::int64_t count = progress_count();
  const bool waits = std::any_of(cores_.begin(), cores_.end(), [now](const auto& core) { return core->waits_for_time(now); });
  if (count != last_count_ || waits || all_ended()) last_progress_ = now;
  last_count_ = count;
  if (now - last_progress_ > watchdog_) stuck("livelock: no operation but spins has been completed for engine.watchdog_us");
  return false;
}

std::int64_t Machine::progress_count() const {
  std::int64_t count = 0;
  for (const auto& core : cores_) count += core->progress();
  return count;
}

bool Machine::all_ended() const {
  return std::all_of(cores_.begin(), cores_.end(), [](const auto& core) { return core->ended(); });
}

BusStatistics Machine::bus_statistics() const {
  BusStatistics sum;
  for (const auto& bus : buses_) {
    const BusStatistics of_bus = bus->statistics(finished_at_);
    sum.transactions += of_bus.transactions;
    sum.address_busy += of_bus.address_busy;
    sum.data_busy += of_bus.data_busy;
  }
  return sum;
}

CacheUnit::PairPrefetches Machine::pair_prefetches() const {
  CacheUnit::PairPrefetches sum;
  for (const auto& core : cores_) {
    sum.lines += core->unit().pair_prefetches().lines;
    sum.from_caches += core->unit().pair_prefetches().from_caches;
  }
  return sum;
}

std::int64_t Machine::turns() const {
  std::int64_t events = network_ ? network_->activations() : 0;
  for (const auto& bus : buses_) events += bus->activations();
  for (const auto& core : cores_) events += core->activations();
  return events;
}

std::string Machine::describe_pending(bool with_cpus) const {
  std::string text;
  for (const auto& bus : buses_) text += bus->describe_pending();
  for (const auto& controller : controllers_) text += controller->describe_pending();
  if (network_) text += network_->describe_pending();
  for (const auto& core : cores_) text += (with_cpus ? core->describe() : "") + core->unit().describe_pending();
  return text;
}

void Machine::stuck(const char* what) const {
  throw ModelFailure(fmt::format("{}\nat tick {} ({:.6g} ns)\npending:\n{}", what, scheduler_.now(),
                                 timebase_.to_ns(scheduler_.now()), describe_pending(true)));
}

// Checks that nothing was busy for longer than the time that passed, that each CPU's time was spent in some function or
// asleep, and, if all programs have ended, that every request got its response.
void Machine::require_conservation() {
  std::string broken;
  const auto require = [&broken](bool holds, const char* what, std::int64_t part, std::int64_t whole) {
    if (!holds) broken += fmt::format("  {}: {} of {}\n", what, part, whole);
  };
  const Tick time = measured();
  for (const auto& bus : buses_) {
    const BusStatistics busy = bus->statistics(finished_at_);
    require(busy.data_busy <= time, "ticks that a bus moved data", busy.data_busy, time);
    require(busy.address_busy <= time, "ticks that a bus moved addresses", busy.address_busy, time);
  }
  if (network_) {
    for (const LinkStatistics& link : network_->links(finished_at_))
      require(link.busy <= time, "ticks that a link was busy", link.busy, time);
  }
  for (int number = 0; number < cpus(); ++number) {
    const HardwareThread& cpu = this->cpu(number);
    const ThreadCounters& counters = cpu.counters();
    const Tick spent = std::accumulate(counters.time_in_function.begin(), counters.time_in_function.end(), counters.asleep());
    require(cpu.ended() ? spent <= time : spent == time, "ticks of a CPU", spent, time);
  }
  if (core_spec_.end == kNever) {
    broken += describe_pending(false);
    if (network_) broken += network_->describe_lost();
  }
  if (!broken.empty()) throw ModelFailure("what was counted does not add up:\n" + broken);
}

void Machine::unwind_programs() {
  for (const auto& core : cores_) core->unwind_programs();
}

}  // namespace linebounce
