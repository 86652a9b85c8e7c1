#include "trace/byte_planes.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace linebounce::trace {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kSide = sizeof(Operation);
// A vector register of gcc and clang. Each of the shuffles below is one instruction on x86-64 and on Arm.
using Row = std::uint8_t __attribute__((vector_size(kSide)));
static_assert(kSide == 16, "low_halves and high_halves are for 16 bytes");

Row low_halves(Row a, Row b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
Row high_halves(Row a, Row b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

using Block = std::array<Row, kSide>;

// Interleaves the bytes of the block's first half with those of its second half.
Block shuffled(const Block& block) {
  Block next;
  for (std::size_t i = 0; i < kSide / 2; ++i) {
    next[2 * i] = low_halves(block[i], block[i + kSide / 2]);
    next[2 * i + 1] = high_halves(block[i], block[i + kSide / 2]);
  }
  return next;
}

// Byte c of row r becomes byte r of row c. A byte's number in the block has 8 bits, 4 of its row and 4 of its column. A shuffle
// rotates them by one, so four shuffles exchange row and column.
Block transposed(const Block& block) {
  return shuffled(shuffled(shuffled(shuffled(block))));
}

// Copies a block whose rows are `from_step` bytes apart to rows that are `to_step` bytes apart.
void transpose(const char* from, std::size_t from_step, char* to, std::size_t to_step) {
  Block block;
  for (std::size_t i = 0; i < kSide; ++i) std::memcpy(&block[i], from + i * from_step, kSide);
  block = transposed(block);
  for (std::size_t i = 0; i < kSide; ++i) std::memcpy(to + i * to_step, &block[i], kSide);
}

// Calls move(row, plane) for each byte of the rows behind the last whole block.
template <class Move>
void each_byte_behind(std::size_t blocks, std::size_t rows, Move&& move) {
  for (std::size_t row = blocks * kSide; row < rows; ++row) {
    for (std::size_t plane = 0; plane < kSide; ++plane) move(row, plane);
  }
}

}  // namespace

void to_planes(std::span<const Operation> operations, std::span<char> planes) {
  const auto* bytes = reinterpret_cast<const char*>(operations.data());
  const std::size_t rows = operations.size();
  for (std::size_t first = 0; first + kSide <= rows; first += kSide) {
    transpose(bytes + first * kSide, kSide, planes.data() + first, rows);
  }
  each_byte_behind(rows / kSide, rows,
                   [&](std::size_t row, std::size_t plane) { planes[plane * rows + row] = bytes[row * kSide + plane]; });
}

void from_planes(std::span<const char> planes, std::span<Operation> operations) {
  auto* bytes = reinterpret_cast<char*>(operations.data());
  const std::size_t rows = operations.size();
  for (std::size_t first = 0; first + kSide <= rows; first += kSide) {
    transpose(planes.data() + first, rows, bytes + first * kSide, kSide);
  }
  each_byte_behind(rows / kSide, rows,
                   [&](std::size_t row, std::size_t plane) { bytes[row * kSide + plane] = planes[plane * rows + row]; });
}

}  // namespace linebounce::trace
