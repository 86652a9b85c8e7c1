#include "workloads/linux24/dcache/designs.hpp"

#include <stdexcept>

#include "models/listed.hpp"

namespace linebounce::workloads {

using MakeDcacheDesign = DcacheDesign();

std::span<const DcacheDesign> dcache_designs() {
  static const std::vector<DcacheDesign> kDesigns = {
      LISTED(MakeDcacheDesign, global_lock_dcache)(),       LISTED(MakeDcacheDesign, rcu_lookup_dcache)(),
      LISTED(MakeDcacheDesign, separate_lru_lock_dcache)(), LISTED(MakeDcacheDesign, lazy_lru_dcache)(),
      LISTED(MakeDcacheDesign, lazy_lru_timer_dcache)(),    LISTED(MakeDcacheDesign, fast_walk_dcache)(),
      LISTED(MakeDcacheDesign, lock_free_walk_dcache)(),    LISTED(MakeDcacheDesign, parallel_updates_dcache)(),
      LISTED(MakeDcacheDesign, sequence_walk_dcache)(),
  };
  return kDesigns;
}

std::vector<std::string> dcache_design_names() {
  std::vector<std::string> names;
  for (const DcacheDesign& design : dcache_designs()) names.emplace_back(design.name);
  return names;
}

const DcacheDesign& find_dcache_design(const std::string& name) {
  for (const DcacheDesign& design : dcache_designs()) {
    if (design.name == name) return design;
  }
  throw std::out_of_range("no design of the dentry cache is called " + name);
}

}  // namespace linebounce::workloads
