#include "trace/byte_planes.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace linebounce::trace {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kSide = 8;
using Block = std::array<std::uint64_t, kSide>;  // 8 rows of 8 bytes

// One step of a transposition: within each square of 2 * `side` bytes, exchanges the two off-diagonal squares of `side` bytes.
template <std::size_t side>
void exchange(Block& block, std::uint64_t low) {
  constexpr std::size_t kBits = 8 * side;
  for (std::size_t row = 0; row < kSide; ++row) {
    if ((row & side) != 0) continue;
    const std::uint64_t differs = ((block[row] >> kBits) ^ block[row + side]) & low;
    block[row + side] ^= differs;
    block[row] ^= differs << kBits;
  }
}

// Transposes the block: byte c of row r becomes byte r of row c.
void transpose(Block& block) {
  exchange<4>(block, 0x00000000FFFFFFFF);
  exchange<2>(block, 0x0000FFFF0000FFFF);
  exchange<1>(block, 0x00FF00FF00FF00FF);
}

// Calls move(row, plane) for each byte of the rows behind the last whole block.
template <class Move>
void each_byte_behind(std::size_t blocks, std::size_t rows, Move&& move) {
  for (std::size_t row = blocks * kSide; row < rows; ++row) {
    for (std::size_t plane = 0; plane < sizeof(Operation); ++plane) move(row, plane);
  }
}

}  // namespace

void to_planes(std::span<const Operation> operations, std::span<char> planes) {
  const auto* bytes = reinterpret_cast<const char*>(operations.data());
  const std::size_t rows = operations.size();
  for (std::size_t first = 0; first + kSide <= rows; first += kSide) {
    for (std::size_t half = 0; half < sizeof(Operation); half += kSide) {
      Block block;
      for (std::size_t i = 0; i < kSide; ++i) std::memcpy(&block[i], bytes + (first + i) * sizeof(Operation) + half, kSide);
      transpose(block);
      for (std::size_t i = 0; i < kSide; ++i) std::memcpy(planes.data() + (half + i) * rows + first, &block[i], kSide);
    }
  }
  each_byte_behind(rows / kSide, rows, [&](std::size_t row, std::size_t plane) {
    planes[plane * rows + row] = bytes[row * sizeof(Operation) + plane];
  });
}

void from_planes(std::span<const char> planes, std::span<Operation> operations) {
  auto* bytes = reinterpret_cast<char*>(operations.data());
  const std::size_t rows = operations.size();
  for (std::size_t first = 0; first + kSide <= rows; first += kSide) {
    for (std::size_t half = 0; half < sizeof(Operation); half += kSide) {
      Block block;
      for (std::size_t i = 0; i < kSide; ++i) std::memcpy(&block[i], planes.data() + (half + i) * rows + first, kSide);
      transpose(block);
      for (std::size_t i = 0; i < kSide; ++i) std::memcpy(bytes + (first + i) * sizeof(Operation) + half, &block[i], kSide);
    }
  }
  each_byte_behind(rows / kSide, rows, [&](std::size_t row, std::size_t plane) {
    bytes[row * sizeof(Operation) + plane] = planes[plane * rows + row];
  });
}

}  // namespace linebounce::trace
