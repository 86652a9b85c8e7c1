// A value of a configuration, whoever gave it.
#pragma once

#include "workloads/program/parameters.hpp"

namespace linebounce::sim {

using namespace workloads;

// A value of a setting, in a sweep, in `at`, or given by --set.
using ConfigValue = ParameterValue;

}  // namespace linebounce::sim
