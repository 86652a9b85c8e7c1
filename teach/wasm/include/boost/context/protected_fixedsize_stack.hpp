// A fiber's stack; there are no pages here that could be protected.
#pragma once

#include "fiber.hpp"

namespace boost::context {

using protected_fixedsize_stack = fixedsize_stack;

}  // namespace boost::context
