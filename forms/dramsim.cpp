// Reads the traces of DRAMSim's versions: "0xADDRESS COMMAND CYCLE". DRAMSim3 has READ and WRITE; DRAMSim2's traces are named
// after their sources and have P_MEM_RD, P_MEM_WR, P_FETCH and others (k6), or READ, WRITE and IFETCH (mase).
#include <algorithm>
#include <array>

#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

struct DramCommand {
  std::string_view word;
  What what;
};
constexpr std::array kDramCommands = {
    DramCommand{"READ", What::load},      DramCommand{"WRITE", What::store},     DramCommand{"P_MEM_RD", What::load},
    DramCommand{"P_MEM_WR", What::store}, DramCommand{"P_LOCK_RD", What::load},  DramCommand{"P_LOCK_WR", What::store},
    DramCommand{"P_FETCH", What::fetch},  DramCommand{"IFETCH", What::fetch},    DramCommand{"P_I/O_RD", What::other},
    DramCommand{"P_I/O_WR", What::other}, DramCommand{"P_INT_ACK", What::other}, DramCommand{"BOFF", What::other},
};

std::optional<AddressLine> dramsim_line(std::string_view text) {
  const std::string_view address = take_word(text), word = take_word(text);
  const auto* const command = std::ranges::find(kDramCommands, word, &DramCommand::word);
  if (command == kDramCommands.end() || !address.starts_with("0x") || !hexadecimal(address) || !decimal(text))
    return std::nullopt;
  return AddressLine{.what = command->what, .address = *hexadecimal(address), .has_time = true};
}

constexpr AddressGrammar kDramsim{.source = "DRAMSim",
                                  .expected = "0xADDRESS, READ, WRITE or another of DRAMSim's commands, and a cycle",
                                  .parse = dramsim_line,
                                  .below_cache = true,
                                  .has_comments = true};

}  // namespace

Form dramsim_form() {
  return {.name = "dramsim",
          .what = "traces of DRAMSim2 and DRAMSim3",
          .marks = "0xADDRESS READ CYCLE, 0xADDRESS P_MEM_WR CYCLE",
          .likeness = likeness_of(kDramsim),
          .convert = convert_lines_of(kDramsim),
          .joins_files = true};
}

}  // namespace linebounce::sim
