// How text traces name CPUs: "3", "P3", "Core3:" or "[3]".
#pragma once

#include <optional>
#include <string_view>

namespace linebounce::sim {

// Parses a CPU's number; returns nothing for any other word.
std::optional<int> cpu_number(std::string_view word);

// True for a word that says that a CPU's number comes next: "core" in "core 1:".
bool announces_cpu(std::string_view word);

}  // namespace linebounce::sim
