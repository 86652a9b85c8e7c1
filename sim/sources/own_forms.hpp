// Recognises Linebounce's own traces.
#pragma once

#include "sim/sources/excerpt.hpp"

namespace linebounce::sim {

bool is_own_trace(const Excerpt& excerpt);

}  // namespace linebounce::sim
