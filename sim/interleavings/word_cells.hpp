// Which bytes a lock accesses together: the cells of weak memory, each with an order of its stores.
#pragma once

#include <map>

#include "models/units.hpp"

namespace linebounce::sim {

// Thrown when an access overlaps a cell without lying within it: the search must begin again with the larger cell. It is no
// std::exception, because it says nothing of the lock.
struct CellsHaveGrown {};

class WordCells {
 public:
  struct Cell {
    Address address = 0;
    int bytes = 0;
  };
  // The cell that holds these bytes, which is made if no cell has any of them. `bytes`: at most 8, in one aligned word. Errors:
  // CellsHaveGrown.
  Cell cell_of(Address address, int bytes);

 private:
  std::map<Address, int> cells_;  // by first byte: number of bytes; they don't overlap
};

}  // namespace linebounce::sim
