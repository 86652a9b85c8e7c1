// Searches the order of a structure's members that makes its lines cost least, by choosing which members share a line.
//
// Members that the replay uses are divided among lines so that the sum of the lines' costs is smallest (SharedLineCosts). For
// up to kMostExact members, the division is optimal. For more, lines are merged, and then members are moved and swapped as
// long as that gains. Members that are hardly used fill the gaps and the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/layout/line_costs.hpp"

namespace linebounce::sim {

struct LayoutLimits {
  int keep_first = 0;           // bytes at the structure's beginning that stay as they are, with all members that begin there
  std::optional<int> max_size;  // limit on the structure's size in bytes; none: no limit
  bool cold_half = false;       // true: hardly used members begin on a line of their own, behind all others
};

// An order of all units, with the offset of each.
struct Arrangement {
  std::vector<std::size_t> order;
  std::vector<int> begins;  // by unit
  int size = 0;             // in bytes
  double cost = 0;          // as of SharedLineCosts
  bool exact = false;       // true: in the model, no division of the used members among as many lines costs less
};

class LayoutSearch {
 public:
  static constexpr std::size_t kMostExact = 12;

  // REQUIRES: all arguments outlive this object. `most_exact` is for tests.
  LayoutSearch(const StructureAccesses& accesses, SharedLineCosts& costs, const LayoutLimits& limits,
               std::size_t most_exact = kMostExact);

  // The structure as it is now.
  [[nodiscard]] Arrangement present();
  // Each used member on lines of its own, whatever the structure's size, so that nothing is shared by chance.
  [[nodiscard]] Arrangement apart();
  // Each written member on lines of its own, and all members that are only read together on others.
  [[nodiscard]] Arrangement by_role();
  // Arrangements that cost less than the present one, the cheapest first; at most one for each number of lines among which
  // the used members are divided.
  std::vector<Arrangement> find();
  // Number of members that the search divides among lines, which excludes large and hardly used ones.
  [[nodiscard]] std::size_t touched() const { return touched_.size(); }

 private:
  // A line of the arrangement. Its `pinned` units come first and stay there; they may begin on earlier lines.
  struct Bin {
    std::vector<UnitOnLine> pinned;
    int used = 0;  // bytes from the line's beginning to the end of the pinned units
    std::vector<std::size_t> units;
  };
  using Bins = std::vector<Bin>;

  void divide_units();
  [[nodiscard]] bool fits(const Bin& bin) const;
  [[nodiscard]] bool fits_with(Bin bin, std::size_t unit) const;
  [[nodiscard]] std::vector<std::size_t> packed(const Bin& bin) const;
  double cost(const Bin& bin);
  double cost(const Bins& bins);

  [[nodiscard]] Bins single_lines() const;
  std::vector<Bins> exact();
  std::vector<Bins> merged();
  bool merge_best(Bins& bins);
  void improve(Bins& bins);
  bool move_one(Bins& bins);
  bool swap_one(Bins& bins);
  [[nodiscard]] Arrangement realised(Bins bins);
  [[nodiscard]] static std::size_t first_unit(const Bin& bin);

  const StructureAccesses& accesses_;
  SharedLineCosts& costs_;
  const LayoutLimits& limits_;
  std::size_t most_exact_;
  std::vector<std::size_t> kept_;     // at the beginning, unmoved
  std::vector<std::size_t> touched_;  // used members that fit in a line
  std::vector<std::size_t> large_;    // used members that are longer than a line; each begins a line
  std::vector<std::size_t> rest_;     // hardly touched
  Bins fixed_;                        // lines that hold `kept_` or `large_` members
};

}  // namespace linebounce::sim
