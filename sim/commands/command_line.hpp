#pragma once

namespace linebounce::sim {

// The whole program: parses, does it, and returns the exit code. No exception leaves it.
int run_command_line(int argc, char** argv);

}  // namespace linebounce::sim
