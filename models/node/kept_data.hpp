// Keeps the data of a controller's lines, in as many blocks as are in use at once. Each line remembers its block's number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace linebounce {

class KeptData {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  explicit KeptData(std::size_t line_bytes) : line_bytes_(line_bytes) {}

  // The data in the block; the pointer is valid until the next put(). REQUIRES: `block` is not kNone.
  [[nodiscard]] std::byte* bytes(std::uint32_t block) { return &bytes_[block * line_bytes_]; }

  // Copies a line's bytes to its block, and allocates the block if the line has none.
  void put(std::uint32_t& block, const std::byte* from) {
    if (block == kNone) block = take_block();
    std::memcpy(bytes(block), from, line_bytes_);
  }
  void drop(std::uint32_t& block) {
    if (block == kNone) return;
    free_.push_back(block);
    block = kNone;
  }

 private:
  std::uint32_t take_block() {
    if (free_.empty()) {
      bytes_.resize(bytes_.size() + line_bytes_);
      return static_cast<std::uint32_t>(bytes_.size() / line_bytes_ - 1);
    }
    const std::uint32_t block = free_.back();
    free_.pop_back();
    return block;
  }

  std::size_t line_bytes_;
  std::vector<std::byte> bytes_;
  std::vector<std::uint32_t> free_;
};

}  // namespace linebounce
