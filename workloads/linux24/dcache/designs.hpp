// The designs of the dentry cache, one file each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/linux24/dcache/dcache.hpp"

namespace linebounce::workloads {

// What a design's file declares.
struct DcacheDesign {
  std::string name;
  bool defers_freeing;  // whether it needs DcacheSetup::rcu
  std::unique_ptr<Dcache> (*create)(const DcacheSetup&);
};

template <class Made>
std::unique_ptr<Dcache> make_dcache(const DcacheSetup& setup) {
  return std::make_unique<Made>(setup);
}

// The designs: first those of the OLS 2002 paper in its order, then those that the OLS 2004 paper names as future work.
std::span<const DcacheDesign> dcache_designs();
std::vector<std::string> dcache_design_names();
// Errors: std::out_of_range if no design has this name.
const DcacheDesign& find_dcache_design(const std::string& name);

}  // namespace linebounce::workloads
