// The outcomes of a litmus test that a memory model allows, found by trying every order. This code knows nothing of the
// simulated machine, which is compared with it.
#pragma once

#include <cstddef>
#include <set>
#include <stdexcept>

#include "models/machine_spec.hpp"
#include "workloads/litmus/litmus_test.hpp"

namespace linebounce::workloads {

struct ReferenceLimits {
  std::size_t states = 100'000;  // takes about a second and 100 MB
  // True if one of several orders that no thread can tell apart is enough.
  bool one_of_equals = true;
};

// A test has more orders than ReferenceLimits permit, so nothing is known of its outcomes. The message: how many, as the rest
// of a sentence.
class TooManyOrders : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// All functions: TooManyOrders.

// What the architecture allows.
//   sc    interleavings of the threads' operations
//   tso   the same, with a store buffer for each thread that drains in order (Owens, Sarkar, Sewell: "A better x86 memory
//   model:
//         x86-TSO", TPHOLs 2009)
//   ia64  Intel's rules for write-back memory, see allowed_by_itanium
std::set<LitmusOutcome> allowed_outcomes(const LitmusTest& test, Consistency model, const ReferenceLimits& limits = {});

// The outcomes of a machine whose threads perform one operation after the other and keep stores in a buffer of any size.
// Stores to one word leave the buffer in order, and a releasing store leaves it only as the oldest. `in_order`: all stores
// leave it in order.
std::set<LitmusOutcome> outcomes_with_store_buffers(const LitmusTest& test, bool in_order, const ReferenceLimits& limits = {});

// The rules of "A Formal Specification of Intel Itanium Processor Family Memory Ordering" (2002), which the Software
// Developer's Manual, volume 2, part 2, chapter 2, explains with executions like these.
std::set<LitmusOutcome> allowed_by_itanium(const LitmusTest& test, const ReferenceLimits& limits = {});

// Errors: TooManyOrders if the states are more than the limit.
void require_few_states(std::size_t states, const ReferenceLimits& limits);

}  // namespace linebounce::workloads
