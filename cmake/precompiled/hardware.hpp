// For SystemC's modules.
#pragma once

#include <systemc>

#include "cmake/precompiled/standard.hpp"
