// The Linux kernel's primitives, and C11's, as litmus tests call them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "litmus/program.hpp"

namespace linebounce::sim::litmus {

struct KernelCall {
  enum class Kind : std::uint8_t {
    load,        // (place)
    store,       // (place, value), and a fence behind it if `fence` is not 0
    fence,       // ()
    domain,      // (place): a fence with a place, SRCU's; the end of a section has the value that its beginning returned, too
    exchange,    // (place, value)
    compare,     // (place, expected, value)
    arithmetic,  // (value, place), or (place) with `operand`
    add_unless,  // (place, value, unless)
    lock,        // (place)
    try_lock,    // (place)
    nothing      // no event: it orders the compiler alone, or nothing here
  };
  enum class Returns : std::uint8_t { nothing, old, result, is_zero, is_negative, has_changed };
  Kind kind = Kind::nothing;
  Returns returns = Returns::nothing;
  Tags tags = 0;                    // of the load, the store or the fence
  Tags store_tags = 0;              // of an update's store
  Tags fence = 0;                   // store: of the fence behind it
  bool is_fenced = false;           // an update that stores has a full fence on either side
  bool is_place_an_lvalue = false;  // "*x" or "x" for the variable, not its address
  Expression::Op op = Expression::Op::add;
  std::optional<Word> operand = {};  // of arithmetic: for atomic_inc() and the like
  bool is_c11 = false;
  bool needs_order = false;  // C11: its last argument is the order
};

// Nothing if the name is not known.
std::optional<KernelCall> kernel_call(std::string_view name);

// What an order such as memory_order_acquire makes of a call. Errors: std::invalid_argument.
void set_c11_order(KernelCall& call, std::string_view order);

}  // namespace linebounce::sim::litmus
