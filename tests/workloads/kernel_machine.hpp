// A small machine with the parts that subsystems of the 2.6.20 kernel share, for a test's programs.
#pragma once

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/config/layout_file.hpp"
#include "tests/models/support/small_machine.hpp"
#include "workloads/linux26/kernel/kernel.hpp"

namespace linebounce::test {

using namespace workloads;
using namespace sim;

// Two nodes and a memory model that orders only what programs ask for.
inline MachineSpec small_itanium(int cpus) {
  MachineSpec spec = small_nodes(2, cpus);
  spec.cpu.consistency = Consistency::ia64;
  spec.cpu.store_buffer_entries = 16;
  return spec;
}

// "itanium", "threads" (two on a core) or "sc": the machines on which the kernel's properties must hold.
inline MachineSpec kernel_spec(const std::string& machine) {
  if (machine == "itanium") return small_itanium(4);
  MachineSpec spec = small_machine(4);
  if (machine == "threads") spec.cpu.threads_per_core = 2;
  return spec;
}

class KernelMachine {
 public:
  // `own`: the test's structures. `run_us`: programs are stopped then; 0: they run to their end.
  explicit KernelMachine(const MachineSpec& spec, const std::vector<Layout>& own = {}, const EngineSpec& engine = {},
                         double run_us = 0)
      : spec_(spec),
        small(spec, engine, 0, run_us),
        space(small.machine.store(), &small.machine.homes()),
        locks(space, spec.cpus) {
    layouts = load_layout_file("linux_2_6_20", "").layouts;
    for (const Layout& layout : own) layouts.add(layout);
    kernel.emplace(WorkloadSetup{space, locks, spec_, small.machine.layout(), 1, &layouts}, Kernel::Options{});
  }

  // Runs this program on every CPU.
  void run(const Core::Program& program) {
    small.machine.set_functions(space.functions().size());
    const auto with_interrupts = [this, program](Cpu& cpu) {
      kernel->interrupts().start(cpu);
      program(cpu);
    };
    small.run(std::vector<Core::Program>(static_cast<std::size_t>(spec_.cpus), with_interrupts));
  }

  // Returns the address of an object with this name on which there was a miss.
  Address find_object(const std::string& object) {
    for (const Miss& miss : small.misses()) {
      const AddressSpace::Place place = space.find(miss.address);
      if (space.symbol(place).object == object) return miss.address - place.offset;
    }
    throw std::logic_error("no object of this name was touched");
  }

  // Misses on this field in this function.
  std::size_t misses(const std::string& function, const std::string& structure, const std::string& field) {
    const auto matches = [&](const Miss& miss) {
      const Symbol symbol = space.symbol(space.find(miss.address));
      return space.functions()[miss.function].name == function && symbol.structure == structure && symbol.field == field;
    };
    return static_cast<std::size_t>(std::count_if(small.misses().begin(), small.misses().end(), matches));
  }

 private:
  MachineSpec spec_;

 public:
  SmallMachine small;
  AddressSpace space;
  LockSet locks;
  LayoutSet layouts;
  std::optional<Kernel> kernel;
};

}  // namespace linebounce::test
