// The data that a controller keeps of its lines, indexed by the lines' slots in the LineStore. Only lines whose data is kept
// take memory for it.
#pragma once

#include <cstdint>
#include <vector>

#include "models/bus/memory_side.hpp"
#include "models/network/network.hpp"

namespace linebounce {

class KeptData {
 public:
  explicit KeptData(int line_bytes) : line_bytes_(line_bytes) {}

  // Makes room for the lines of all slots below `slots`. All other functions require that their slot has room.
  void resize(std::size_t slots) { lines_.resize(slots); }

  // The line's data. LineData::bytes is null if none is kept, and otherwise valid until the next put() for a line without data.
  [[nodiscard]] LineData data(Slot slot) {
    const Line& line = lines_[slot];
    return {line.block == kNone ? nullptr : bytes(line.block), line.version};
  }
  void put(Slot slot, const LineData& data) {
    Line& line = lines_[slot];
    if (line.block == kNone) line.block = take_block();
    copy_line(bytes(line.block), data.bytes, line_bytes_);
    line.version = data.version;
  }
  void drop(Slot slot) {
    std::uint32_t& block = lines_[slot].block;
    if (block == kNone) return;
    free_.push_back(block);
    block = kNone;
  }

  // The origin of the message that last brought the line's data. drop() does not change it.
  [[nodiscard]] DataOrigin& origin(Slot slot) { return lines_[slot].origin; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct Line {
    std::uint32_t block = kNone;  // index of the line's bytes in bytes_, counted in lines
    Version version = 0;
    DataOrigin origin;
  };

  [[nodiscard]] std::byte* bytes(std::uint32_t block) { return &bytes_[block * line_bytes_]; }
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
  std::vector<Line> lines_;
  std::vector<std::byte> bytes_;
  std::vector<std::uint32_t> free_;  // blocks that no line uses
};

}  // namespace linebounce
