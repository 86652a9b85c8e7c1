// What the subsystems of a simulated kernel share: structures by name, functions, interrupts, locks and lists. Each subsystem
// is a class in its own folder, and gets a Kernel&.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
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

// Declares the parameter `lock` of a workload that makes a Kernel: the algorithm of its spin locks.
void spin_lock_parameter(ParameterBinder& parameters, std::string& option);

class Kernel {
 public:
  struct Options {
    std::string lock = "ttas";                          // the algorithm of all spin locks
    std::string waits_in = "ia64_spinlock_contention";  // the function in which waiting for a spin lock is counted
    double base_cpi = 0;  // cycles per instruction without cache misses; never less than the issue width allows
  };
  Kernel(const WorkloadSetup& setting, Options options);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  [[nodiscard]] AddressSpace& memory() const { return setting_.memory; }
  [[nodiscard]] const MachineSpec& machine() const { return setting_.machine; }
  [[nodiscard]] Interrupts& interrupts() { return interrupts_; }
  [[nodiscard]] std::uint64_t seed() const { return setting_.seed; }
  [[nodiscard]] int cpus() const { return setting_.machine.cpus; }
  // Nodes are the operating system's.
  [[nodiscard]] int nodes() const { return setting_.layout.os_nodes(); }
  [[nodiscard]] int node_of(int cpu) const { return setting_.layout.cpus[cpu].os_node; }
  [[nodiscard]] std::vector<int> cpus_of(int node) const;
  // The CPU that this one is paired with: the other hardware thread of its core; if there is none, another core of its bus. -1:
  // it has no pair.
  [[nodiscard]] int sibling_of(int cpu) const { return siblings_[cpu]; }

  // layout() and field() throw std::invalid_argument if the layout file has no such structure or field.
  [[nodiscard]] const Layout& layout(const std::string& structure) const { return setting_.layouts->find(structure); }
  [[nodiscard]] FieldPlace field(const std::string& structure, const std::string& field) const {
    return field_of(layout(structure), field);
  }
  // A list head or list entry: the field NAME.next, directly followed by NAME.prev. Errors: std::invalid_argument.
  [[nodiscard]] FieldPlace list_field(const std::string& structure, const std::string& name) const {
    return list_field_of(layout(structure), name);
  }
  // Places OBJECT on `node`. Without a node, the machine's policy decides.
  Object place(const std::string& structure, const std::string& object, std::optional<int> node);
  [[nodiscard]] FunctionId function(const std::string& name) const { return memory().function(name, Mode::kernel); }

  // Executes instructions that touch no memory of this model, at the base CPI.
  void execute(Cpu& cpu, std::int64_t instructions) const { pace_.pass(cpu, instructions); }

  // Creates a spin lock in a field of an object. Reports combine it with the locks in the same field of other objects. If the
  // algorithm needs more bytes than the field has, the lock gets a line of its own.
  MeteredLock& lock_in(const Object& object, const std::string& object_name, const std::string& structure,
                       const std::string& field);

  // Like spin_lock_irqsave(): acquires the lock with interrupts off until its release. Calls nest. In a handler, where
  // interrupts are already off, turning them off costs nothing.
  void lock_irq(Cpu& cpu, MeteredLock& lock);
  void unlock_irq(Cpu& cpu, MeteredLock& lock);
  void interrupts_off(Cpu& cpu);
  void interrupts_on(Cpu& cpu);

  // The kernel's list functions. With CONFIG_DEBUG_LIST, as in OLS 2007, they are not inlined, so reports count their misses in
  // these functions. They also check an entry's neighbours before they write. Errors: ModelFailure if a neighbour's link is
  // wrong.
  void list_add(Cpu& cpu, Address entry, Address head) const;
  void list_add_tail(Cpu& cpu, Address entry, Address head) const;
  void list_del(Cpu& cpu, Address entry) const;

 private:
  struct Structure {
    const Layout* layout;
    std::optional<std::size_t> number;  // the structure's number in memory(); empty if its fields are in several sections
  };
  const Structure& structure_called(const std::string& name);
  void insert(Cpu& cpu, Address entry, Address before, Address after) const;

  WorkloadSetup setting_;
  std::string lock_;
  Pace pace_;
  FunctionId waits_in_, list_add_, inner_list_add_, list_del_;
  Interrupts interrupts_;
  std::vector<int> siblings_;                              // by CPU
  std::vector<int> off_;                                   // by CPU: nesting depth of interrupts_off()
  std::unordered_map<std::string, Structure> structures_;  // the structures of the objects placed so far
};

}  // namespace linebounce::workloads
