// Reads structures from BTF, the type information of a Linux kernel. Accepts the output of `bpftool btf dump ... format raw`,
// both text and JSON (-j).
#pragma once

#include <string>
#include <vector>

#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

// Returns the named structures in the text. Nested fields are named as by parse_pahole(). `file`: the text's name in
// messages. Errors: ConfigError with the line.
std::vector<Layout> parse_btf(const std::string& text, const std::string& file);

}  // namespace linebounce::sim
