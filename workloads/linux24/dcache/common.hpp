// What all loads on the dentry cache have in common: parameters, the cache, times.
#pragma once

#include <memory>
#include <vector>

#include "workloads/linux24/dcache/designs.hpp"
#include "workloads/program/parameters.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

// Design, lock, layout, sizes and the costs of a path's component. `dentries`: the default of how many there can be.
std::vector<ParameterDeclaration> dcache_parameters(std::int64_t dentries);

// A directory as the file system sees it of which only one name is asked for.
class OneFile final : public DiskDirectory {
 public:
  explicit OneFile(Address inode) : inode_(inode) {}
  [[nodiscard]] Address inode(const Name&) const override { return inode_; }

 private:
  Address inode_;
};

// The cache that they describe. Errors: std::invalid_argument.
struct DcacheParts {
  std::unique_ptr<Interrupts> interrupts;
  std::unique_ptr<Rcu> rcu;  // of designs that need it
  std::unique_ptr<Dcache> dcache;
  PathCosts costs;
};
DcacheParts make_dcache_parts(const Parameters& parameters, const WorkloadSetup& setting);

// A new inode without entries. NAME[number].
Address place_inode(const WorkloadSetup& setting, const std::string& name, std::uint64_t number);

}  // namespace linebounce::workloads
