// Linux 2.4.16: dcache_lock protects everything. d_lookup holds it while it walks the hash chain and takes the entry off the
// LRU list.
#include "workloads/linux24/dcache/designs.hpp"

namespace linebounce::workloads {
namespace {

class GlobalLock final : public Dcache {
 public:
  explicit GlobalLock(const DcacheSetup& setup) : Dcache(setup, "dentry") {}
};

}  // namespace

DcacheDesign global_lock_dcache() {
  return {.name = "global_lock", .defers_freeing = false, .create = make_dcache<GlobalLock>};
}

}  // namespace linebounce::workloads
