#include "workloads/linux24/dcache/common.hpp"

#include <fmt/format.h>

#include "workloads/locks/lock_registry.hpp"

namespace linebounce::workloads {

namespace {

std::string why_no_dcache_lock(const LockTraits& traits) {
  if (!traits.excludes) return "the cache's lists would break";
  if (traits.sleeps) return "dput takes it where a task may not sleep";
  return "";
}

}  // namespace

std::vector<ParameterDeclaration> dcache_parameters(std::int64_t dentries) {
  return {
      {.name = "design",
       .default_value = std::string("global_lock"),
       .meaning = "how the dentry cache is protected",
       .choices = dcache_designs()},
      {.name = "locked_dput",
       .default_value = false,
       .meaning = "dput takes the lock each time, not only for the last reference"},
      lock_parameter("lock", "ttas", "the algorithm of dcache_lock and of the locks beside it", why_no_dcache_lock),
      {.name = "layout", .default_value = std::string("linux_2_4_16"), .meaning = "the structures, a file of configs/layouts"},
      {.name = "hash_bits",
       .default_value = std::int64_t{18},
       .meaning = "the hash table has 2^this buckets (2 GB of memory: 18)",
       .minimum = 2,
       .maximum = 20},
      {.name = "dentries", .default_value = dentries, .meaning = "that there can be", .minimum = 64, .maximum = 1e5},
      {.name = "tick_us",
       .default_value = 10000.0,
       .meaning = "of the clock, in designs that defer freeing: in it grace periods are driven (HZ = 100)",
       .minimum = 10,
       .maximum = 1e6},
      {.name = "lru_timer_us",
       .default_value = 20000.0,
       .meaning = "lazy_lru_timer: after which entries in use are taken off the list of unused ones",
       .minimum = 10,
       .maximum = 1e7},
      {.name = "metering_us",
       .default_value = 0.08,
       .meaning = "lockmeter's own work at the beginning of each hold of dcache_lock; 0: a kernel without it",
       .maximum = 100},
      {.name = "component_us",
       .default_value = 1.0,
       .meaning = "of a path walk before each component's lookup: permission, hash of the name",
       .maximum = 1000},
      {.name = "follow_us",
       .default_value = 0.4,
       .meaning = "of a path walk from a component's lookup to the dput of the directory before",
       .maximum = 1000},
  };
}

DcacheParts make_dcache_parts(const Parameters& parameters, const WorkloadSetup& setting) {
  DcacheParts parts;
  const std::string& design = parameters.text("design");
  parts.interrupts = std::make_unique<Interrupts>(setting.machine.cpus);
  if (design_defers_freeing(design)) {
    parts.rcu = make_classic_rcu(setting, *parts.interrupts,
                                 {.tick_us = parameters.number("tick_us"), .lock = parameters.text("lock")});
  }
  parts.dcache = make_dcache(design, {.memory = setting.memory,
                                      .locks = setting.locks,
                                      .layouts = *setting.layouts,
                                      .lock = parameters.text("lock"),
                                      .locked_dput = parameters.flag("locked_dput"),
                                      .metering_cycles = cycles(parameters.number("metering_us"), setting.machine),
                                      .hash_bits = static_cast<int>(parameters.integer("hash_bits")),
                                      .dentries = static_cast<int>(parameters.integer("dentries")),
                                      .cpus = setting.machine.cpus,
                                      .interrupts = parts.interrupts.get(),
                                      .rcu = parts.rcu.get(),
                                      .lru_timer_us = parameters.number("lru_timer_us")});
  parts.costs = {.component = cycles(parameters.number("component_us"), setting.machine),
                 .follow = cycles(parameters.number("follow_us"), setting.machine)};
  return parts;
}

Address place_inode(const WorkloadSetup& setting, const std::string& name, std::uint64_t number) {
  const Layout& inode = setting.layouts->find("inode");
  const Address at = setting.memory.place(inode, fmt::format("{}[{}]", name, number));
  list::preset_empty(setting.memory, at + offset_of(inode, "i_dentry"));
  return at;
}

}  // namespace linebounce::workloads
