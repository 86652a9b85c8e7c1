// The hash chain is walked without a lock, under RCU; only the reference and the LRU list take dcache_lock (OLS 2002, section
// 3).
#include "workloads/linux24/dcache/designs.hpp"

namespace linebounce::workloads {
namespace {

class RcuLookup final : public Dcache {
 public:
  explicit RcuLookup(const DcacheSetup& setup) : Dcache(setup, "dentry_rcu") {}

  Address d_lookup(Cpu& cpu, Address parent, const Name& name) override { return find_and_get(cpu, parent, name); }
};

}  // namespace

DcacheDesign rcu_lookup_dcache() {
  return {.name = "rcu_lookup", .defers_freeing = true, .create = make_dcache<RcuLookup>};
}

}  // namespace linebounce::workloads
