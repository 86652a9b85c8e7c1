// Common to the subsystems of one simulated kernel: structures by name, functions, interrupts, locks and lists. Each subsystem
// is a class in a folder of its own and gets a Kernel&.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/locks/lock_set.hpp"
#include "workloads/program/interrupts.hpp"
#include "workloads/program/list.hpp"
#include "workloads/program/object.hpp"
#include "workloads/program/parameter_binder.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

using list64 = List<8>;  // of a 64-bit kernel

// The parameter `lock` of a workload that makes a Kernel: the legal algorithms of its spin locks.
void spin_lock_parameter(ParameterBinder& parameters, std::string& option);

class Kernel {
 public:
  struct Options {
    std::string lock = "ttas";                          // the algorithm of all spin locks
    std::string waits_in = "ia64_spinlock_contention";  // the function in which waiting for one is counted
    double base_cpi = 0;  // cycles of an instruction that misses no cache, at least what the issue width allows
  };
  Kernel(const WorkloadSetup& setting, Options options);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  [[nodiscard]] AddressSpace& memory() const { return setting_.memory; }
  [[nodiscard]] const MachineSpec& machine() const { return setting_.machine; }
  [[nodiscard]] Interrupts& interrupts() { return interrupts_; }
  [[nodiscard]] std::uint64_t seed() const { return setting_.seed; }
  [[nodiscard]] int cpus() const { return setting_.machine.cpus; }
  [[nodiscard]] int nodes() const { return setting_.layout.nodes(); }
  [[nodiscard]] int node_of(int cpu) const { return setting_.layout.cpus[cpu].node; }
  [[nodiscard]] std::vector<int> cpus_of(int node) const;
  // The other hardware thread of the core, or the other core of the processor: CPUs of a node are paired. -1: none.
  [[nodiscard]] int sibling_of(int cpu) const { return siblings_[cpu]; }

  // Errors: std::invalid_argument, if the layout file has no such structure.
  [[nodiscard]] const Layout& layout(const std::string& structure) const { return setting_.layouts->find(structure); }
  [[nodiscard]] FieldPlace field(const std::string& structure, const std::string& field) const {
    return field_of(layout(structure), field);
  }
  // A list's head or entry: NAME.next, directly followed by NAME.prev. Errors: std::invalid_argument.
  [[nodiscard]] FieldPlace list_field(const std::string& structure, const std::string& name) const {
    return list_field_of(layout(structure), name);
  }
  // Places OBJECT on a node, or where the machine's policy puts it if `node` is absent.
  Object place(const std::string& structure, const std::string& object, std::optional<int> node) const;
  [[nodiscard]] FunctionId function(const std::string& name) const { return memory().function(name, Mode::kernel); }

  // Instructions that touch no memory of this model, at the base CPI.
  void execute(Cpu& cpu, std::int64_t instructions) const { pace_.pass(cpu, instructions); }

  // A spin lock in a field of an object; reports count it with those of the same field in other objects. An algorithm that
  // needs more bytes than the field has gets a line of its own.
  MeteredLock& lock_in(const Object& object, const std::string& object_name, const std::string& structure,
                       const std::string& field);

  // Keeps interrupts off while the lock is held, as spin_lock_irqsave() does. Nests, and costs nothing in a handler.
  void lock_irq(Cpu& cpu, MeteredLock& lock);
  void unlock_irq(Cpu& cpu, MeteredLock& lock);
  void interrupts_off(Cpu& cpu);
  void interrupts_on(Cpu& cpu);

  // The kernel's list functions. With CONFIG_DEBUG_LIST, as in OLS 2007, they are out of line, so misses are counted in them,
  // and they check the neighbours before they write. Errors: ModelFailure, if these don't fit.
  void list_add(Cpu& cpu, Address entry, Address head) const;
  void list_add_tail(Cpu& cpu, Address entry, Address head) const;
  void list_del(Cpu& cpu, Address entry) const;

 private:
  void insert(Cpu& cpu, Address entry, Address before, Address after) const;

  WorkloadSetup setting_;
  std::string lock_;
  Pace pace_;
  FunctionId waits_in_, list_add_, inner_list_add_, list_del_;
  Interrupts interrupts_;
  std::vector<int> siblings_;  // by CPU
  std::vector<int> off_;       // by CPU: nested calls of interrupts_off()
};

}  // namespace linebounce::workloads
