// A value of a configuration, from any source.
#pragma once

#include "workloads/program/parameters.hpp"

namespace linebounce::sim {

using namespace workloads;

// The value of a setting, in a sweep, in `at`, or from --set.
using ConfigValue = ParameterValue;

}  // namespace linebounce::sim
