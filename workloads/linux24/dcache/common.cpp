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

void DcacheOptions::bind(ParameterBinder& parameters) {
  parameters.text("design", design, "how the dentry cache is protected", dcache_design_names());
  parameters.flag("locks_unused_only", locks_unused_only,
                  "rcu_lookup, separate_lru_lock: d_lookup takes the lock only for an entry that nobody holds, not for each");
  parameters.flag("locked_dput", locked_dput, "dput takes the lock each time, not only for the last reference");
  lock_parameter(parameters, "lock", lock, "the algorithm of dcache_lock and of the locks beside it", why_no_dcache_lock);
  parameters.text("layout", layout, "the structures, a file of configs/layouts");
  parameters.number("hash_bits", hash_bits, 2, 20, "the hash table has 2^this buckets (2 GB of memory: 18)");
  parameters.number("dentries", dentries, 64, 1e5, "that there can be");
  parameters.number("tick_us", tick_us, 10, 1e6,
                    "of the clock, in designs that defer freeing: in it grace periods are driven (HZ = 100)");
  parameters.number("lru_timer_us", lru_timer_us, 10, 1e7,
                    "lazy_lru_timer: after which entries in use are taken off the list of unused ones");
  parameters.number("metering_us", metering_us, 0, 100,
                    "lockmeter's own work at the beginning of each hold of dcache_lock; 0: a kernel without it");
  parameters.number("metering_entry_us", metering_entry_us, 0, 100,
                    "lockmeter's own work before each acquisition of dcache_lock, while somebody else may take it");
  parameters.number("component_us", component_us, 0, 1000,
                    "of a path walk before each component's lookup: permission, hash of the name");
  parameters.number("follow_us", follow_us, 0, 1000,
                    "of a path walk from a component's lookup to the dput of the directory before");
}

DcacheParts make_dcache_parts(const DcacheOptions& options, const WorkloadSetup& setting) {
  DcacheParts parts;
  parts.interrupts = std::make_unique<Interrupts>(setting.machine.cpus);
  if (find_dcache_design(options.design).defers_freeing) {
    parts.rcu = make_classic_rcu(setting, *parts.interrupts, {.tick_us = options.tick_us, .lock = options.lock});
  }
  parts.dcache = find_dcache_design(options.design)
                     .create({.memory = setting.memory,
                              .locks = setting.locks,
                              .layouts = *setting.layouts,
                              .lock = options.lock,
                              .locks_unused_only = options.locks_unused_only,
                              .locked_dput = options.locked_dput,
                              .metering_entry_cycles = cycles(options.metering_entry_us, setting.machine),
                              .metering_cycles = cycles(options.metering_us, setting.machine),
                              .hash_bits = options.hash_bits,
                              .dentries = options.dentries,
                              .cpus = setting.machine.cpus,
                              .interrupts = parts.interrupts.get(),
                              .rcu = parts.rcu.get(),
                              .lru_timer_us = options.lru_timer_us});
  parts.costs = {.component = cycles(options.component_us, setting.machine),
                 .follow = cycles(options.follow_us, setting.machine)};
  return parts;
}

Address place_inode(const WorkloadSetup& setting, const std::string& name, std::uint64_t number) {
  const Layout& inode = setting.layouts->find("inode");
  const Address at = setting.memory.place(inode, fmt::format("{}[{}]", name, number));
  list::preset_empty(setting.memory, at + offset_of(inode, "i_dentry"));
  return at;
}

}  // namespace linebounce::workloads
