// Programs, locks and counters in Lua: the file's declaration, setup() for two CPUs, and its functions called by one of them.
#include <algorithm>

#include "models/machine_layout.hpp"
#include "sim/interleavings/lock_cases.hpp"
#include "sim/point/config_error.hpp"
#include "tests/fuzz/lone_cpu.hpp"
#include "tests/fuzz/readers.hpp"
#include "workloads/counters/counters.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/lua/lua_file.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::fuzz {

using namespace workloads;

namespace {

constexpr int kCpus = 2;

MachineSpec two_cpus() {
  MachineSpec spec;
  spec.cpus = spec.cpus_present = kCpus;
  return spec;
}

// The objects that a workload is given, all empty.
struct Surroundings {
  explicit Surroundings(const SourceFile& file) : setting{memory, locks, kSpec, kPlaces, 1, nullptr, nullptr, &file} {}

  inline static const MachineSpec kSpec = two_cpus();
  inline static const MachineLayout kPlaces = lay_out(kSpec);
  LineStore store{64, kCpus};
  AddressSpace memory{store};
  LockSet locks{memory, kCpus, kPlaces.cpus};
  WorkloadSetup setting;
  LoneCpu cpu;
};

void use_program(const SourceFile& file) {
  const std::unique_ptr<Workload> program = find_workload("program").create({});
  Surroundings here(file);
  program->set_up(here.setting);
  program->run(here.cpu);
}

void use_lock(const SourceFile& file) {
  Surroundings here(file);
  MeteredLock& lock = here.locks.create(lock_entry_of(file), "l", {});
  lock.acquire(here.cpu);
  lock.release(here.cpu);
  if (lock.try_acquire(here.cpu)) lock.release(here.cpu);
  if (lock.traits().readers == Readers::one_by_one) return;
  lock.acquire_shared(here.cpu);
  (void)lock.release_shared(here.cpu);
}

void use_counter(const SourceFile& file, const CounterEntry& entry) {
  constexpr int kBytes = 64;
  Surroundings here(file);
  PerCpuAllocator percpu(here.setting, kBytes);
  Interrupts interrupts(kCpus);
  const CounterPlace place{here.memory, here.locks, percpu, interrupts, nullptr, "c", kCpus};
  if (entry.create_counter) {
    const auto counter = entry.create_counter(place);
    counter->add(here.cpu, 1);
    counter->read(here.cpu);
  }
  if (entry.create_reference_count) {
    const auto counter = entry.create_reference_count(place);
    counter->get(here.cpu);
    counter->put(here.cpu);
    counter->begin_dying(here.cpu);
  }
}

}  // namespace

void read_lua(const std::string& text) {
  const SourceFile file{"/nowhere/file.lua", text};
  try {
    const LuaDeclaration declared = declaration_of(file);
    if (declared.program) use_program(file);
    if (declared.lock) use_lock(file);
    if (declared.counter.events || declared.counter.references) use_counter(file, counter_entry_of(file));
  } catch (const std::invalid_argument& refused) {  // handled like the objects of any workload, see simulate.cpp
    throw sim::ConfigError(refused.what());
  }
}

// Checks a lock as check-lock does, in some of the interleavings of its smallest cases.
void read_lock(const std::string& text) {
  constexpr std::size_t kCases = 2;
  const SourceFile file{"/nowhere/lock.lua", text};
  try {
    if (!declaration_of(file).lock) return;
    const LockEntry lock = lock_entry_of(file);
    const std::vector<sim::LockCase> cases = sim::lock_cases(lock, {});
    for (std::size_t i = 0; i < std::min(kCases, cases.size()); ++i) sim::search(cases[i], {.states = 10, .steps = 60});
  } catch (const sim::NotCheckable&) {
  } catch (const std::invalid_argument& refused) {
    throw sim::ConfigError(refused.what());
  }
}

}  // namespace linebounce::fuzz
