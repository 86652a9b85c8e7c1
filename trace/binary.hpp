// The binary form of a trace, byte for byte, little endian (docs/trace-files.md): a head, zstd frames, a tail. Head and tail
// are zstd skippable frames, so the program zstd can test and unpack the file.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "trace/operation.hpp"

namespace linebounce::trace {

static_assert(std::endian::native == std::endian::little, "numbers go to files as they are in memory");

constexpr std::uint32_t kSkippable = 0x184D2A5B;
constexpr std::uint32_t kVersion = 2;
constexpr std::uint32_t kVersionWithRows = 1;  // readable, too: its operations are stored as in memory, not in byte planes
using Letters = std::array<char, 16>;
constexpr Letters kHeadLetters = {'l', 'i', 'n', 'e', 'b', 'o', 'u', 'n', 'c', 'e', ' ', 't', 'r', 'a', 'c', 'e'};
constexpr Letters kTailLetters = {'l', 'i', 'n', 'e', 'b', 'o', 'u', 'n', 'c', 'e', ' ', 'i', 'n', 'd', 'e', 'x'};

struct FileHead {
  std::uint32_t magic = kSkippable;
  std::uint32_t size = 20;
  Letters letters = kHeadLetters;
  std::uint32_t version = kVersion;
};
static_assert(sizeof(FileHead) == 28);

struct FileTail {
  std::uint32_t magic = kSkippable;
  std::uint32_t size = 24;
  std::uint64_t index = 0;  // offset of the index frame in the file
  Letters letters = kTailLetters;
};
static_assert(sizeof(FileTail) == 32);

using FrameType = std::array<char, 4>;
constexpr FrameType kSymbolsFrame = {'S', 'Y', 'M', 'B'};
constexpr FrameType kOperationsFrame = {'O', 'P', 'E', 'R'};
constexpr FrameType kSummaryFrame = {'S', 'U', 'M', 'M'};
constexpr FrameType kIndexFrame = {'I', 'N', 'D', 'X'};

// The head of each frame's content.
struct FrameHead {
  FrameType type = {};
  std::uint32_t stream = 0;  // an operations frame's stream; otherwise 0
  std::uint64_t first = 0;   // number in the stream of the frame's first operation, or in the file of its first symbol line
};
static_assert(sizeof(FrameHead) == 16);

// The index has an entry for each frame before it, in their order.
struct IndexEntry {
  std::uint64_t offset = 0;  // offset of the frame
  FrameType type = {};
  std::uint32_t stream = 0;
  std::uint32_t count = 0;     // number of operations or symbol lines; 1 for the summary
  std::uint32_t checksum = 0;  // the frame's last four bytes
};
static_assert(sizeof(IndexEntry) == 24);

// Limits on a frame's content, so that a reader knows in advance how much memory it needs.
constexpr std::size_t kFrameOperations = 8192;
constexpr std::size_t kFrameLines = 4096;
constexpr std::size_t kOperationsBytes = sizeof(FrameHead) + kFrameOperations * sizeof(Operation);
constexpr std::size_t kTextBytes = std::size_t{16} << 20;  // for symbols, and for the summary
// Limit on the unpacked size of all symbol frames: kFreeSymbolBytes, and beyond that kMostSymbolRatio bytes for each byte in
// the file. Zstandard packs a program's names to a tenth.
constexpr std::uint64_t kFreeSymbolBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostSymbolRatio = 256;

}  // namespace linebounce::trace
