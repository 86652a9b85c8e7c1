// `linebounce layout`: the parent of the commands that search and compare layouts. Each has a file of its own.
#include "commands/common/command.hpp"
#include "models/listed.hpp"

namespace linebounce::sim {

static void add_layout_commands(Command& layout) {
  LISTED(AddSubcommand, add_layout_optimise)(layout);
  LISTED(AddSubcommand, add_layout_diff)(layout);
}

namespace {

constexpr const char* kLayoutFooter = R"(Examples:
  linebounce layout optimise account --accesses server.lbt
      a better order for the members of a structure of a recorded program
  linebounce layout optimise tcp_sock --pahole vmlinux.pahole --accesses tcp_sock.rst
      the same, from a table of which code touches which member, as the kernel has for networking
  linebounce layout diff before.pahole:page_counter after.pahole:page_counter --accesses page_counter.rst
      which members share lines now, and what that costs)";

}  // namespace

void add_layout(Command& program) {
  Command layout =
      program.subcommand("layout", "Search the order of a structure's members, and compare two orders", HelpGroup::programs);
  layout.require_subcommand();
  layout.footer(kLayoutFooter);
  add_layout_commands(layout);
}

}  // namespace linebounce::sim
