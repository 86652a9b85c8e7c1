// Finds the positions of cores on a mesh from a latency matrix. `rest` is the matrix without what each single core adds to
// all its pairs; distances along columns and rows must explain it.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace linebounce::sim {

// A symmetric matrix; the diagonal is not used.
class Square {
 public:
  explicit Square(std::size_t size) : size_(size), cells_(size * size) {}
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] double at(std::size_t a, std::size_t b) const { return cells_[a * size_ + b]; }
  void set(std::size_t a, std::size_t b, double value) { cells_[a * size_ + b] = cells_[b * size_ + a] = value; }

 private:
  std::size_t size_;
  std::vector<double> cells_;
};

struct Mesh {
  std::vector<std::pair<int, int>> places;  // column and row of each core
  // Latency between neighbouring columns or rows in ns; 0 if no mesh explains anything.
  double hop = 0;
};

[[nodiscard]] int hops_between(const std::pair<int, int>& one, const std::pair<int, int>& other);

// The matrix without its mean and without what each row has in common.
Square without_rows(const Square& matrix);

// Finds a mesh for `rest`, which must be as from without_rows(). Starts with the directions in which cores are far apart (the
// eigenvectors of squared distances), rotates them and rounds to a grid. Then moves single cores as long as that improves the
// fit.
Mesh find_mesh(const Square& rest);

}  // namespace linebounce::sim
