#pragma once

namespace linebounce::sim {

// The whole program: parses, acts, and returns the exit code. Throws nothing.
int run_command_line(int argc, char** argv);

}  // namespace linebounce::sim
