// The designs of the dentry cache, one file each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "workloads/linux24/dcache/dcache.hpp"

namespace linebounce::workloads {

std::unique_ptr<Dcache> make_global_lock_dcache(const DcacheSetup& setup);
std::unique_ptr<Dcache> make_rcu_lookup_dcache(const DcacheSetup& setup);
std::unique_ptr<Dcache> make_separate_lru_lock_dcache(const DcacheSetup& setup);
std::unique_ptr<Dcache> make_lazy_lru_dcache(const DcacheSetup& setup);
std::unique_ptr<Dcache> make_lazy_lru_timer_dcache(const DcacheSetup& setup);
std::unique_ptr<Dcache> make_lock_free_walk_dcache(const DcacheSetup& setup);
std::unique_ptr<Dcache> make_fast_walk_dcache(const DcacheSetup& setup);
std::unique_ptr<Dcache> make_parallel_updates_dcache(const DcacheSetup& setup);
std::unique_ptr<Dcache> make_sequence_walk_dcache(const DcacheSetup& setup);

// In the order of OLS 2002, and what OLS 2004 would do next.
std::vector<std::string> dcache_designs();
// Errors: std::out_of_range for a name that is none of these.
std::unique_ptr<Dcache> make_dcache(const std::string& design, const DcacheSetup& setup);
// Whether it needs DcacheSetup::rcu.
bool design_defers_freeing(const std::string& design);

}  // namespace linebounce::workloads
