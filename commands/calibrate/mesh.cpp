#include "commands/calibrate/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace linebounce::sim {
namespace {

using Vector = std::vector<double>;
using Places = std::vector<std::pair<int, int>>;

constexpr int kMostLines = 12;  // columns or rows
constexpr int kTurns = 18;      // number of rotations to try within a right angle, to align the grid
constexpr int kPowerSteps = 400;
constexpr int kMostPasses = 20;
constexpr double kWorthMoving = 1e-9;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void scale(Vector& vector, double by) {
  for (double& value : vector) value *= by;
}

// The eigenvector with the most negative eigenvalue among those orthogonal to `others`, scaled by the root of the
// eigenvalue's size. Uses the power method, on a matrix that is shifted so that no eigenvalue is negative.
Vector direction(const Square& matrix, const std::vector<Vector>& others) {
  const std::size_t size = matrix.size();
  double shift = 0;
  for (std::size_t a = 0; a < size; ++a) {
    double row = 0;
    for (std::size_t b = 0; b < size; ++b) row += std::fabs(matrix.at(a, b));
    shift = std::max(shift, row);
  }
  Vector vector(size);
  for (std::size_t i = 0; i < size; ++i) vector[i] = 1 + static_cast<double>((i * 37 + others.size() * 11) % 17);
  double eigenvalue = 0;
  for (int step = 0; step < kPowerSteps; ++step) {
    for (const Vector& other : others) {
      const double length = dot(other, other);
      if (length <= 0) continue;
      const double part = dot(vector, other) / length;
      for (std::size_t i = 0; i < size; ++i) vector[i] -= part * other[i];
    }
    const double length = std::sqrt(dot(vector, vector));
    if (length <= 0) return vector;
    scale(vector, 1 / length);
    Vector next(size);
    for (std::size_t a = 0; a < size; ++a) {
      next[a] = shift * vector[a];
      for (std::size_t b = 0; b < size; ++b) {
        if (b != a) next[a] -= matrix.at(a, b) * vector[b];
      }
    }
    eigenvalue = dot(vector, next) - shift;
    vector = std::move(next);
  }
  const double length = std::sqrt(dot(vector, vector));
  if (length > 0) scale(vector, std::sqrt(std::max(eigenvalue, 0.0)) / length);
  return vector;
}

std::vector<int> on_lines(const Vector& values, int lines) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double range = *most - *least;
  std::vector<int> numbers;
  for (const double value : values) {
    numbers.push_back(range > 0 ? static_cast<int>(std::lround((value - *least) / range * (lines - 1))) : 0);
  }
  return numbers;
}

// For some places: the part of the sum of squares of `rest` that they explain, and the best latency of a hop.
struct Explained {
  double squares = 0, hop = 0;
};
Explained explained_by(const Places& places, const Square& rest) {
  Square hops(rest.size());
  for (std::size_t a = 0; a < rest.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) hops.set(a, b, hops_between(places[a], places[b]));
  }
  const Square apart = without_rows(hops);
  double both = 0;
  double own = 0;
  for (std::size_t a = 0; a < rest.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      both += apart.at(a, b) * rest.at(a, b);
      own += apart.at(a, b) * apart.at(a, b);
    }
  }
  if (own <= 0 || both <= 0) return {};
  return {both * both / own, both / own};
}

Places on_grid(const Square& rest) {
  const Vector one = direction(rest, {});
  const Vector other = direction(rest, {one});
  Places best(rest.size());
  double most = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    // Rotates in about equal steps over a right angle. t is the tangent of half the angle.
    const double t = static_cast<double>(turn) / kTurns;
    const double cosine = (1 - t * t) / (1 + t * t);
    const double sine = 2 * t / (1 + t * t);
    Vector x(rest.size());
    Vector y(rest.size());
    for (std::size_t i = 0; i < rest.size(); ++i) {
      x[i] = cosine * one[i] + sine * other[i];
      y[i] = cosine * other[i] - sine * one[i];
    }
    for (int columns = 1; columns <= kMostLines; ++columns) {
      const std::vector<int> column = on_lines(x, columns);
      for (int rows = 1; rows <= kMostLines; ++rows) {
        const std::vector<int> row = on_lines(y, rows);
        Places places(rest.size());
        for (std::size_t i = 0; i < places.size(); ++i) places[i] = {column[i], row[i]};
        const double squares = explained_by(places, rest).squares;
        if (squares > most * (1 + kWorthMoving)) most = squares, best = std::move(places);
      }
    }
  }
  return best;
}

void move_each(Places& places, const Square& rest) {
  constexpr std::pair<int, int> kSteps[] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
  double most = explained_by(places, rest).squares;
  bool moved = true;
  for (int pass = 0; pass < kMostPasses && moved; ++pass) {
    moved = false;
    for (auto& place : places) {
      for (const auto& [right, down] : kSteps) {
        const auto before = place;
        place = {before.first + right, before.second + down};
        const double squares = place.first < 0 || place.second < 0 ? 0 : explained_by(places, rest).squares;
        if (squares > most * (1 + kWorthMoving)) {
          most = squares;
          moved = true;
        } else {
          place = before;
        }
      }
    }
  }
}

}  // namespace

int hops_between(const std::pair<int, int>& one, const std::pair<int, int>& other) {
  return std::abs(one.first - other.first) + std::abs(one.second - other.second);
}

Square without_rows(const Square& matrix) {
  const std::size_t size = matrix.size();
  Square rest(size);
  if (size < 3) return rest;
  Vector sums(size);
  double all = 0;
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < size; ++b) {
      if (a != b) sums[a] += matrix.at(a, b);
    }
    all += sums[a];
  }
  // Fits mean + row + column to all pairs except the diagonal, by least squares. The rows' parts sum to 0.
  const auto count = static_cast<double>(size);
  const double mean = all / (count * (count - 1));
  for (std::size_t a = 0; a < size; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double rows = (sums[a] + sums[b] - 2 * (count - 1) * mean) / (count - 2);
      rest.set(a, b, matrix.at(a, b) - mean - rows);
    }
  }
  return rest;
}

Mesh find_mesh(const Square& rest) {
  Mesh mesh;
  mesh.places = on_grid(rest);
  move_each(mesh.places, rest);
  mesh.hop = explained_by(mesh.places, rest).hop;
  return mesh;
}

}  // namespace linebounce::sim
