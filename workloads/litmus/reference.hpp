// The outcomes of a litmus test that a memory model allows, found by trying every order. This code knows nothing of the
// simulated machine, which is compared with it.
#pragma once

#include <set>

#include "models/machine_spec.hpp"
#include "workloads/litmus/litmus_test.hpp"

namespace linebounce::workloads {

// What the architecture allows.
//   sc    interleavings of the threads' operations
//   tso   the same, with a store buffer for each thread that drains in order (Owens, Sarkar, Sewell: "A better x86 memory
//   model:
//         x86-TSO", TPHOLs 2009)
//   ia64  Intel's rules for write-back memory, see allowed_by_itanium
std::set<LitmusOutcome> allowed_outcomes(const LitmusTest& test, Consistency model);

// The outcomes of a machine whose threads perform one operation after the other and keep stores in a buffer of any size.
// Stores to one word leave the buffer in order, and a releasing store leaves it only as the oldest. `in_order`: all stores
// leave it in order.
std::set<LitmusOutcome> outcomes_with_store_buffers(const LitmusTest& test, bool in_order);

// The rules of "A Formal Specification of Intel Itanium Processor Family Memory Ordering" (2002), which the Software
// Developer's Manual, volume 2, part 2, chapter 2, explains with executions like these.
std::set<LitmusOutcome> allowed_by_itanium(const LitmusTest& test);

}  // namespace linebounce::workloads
