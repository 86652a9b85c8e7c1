// A fiber's stack, without protected pages, which do not exist here.
#pragma once

#include "fiber.hpp"

namespace boost::context {

using protected_fixedsize_stack = fixedsize_stack;

}  // namespace boost::context
