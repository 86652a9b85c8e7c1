#include <cstdlib>

#include "sim/commands/command_line.hpp"

// SystemC's library holds a main() of its own, which prints a banner and then calls this. Ours comes first, so that neither is
// ever used, but the library does not link without it.
extern "C" int sc_main(int, char**) {
  return EXIT_FAILURE;
}

int main(int argc, char** argv) {
  return linebounce::sim::run_command_line(argc, argv);
}
