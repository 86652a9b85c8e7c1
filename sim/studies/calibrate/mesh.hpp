// Places on a mesh from distances: which columns and rows explain best what a way to and from each core leaves of a matrix.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace linebounce::sim {

// A symmetric matrix; the diagonal means nothing.
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
  std::vector<std::pair<int, int>> places;  // column and row
  double hop = 0;                           // of each column or row between two places; 0: no mesh explains anything
};

[[nodiscard]] int hops_between(const std::pair<int, int>& one, const std::pair<int, int>& other);

// The matrix without its mean and without what each row has in common.
Square without_rows(const Square& matrix);

// Of `rest`, which has no common part of any row any more: directions in which cores lie apart (the eigenvectors that squared
// distances would have), turned and rounded to a grid, then each core moved as long as that helps.
Mesh find_mesh(const Square& rest);

}  // namespace linebounce::sim
