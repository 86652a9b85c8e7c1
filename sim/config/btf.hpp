// Reads structures from BTF, the type information of a Linux kernel, as `bpftool btf dump ... format raw` prints it, as text or
// with -j as JSON.
#pragma once

#include <string>
#include <vector>

#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

// The named structures in the text, with fields as parse_pahole() names them. `file`: for messages. Errors: ConfigError with
// the line.
std::vector<Layout> parse_btf(const std::string& text, const std::string& file);

}  // namespace linebounce::sim
