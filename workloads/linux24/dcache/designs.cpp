#include "workloads/linux24/dcache/designs.hpp"

#include <array>
#include <stdexcept>

namespace linebounce::workloads {

namespace {

struct Design {
  const char* name;
  bool defers_freeing;
  std::unique_ptr<Dcache> (*create)(const DcacheSetup&);
};

constexpr std::array kDesigns = {
    Design{"global_lock", false, make_global_lock_dcache},
    Design{"rcu_lookup", true, make_rcu_lookup_dcache},
    Design{"separate_lru_lock", true, make_separate_lru_lock_dcache},
    Design{"lazy_lru", true, make_lazy_lru_dcache},
    Design{"lazy_lru_timer", true, make_lazy_lru_timer_dcache},
    Design{"fast_walk", false, make_fast_walk_dcache},
    Design{"lock_free_walk", true, make_lock_free_walk_dcache},
    Design{"parallel_updates", true, make_parallel_updates_dcache},
    Design{"sequence_walk", true, make_sequence_walk_dcache},
};

const Design& find_design(const std::string& name) {
  for (const Design& design : kDesigns) {
    if (design.name == name) return design;
  }
  throw std::out_of_range("no design of the dentry cache is called " + name);
}

}  // namespace

std::vector<std::string> dcache_designs() {
  std::vector<std::string> names;
  for (const Design& design : kDesigns) names.emplace_back(design.name);
  return names;
}

std::unique_ptr<Dcache> make_dcache(const std::string& design, const DcacheSetup& setup) {
  return find_design(design).create(setup);
}

bool design_defers_freeing(const std::string& design) {
  return find_design(design).defers_freeing;
}

}  // namespace linebounce::workloads
