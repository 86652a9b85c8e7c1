// A set of CPUs, with Linux's text form: "0-3,8".
#pragma once

#include <bitset>
#include <optional>
#include <string>
#include <string_view>

#include "models/spec_binder.hpp"

namespace linebounce::sim {

using CpuSet = std::bitset<kMostCpus>;

std::string cpu_list(const CpuSet& cpus);
// None if the text is not a list of CPUs.
std::optional<CpuSet> read_cpu_list(std::string_view text);

}  // namespace linebounce::sim
