// Searches the order of a structure's members: which of them share a line.
//
// Members that the replay touches are divided among lines so that the lines together cost least (SharedLineCosts). Up to
// kMostExact of them are divided in the best way there is; more by merging lines and then moving and swapping members as long
// as that gains. Members that are hardly touched fill the gaps, and follow at the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/studies/layout/line_costs.hpp"

namespace linebounce::sim {

struct LayoutLimits {
  int keep_first = 0;           // bytes at the beginning that stay as they are, with the members that begin there
  std::optional<int> max_size;  // of the structure, in bytes
  bool cold_half = false;       // hardly touched members begin a line of their own, behind all others
};

// An order of all units, each with its offset.
struct Arrangement {
  std::vector<std::size_t> order;
  std::vector<int> begins;  // by unit
  int size = 0;             // in bytes
  double cost = 0;          // as of SharedLineCosts
  bool exact = false;       // no division of the touched members among as many lines costs less
};

class LayoutSearch {
 public:
  static constexpr std::size_t kMostExact = 12;

  // REQUIRES: all arguments outlive this. `most_exact` is for tests.
  LayoutSearch(const StructureAccesses& accesses, SharedLineCosts& costs, const LayoutLimits& limits,
               std::size_t most_exact = kMostExact);

  // The structure as it is.
  [[nodiscard]] Arrangement present();
  // Each touched member on lines of its own, whatever the structure's size: nothing is shared by chance.
  [[nodiscard]] Arrangement apart();
  // Each written member on lines of its own, and those that are only read together.
  [[nodiscard]] Arrangement by_role();
  // Arrangements that cost less than the present one, the cheapest first; one for each number of lines for touched members.
  std::vector<Arrangement> find();
  // How many members the search divides among lines.
  [[nodiscard]] std::size_t touched() const { return touched_.size(); }

 private:
  // A line of the arrangement. `pinned` units come first and stay; they may begin on earlier lines.
  struct Bin {
    std::vector<UnitOnLine> pinned;
    int used = 0;  // by them, from the line's beginning
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
  std::vector<std::size_t> touched_;  // small enough for a line
  std::vector<std::size_t> large_;    // touched, and longer than a line: each begins one
  std::vector<std::size_t> rest_;     // hardly touched
  Bins fixed_;                        // the lines of `kept_` and `large_`
};

}  // namespace linebounce::sim
