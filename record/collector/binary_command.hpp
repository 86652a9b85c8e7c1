// How a program that was not compiled for us is run, so that it is recorded all the same.
#pragma once

#include <string>
#include <vector>

namespace linebounce::record {

// The command that runs `command` in QEMU with what records it (record/binary). Errors: RecordError, if QEMU is not installed,
// or if the program is none for it: only those that the loader of shared libraries starts are.
std::vector<std::string> binary_command(const std::vector<std::string>& command);

}  // namespace linebounce::record
