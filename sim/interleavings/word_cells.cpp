#include "sim/interleavings/word_cells.hpp"

#include <algorithm>
#include <iterator>

namespace linebounce::sim {

WordCells::Cell WordCells::cell_of(Address address, int bytes) {
  Address begin = address, end = address + static_cast<Address>(bytes);
  auto cell = cells_.upper_bound(address);
  if (cell != cells_.begin() && std::prev(cell)->first + static_cast<Address>(std::prev(cell)->second) > address) --cell;
  if (cell == cells_.end() || cell->first >= end) {
    cells_[address] = bytes;
    return {address, bytes};
  }
  if (cell->first <= begin && cell->first + static_cast<Address>(cell->second) >= end) return {cell->first, cell->second};
  while (cell != cells_.end() && cell->first < end) {
    begin = std::min(begin, cell->first);
    end = std::max(end, cell->first + static_cast<Address>(cell->second));
    cell = cells_.erase(cell);
  }
  cells_[begin] = static_cast<int>(end - begin);
  throw CellsHaveGrown();
}

}  // namespace linebounce::sim
