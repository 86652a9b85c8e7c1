// A cache as processes with an interleaved memory policy (set_mempolicy(MPOL_INTERLEAVE)) see it.
#pragma once

#include <memory>

#include "workloads/linux26/slab/slab.hpp"

namespace linebounce::workloads {

// Of what processes allocate, `share_pct` comes from the next node, as alternate_node_alloc() takes it; handlers and softirqs
// have no policy.
std::unique_ptr<SlabCache> make_interleaved(Kernel& kernel, std::unique_ptr<SlabCache> cache, double share_pct,
                                            std::uint64_t number);

}  // namespace linebounce::workloads
