// Recognises Linebounce's own traces.
#pragma once

#include "forms/excerpt.hpp"

namespace linebounce::sim {

bool is_own_trace(const Excerpt& excerpt);

}  // namespace linebounce::sim
