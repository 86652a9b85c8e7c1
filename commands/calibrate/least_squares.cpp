#include "commands/calibrate/least_squares.hpp"

#include <cmath>
#include <utility>

namespace linebounce::sim {
namespace {

// As a share of an unknown's effect. What earlier unknowns leave of it counts only above this share, because less may come
// from rounding to whole clocks.
constexpr double kApart = 0.1;
// As a share of the dependent unknown's effect; a Dependence leaves out unknowns that contribute less.
constexpr double kNamed = 0.05;
constexpr double kPowerless = 1e-9;

using Vector = std::vector<double>;

double product(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void subtract(Vector& from, const Vector& what, double times) {
  for (std::size_t i = 0; i < from.size(); ++i) from[i] -= times * what[i];
}

Vector column_of(const Slopes& slopes, const Vector& weights, std::size_t unknown) {
  Vector column;
  for (std::size_t row = 0; row < slopes.size(); ++row) column.push_back(std::sqrt(weights[row]) * slopes[row][unknown]);
  return column;
}

// Orthogonal directions for some unknowns (Gram-Schmidt), and each unknown's components in them.
class Directions {
 public:
  // Adds an unknown's column. Returns true if the column is independent of the earlier ones.
  bool add(std::size_t unknown, Vector column) {
    const double whole = std::sqrt(product(column, column));
    Vector shares = split(column);
    const double rest = std::sqrt(product(column, column));
    if (whole <= kPowerless || rest < kApart * whole) return false;
    for (double& value : column) value /= rest;
    shares.push_back(rest);
    directions_.push_back(std::move(column));
    made_of_.push_back(std::move(shares));
    unknowns_.push_back(unknown);
    return true;
  }

  // How many units of each unknown together come closest to the column.
  [[nodiscard]] Vector nearest(Vector column) const {
    Vector shares = split(column);
    for (std::size_t i = shares.size(); i-- > 0;) {
      for (std::size_t later = i + 1; later < shares.size(); ++later) shares[i] -= made_of_[later][i] * shares[later];
      shares[i] /= made_of_[i][i];
    }
    return shares;
  }

  [[nodiscard]] const std::vector<std::size_t>& unknowns() const { return unknowns_; }

 private:
  // Subtracts the column's component in each direction, and returns the components. A second pass removes the rounding errors
  // of the first.
  Vector split(Vector& column) const {
    Vector shares(directions_.size(), 0);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i < directions_.size(); ++i) {
        const double share = product(column, directions_[i]);
        subtract(column, directions_[i], share);
        shares[i] += share;
      }
    }
    return shares;
  }

  std::vector<Vector> directions_;  // of length 1, mutually orthogonal
  std::vector<Vector> made_of_;     // by direction: the components of its unknown in the earlier directions and in this one
  std::vector<std::size_t> unknowns_;
};

class Bounded {
 public:
  Bounded(const Slopes& slopes, const Vector& wanted, const Vector& weights, const Vector& least)
      : least_(least), bound_(least.size(), false), released_(least.size(), false) {
    for (std::size_t i = 0; i < least.size(); ++i) columns_.push_back(column_of(slopes, weights, i));
    for (std::size_t row = 0; row < wanted.size(); ++row) wanted_.push_back(std::sqrt(weights[row]) * wanted[row]);
  }

  // Solves without bounds. Then moves unknowns below their bounds to the bounds and solves for the others, until none is
  // below. Releases each unknown from its bound at most once.
  Vector solve() {
    for (;;) {
      Vector x = solve_free();
      if (!hold(x) && !release(x)) return x;
    }
  }

 private:
  [[nodiscard]] Vector solve_free() const {
    Vector x(least_.size(), 0);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = bound_[i] ? least_[i] : 0;
    Directions directions;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!bound_[i]) directions.add(i, columns_[i]);
    }
    const Vector change = directions.nearest(left_over(x));
    for (std::size_t i = 0; i < change.size(); ++i) x[directions.unknowns()[i]] = change[i];
    return x;
  }

  [[nodiscard]] Vector left_over(const Vector& x) const {
    Vector rest = wanted_;
    for (std::size_t i = 0; i < x.size(); ++i) subtract(rest, columns_[i], x[i]);
    return rest;
  }

  bool hold(const Vector& x) {
    bool held = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (bound_[i] || x[i] >= least_[i]) continue;
      bound_[i] = held = true;
    }
    return held;
  }

  bool release(const Vector& x) {
    const Vector rest = left_over(x);
    const double enough = kPowerless * (1 + product(wanted_, wanted_));
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!bound_[i] || released_[i] || product(columns_[i], rest) <= enough) continue;
      bound_[i] = false;
      released_[i] = true;
      return true;
    }
    return false;
  }

  const Vector& least_;
  std::vector<Vector> columns_;
  Vector wanted_;
  std::vector<bool> bound_, released_;
};

// Leaves out negligible contributions.
Dependence dependence_of(std::size_t unknown, const Directions& directions, const Vector& parts, const Slopes& slopes,
                         const Vector& weights) {
  const auto length = [&](std::size_t i) {
    const Vector column = column_of(slopes, weights, i);
    return std::sqrt(product(column, column));
  };
  Dependence found;
  found.unknown = unknown;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t other = directions.unknowns()[i];
    if (std::fabs(parts[i]) * length(other) < kNamed * length(unknown)) continue;
    found.on.push_back(other);
    found.parts.push_back(parts[i]);
  }
  return found;
}

}  // namespace

Separation separate(const Slopes& slopes, const Vector& weights) {
  Separation separation;
  Directions directions;
  const std::size_t unknowns = slopes.empty() ? 0 : slopes.front().size();
  for (std::size_t i = 0; i < unknowns; ++i) {
    const Vector column = column_of(slopes, weights, i);
    if (std::sqrt(product(column, column)) <= kPowerless) {
      separation.powerless.push_back(i);
    } else if (directions.add(i, column)) {
      separation.apart.push_back(i);
    } else {
      separation.dependent.push_back(dependence_of(i, directions, directions.nearest(column), slopes, weights));
    }
  }
  return separation;
}

Vector least_squares(const Slopes& slopes, const Vector& wanted, const Vector& weights, const Vector& least) {
  return Bounded(slopes, wanted, weights, least).solve();
}

}  // namespace linebounce::sim
