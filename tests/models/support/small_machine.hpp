// A machine with round numbers, for tests that state times. A CPU's cycle is 1 ns, a clock of the bus is 10 ns, and a line
// (32 bytes) occupies the data bus for 4 clocks.
//
// The stages of an access that starts at time t and misses in all caches, on an idle bus:
//   t + 10   the look-up in L2 has failed, and the request is stamped (t + 2 for an upgrade, whose line L1 has found);
//   E        granted, at the first edge of the bus clock (a multiple of 10) after the stamp, never on the stamp itself;
//   E + 10   address phase (arbitration: 1 clock);
//   E + 50   snoop result (4 clocks later), at which caches change state: the request is ordered;
//   E + 60   response of an upgrade, which needs no data (1 clock later);
//   E + 80   first data if another cache has the line dirty (3 clocks after the snoop result);
//   E + 110  first data if memory has it (100 ns after the address phase);
//   + 10     the data is at the core's pins (latch: 1 clock; a response has none);
//   + 5      the access starts (fill latency);
//   + 1      a load or store is done.
//
// For t = 2000: E = 2020, and the load is done at 2146, or at 2116 with data from another cache.
#pragma once

#include <string>
#include <vector>

#include "models/machine/machine.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {

inline MachineSpec small_machine(int cpus, const std::string& protocol = "mesi_snoop") {
  MachineSpec spec;
  spec.name = "small";
  spec.cpus = cpus;
  spec.cpus_present = cpus;
  spec.cpu.clock = {1000, 1};
  spec.cpu.atomic_latency_cycles = 20;
  spec.cpu.compare_exchange_latency_cycles = 30;
  spec.cpu.fence_latency_cycles = 8;
  spec.cpu.fill_latency_cycles = 5;
  spec.cpu.interrupt_latency_cycles = 50;
  spec.cpu.ipi_latency_ns = 100;
  spec.cpu.outstanding_misses = 4;
  spec.cpu.write_back_buffers = 2;
  spec.caches.push_back({.name = "L1D", .size_kib = 1, .ways = 2, .line_bytes = 32, .hit_latency_cycles = 2});
  spec.caches.push_back({.name = "L2", .size_kib = 4, .ways = 4, .line_bytes = 32, .hit_latency_cycles = 10});
  spec.bus.protocol = protocol;
  spec.bus.clock = {100, 1};
  spec.bus.width_bytes = 8;
  spec.bus.line_bytes = 32;
  spec.bus.arbitration_clocks = 1;
  spec.bus.address_clocks = 2;
  spec.bus.snoop_clocks = 4;
  spec.bus.snoop_stall_clocks = 2;
  spec.bus.response_clocks = 1;
  spec.bus.intervention_clocks = 3;
  spec.bus.turnaround_clocks = 1;
  spec.bus.latch_clocks = 1;
  spec.memory.latency_ns = 100;
  return spec;
}

// The small machine with nodes and one CPU on each bus. A pass through a node's controller takes 10 ns, a look-up in a
// directory 20, a link 50. `protocol` is that of the nodes; its file names those of the bus and the directory.
inline MachineSpec small_nodes(int nodes, int cpus, const std::string& protocol = "mesi_node") {
  MachineSpec spec = small_machine(cpus);
  spec.nodes = nodes;
  spec.node.protocol = protocol;
  spec.node.latency_ns = 10;
  spec.node.cache_latency_ns = 30;
  const auto partners = partners_of(shipped_files(protocol)).value();
  spec.bus.protocol = partners.bus;
  spec.directory.protocol = partners.directory;
  spec.directory.latency_ns = 20;
  spec.network.topology = Topology::fully_connected;
  spec.network.latency_ns = 50;
  return spec;
}

// Lines this many bytes apart share a set of L2 and a set of L1.
constexpr Address kSetStride = 1024;
constexpr Address kLine = 0x10000;

inline MachineProtocols load_protocols(const MachineSpec& spec) {
  const Protocol bus = shipped_protocol(spec.bus.protocol);
  if (!spec.has_nodes()) return bus;
  const Protocol directory = shipped_protocol(spec.directory.protocol);
  MachineProtocols protocols{bus, parse_node_protocol(shipped_files(spec.node.protocol), bus, directory), directory};
  if (!spec.groups.empty()) protocols.group = parse_group_protocol(shipped_files(spec.groups.front().protocol), directory);
  return protocols;
}

class MissRecorder final : public Observer {
 public:
  void miss(const Miss& miss) override { misses.push_back(miss); }
  std::vector<Miss> misses;
};

// Runs a machine, and records its misses.
class SmallMachine {
 public:
  explicit SmallMachine(const MachineSpec& spec, const EngineSpec& engine = {}, double warmup_us = 0, double measure_us = 0)
      : SmallMachine(spec, load_protocols(spec), engine, warmup_us, measure_us) {}
  SmallMachine(const MachineSpec& spec, const MachineProtocols& protocol, const EngineSpec& engine = {}, double warmup_us = 0,
               double measure_us = 0)
      : machine(spec, protocol, engine, warmup_us, measure_us, recorder_) {}

  // Runs these programs on CPUs 0, 1, ... to their end.
  void run(std::vector<Core::Program> programs) {
    for (std::size_t cpu = 0; cpu < programs.size(); ++cpu)
      machine.set_program(static_cast<int>(cpu), std::move(programs[cpu]));
    machine.run();
  }

  // The value in memory, which may be older than the caches' copies.
  Value in_memory(Address address) {
    LineStore& store = machine.store();
    return read_word(store.memory_data(store.slot(store.line_of(address))) + store.offset_of(address), 8);
  }

  // How many times the cache's table ran its row for this state and event.
  [[nodiscard]] std::int64_t transitions(const std::string& state, const std::string& event) const {
    const ControllerTable& table = machine.log().table(Controller::cache);
    for (std::size_t s = 0; s < table.states.size(); ++s) {
      for (std::size_t e = 0; e < table.events.size(); ++e) {
        if (table.states[s].name == state && table.events[e] == event) {
          return machine.log().count(Controller::cache, static_cast<StateId>(s), static_cast<EventId>(e));
        }
      }
    }
    throw std::logic_error("the protocol has no such state or event");
  }

  [[nodiscard]] std::int64_t transactions() const { return machine.bus_statistics().transactions; }
  [[nodiscard]] const std::vector<Miss>& misses() const { return recorder_.misses; }

 private:
  MissRecorder recorder_;

 public:
  Machine machine;
};

// Computes until `ns`.
inline void wait_until(Cpu& cpu, double ns) {
  cpu.compute(static_cast<std::int64_t>(ns - cpu.now_ns()));
}

// How many cycles the body takes if it starts at `start_ns`; -1 if the CPU is still busy then.
template <class Body>
double cycles_from(Cpu& cpu, double start_ns, Body body) {
  wait_until(cpu, start_ns);
  const double begin = cpu.now_ns();
  body();
  const double end = cpu.now_ns();
  return begin == start_ns ? end - begin : -1;
}

}  // namespace linebounce::test
