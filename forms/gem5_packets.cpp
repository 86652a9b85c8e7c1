// Reads gem5's packet traces as util/decode_packet_trace.py prints them: "[ID,]COMMAND,ADDRESS,SIZE,[FLAGS,]TICK[,PC]", with
// decimal numbers. COMMAND is r, w, or u for all others.
#include <vector>

#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

std::optional<What> packet_command(std::string_view word) {
  if (word == "r") return What::load;
  if (word == "w") return What::store;
  if (word == "u") return What::other;
  return std::nullopt;
}

std::optional<AddressLine> gem5_line(std::string_view text) {
  constexpr std::size_t kFewest = 3, kMost = 5;  // number of fields after the command: address, size, flags, tick, pc
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    cells.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (decimal(cells.front())) cells.erase(cells.begin());
  const auto what = cells.empty() ? std::nullopt : packet_command(cells.front());
  if (!what || cells.size() < 1 + kFewest || cells.size() > 1 + kMost) return std::nullopt;
  std::vector<std::uint64_t> figures;
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const auto figure = decimal(cells[i]);
    if (!figure) return std::nullopt;
    figures.push_back(*figure);
  }
  if (figures[1] == 0) return std::nullopt;
  return AddressLine{.what = *what, .address = figures[0], .bytes = figures[1], .has_time = true};
}

constexpr AddressGrammar kGem5{.source = "gem5",
                               .expected = "[ID,]r|w|u,ADDRESS,SIZE,[FLAGS,]TICK[,PC]",
                               .parse = gem5_line,
                               .has_sizes = true,
                               .below_cache = true};

}  // namespace

Form gem5_packets_form() {
  return {.name = "gem5-packets",
          .what = "gem5's packet trace, as decode_packet_trace.py prints it",
          .marks = "r,ADDRESS,SIZE,FLAGS,TICK",
          .likeness = likeness_of(kGem5),
          .convert = convert_lines_of(kGem5),
          .joins_files = true};
}

}  // namespace linebounce::sim
