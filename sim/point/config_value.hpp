// A value of a configuration, from any source.
#pragma once

#include "workloads/program/parameters.hpp"

namespace linebounce::sim {

using namespace workloads;

// A setting's value: in a configuration file, a sweep, `at`, or --set.
using ConfigValue = ParameterValue;

}  // namespace linebounce::sim
