// For what reads configurations and writes results.
#pragma once

#include <toml++/toml.h>

#include <nlohmann/json.hpp>

#include "cmake/precompiled/standard.hpp"
