#include "workloads/linux26/kernel/kernel.hpp"

#include <utility>

#include "models/failure.hpp"
#include "workloads/locks/lock_registry.hpp"

namespace linebounce::workloads {
namespace {

constexpr Address kListPoison = 0x100100;  // LIST_POISON1: the entry is on no list

// Pairs the hardware threads of each core, then the CPUs that are left on each bus, both in the order of their numbers.
std::vector<int> pair_up(const MachineLayout& layout) {
  const auto together = [](const CpuPlace& a, const CpuPlace& b) { return a.core == b.core || a.bus == b.bus; };
  std::vector<int> siblings(layout.cpus.size(), -1);
  for (const bool same_core : {true, false}) {
    for (std::size_t a = 0; a < siblings.size(); ++a) {
      for (std::size_t b = a + 1; siblings[a] < 0 && b < siblings.size(); ++b) {
        const CpuPlace& one = layout.cpus[a];
        const CpuPlace& other = layout.cpus[b];
        if (siblings[b] >= 0 || !together(one, other) || (same_core && one.core != other.core)) continue;
        siblings[a] = static_cast<int>(b);
        siblings[b] = static_cast<int>(a);
      }
    }
  }
  return siblings;
}

}  // namespace

void spin_lock_parameter(ParameterBinder& parameters, std::string& option) {
  lock_parameter(parameters, "lock", option, "algorithm of the spin locks", [](const LockTraits& traits) -> std::string {
    if (traits.sleeps) return "handlers and softirqs take it, which can't sleep";
    return traits.excludes ? "" : "lists would break";
  });
}

Kernel::Kernel(const WorkloadSetup& setting, Options options)
    : setting_(setting),
      lock_(std::move(options.lock)),
      pace_(options.base_cpi, setting.machine),
      waits_in_(function(options.waits_in)),
      list_add_(function("list_add")),
      inner_list_add_(function("__list_add")),
      list_del_(function("list_del")),
      interrupts_(cpus()),
      siblings_(pair_up(setting.layout)),
      off_(cpus()) {}

Object Kernel::place(const std::string& structure, const std::string& object, std::optional<int> node) {
  std::optional<Home> home;
  if (node) home = Home::on_os_node(*node);
  const Structure& known = structure_called(structure);
  if (known.number) return Object(memory().place(*known.number, object, home));
  return place_object(memory(), *known.layout, object, setting_.layout, home);
}

const Kernel::Structure& Kernel::structure_called(const std::string& name) {
  if (const auto known = structures_.find(name); known != structures_.end()) return known->second;
  const Layout& layout = this->layout(name);
  Structure structure{.layout = &layout, .number = {}};
  if (is_in_one_section(layout)) structure.number = memory().number_of(layout);
  return structures_.emplace(name, structure).first->second;
}

std::vector<int> Kernel::cpus_of(int node) const {
  std::vector<int> here;
  for (int cpu = 0; cpu < cpus(); ++cpu) {
    if (node_of(cpu) == node) here.push_back(cpu);
  }
  return here;
}

MeteredLock& Kernel::lock_in(const Object& object, const std::string& object_name, const std::string& structure,
                             const std::string& field) {
  const FieldPlace place = this->field(structure, field);
  return setting_.locks.create(
      lock_, object_name + "." + field,
      {.word = object.at(place, 0), .waits_in = waits_in_, .word_bytes = place.size, .figures = structure + "." + field});
}

void Kernel::lock_irq(Cpu& cpu, MeteredLock& lock) {
  interrupts_off(cpu);
  lock.acquire(cpu);
}

void Kernel::unlock_irq(Cpu& cpu, MeteredLock& lock) {
  lock.release(cpu);
  interrupts_on(cpu);
}

// Calls nest. Does nothing in an interrupt handler, where interrupts are already off. In the softirqs that follow the handler
// they are on.
void Kernel::interrupts_off(Cpu& cpu) {
  int& off = off_[cpu.id().value];
  // The count is raised only after interrupts are off. An interrupt that arrives before that runs softirqs, which turn
  // interrupts off only if they find the count at 0.
  if (off == 0 && !interrupts_.in_handler(cpu)) cpu.disable_interrupts();
  ++off;
}

void Kernel::interrupts_on(Cpu& cpu) {
  int& off = off_[cpu.id().value];
  if (--off == 0 && !interrupts_.in_handler(cpu)) cpu.enable_interrupts();
}

void Kernel::list_add(Cpu& cpu, Address entry, Address head) const {
  const FunctionScope scope(cpu, list_add_);
  insert(cpu, entry, head, list64::next(cpu, head));
}

void Kernel::list_add_tail(Cpu& cpu, Address entry, Address head) const {
  insert(cpu, entry, list64::previous(cpu, head), head);
}

void Kernel::insert(Cpu& cpu, Address entry, Address before, Address after) const {
  const FunctionScope scope(cpu, inner_list_add_);
  if (list64::previous(cpu, after) != before || list64::next(cpu, before) != after) throw ModelFailure("a list is broken");
  list64::insert(cpu, entry, before, after);
}

void Kernel::list_del(Cpu& cpu, Address entry) const {
  const FunctionScope scope(cpu, list_del_);
  const Address before = list64::previous(cpu, entry);
  if (list64::next(cpu, before) != entry) throw ModelFailure("an entry is not in its list");
  const Address after = list64::next(cpu, entry);
  if (list64::previous(cpu, after) != entry) throw ModelFailure("an entry is not in its list");
  list64::set_previous(cpu, after, before);
  list64::set_next(cpu, before, after);
  list64::set_next(cpu, entry, kListPoison);
  list64::set_previous(cpu, entry, kListPoison);
}

}  // namespace linebounce::workloads
