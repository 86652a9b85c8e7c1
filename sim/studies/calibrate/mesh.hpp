// Finds the positions of cores on a mesh from their distances. `rest` is the part of a matrix that distances to and from each
// single core do not explain; columns and rows of the mesh must explain it.
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
  double hop = 0;                           // latency between neighbouring columns or rows; 0 if no mesh explains anything
};

[[nodiscard]] int hops_between(const std::pair<int, int>& one, const std::pair<int, int>& other);

// The matrix without its mean and without each row's common part.
Square without_rows(const Square& matrix);

// Finds a mesh for `rest`, from which each row's common part was removed. Starts with the directions in which cores are far
// apart (the eigenvectors of squared distances), rotates them and rounds to a grid. Then moves single cores as long as that
// helps.
Mesh find_mesh(const Square& rest);

}  // namespace linebounce::sim
