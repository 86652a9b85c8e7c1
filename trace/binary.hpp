// The binary form, byte for byte, little endian (docs/trace-format.md): a head, zstd frames, a tail. Head and tail are zstd's
// skippable frames, so that the file is one that the program zstd tests and unpacks.
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
constexpr std::uint32_t kVersionWithRows = 1;  // is read, too: operations lie there as in memory, not in planes of bytes
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
  std::uint64_t index = 0;  // where in the file its frame begins
  Letters letters = kTailLetters;
};
static_assert(sizeof(FileTail) == 32);

using FrameType = std::array<char, 4>;
constexpr FrameType kSymbolsFrame = {'S', 'Y', 'M', 'B'};
constexpr FrameType kOperationsFrame = {'O', 'P', 'E', 'R'};
constexpr FrameType kSummaryFrame = {'S', 'U', 'M', 'M'};
constexpr FrameType kIndexFrame = {'I', 'N', 'D', 'X'};

// What the content of each frame begins with.
struct FrameHead {
  FrameType type = {};
  std::uint32_t stream = 0;  // of operations; else 0
  std::uint64_t first = 0;   // the number of its first operation in the stream, or of its first line of symbols in the file
};
static_assert(sizeof(FrameHead) == 16);

// One of these for each frame before the index, in their order.
struct IndexEntry {
  std::uint64_t offset = 0;  // where the frame begins
  FrameType type = {};
  std::uint32_t stream = 0;
  std::uint32_t count = 0;     // operations, lines of symbols; 1 of the summary
  std::uint32_t checksum = 0;  // the frame's last four bytes
};
static_assert(sizeof(IndexEntry) == 24);

// The largest frames, so that a reader knows beforehand how much memory it takes.
constexpr std::size_t kFrameOperations = 8192;
constexpr std::size_t kFrameLines = 4096;
constexpr std::size_t kOperationsBytes = sizeof(FrameHead) + kFrameOperations * sizeof(Operation);
constexpr std::size_t kTextBytes = std::size_t{16} << 20;  // of symbols or the summary
// All frames of symbols together; beyond that, bytes for each in the file. Zstandard packs names of a program to a tenth.
constexpr std::uint64_t kFreeSymbolBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostSymbolRatio = 256;

}  // namespace linebounce::trace
