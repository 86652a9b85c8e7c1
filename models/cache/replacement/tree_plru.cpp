#include "models/cache/replacement/tree_plru.hpp"

#include <bit>

namespace linebounce {

TreePlru::TreePlru(std::size_t sets, int ways)
    : way_bits_(std::countr_zero(static_cast<unsigned>(ways))), paths_(static_cast<std::size_t>(ways)), trees_(sets) {
  for (int way = 0; way < ways; ++way) paths_[static_cast<std::size_t>(way)] = path_of(way);
}

TreePlru::Path TreePlru::path_of(int way) const {
  Path path;
  unsigned node = 1;
  for (int half = ways() / 2; half > 0; half /= 2) {
    const unsigned upper = (way & half) != 0 ? 1U : 0U;
    const std::uint32_t bit = std::uint32_t{1} << node;
    path.nodes |= bit;
    if (upper == 0) path.colder |= bit;
    node = node * 2 + upper;
  }
  return path;
}

int TreePlru::coldest(std::size_t set) const {
  unsigned node = 1;
  int way = 0;
  for (int half = ways() / 2; half > 0; half /= 2) {
    const unsigned upper = (trees_[set] >> node) & 1U;
    way += upper != 0 ? half : 0;
    node = node * 2 + upper;
  }
  return way;
}

}  // namespace linebounce
