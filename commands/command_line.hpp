#pragma once

namespace linebounce::sim {

// Runs the whole program: parses the arguments, acts, and returns the exit code. Throws nothing.
int run_command_line(int argc, char** argv);

}  // namespace linebounce::sim
