#include "trace/frames.hpp"

#include <fmt/format.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "trace/byte_planes.hpp"

namespace linebounce::trace {
namespace {

constexpr std::uint64_t kShortestFrame = 12;

FileTail read_tail(const InputFile& file) {
  FileTail tail;
  tail.letters = {};
  if (file.size() >= sizeof(FileHead) + sizeof tail) {
    file.read(file.size() - sizeof tail, {reinterpret_cast<char*>(&tail), sizeof tail});
  }
  if (tail.magic != kSkippable || tail.letters != kTailLetters) {
    throw DamageAt(file.size(), "no index at the end: the file was cut off, or its writer did not get to its end");
  }
  if (tail.size != FileTail{}.size) {
    throw DamageAt(file.size() - sizeof tail + offsetof(FileTail, size),
                   fmt::format("the tail's size is {}; legal: {}", tail.size, FileTail{}.size));
  }
  if (tail.index < sizeof(FileHead) || tail.index >= file.size() - sizeof tail) {
    throw DamageAt(file.size() - sizeof tail, fmt::format("the index is said to be at byte {}", tail.index));
  }
  return tail;
}

// Where the last frame ends at the latest: at the tail if there is one, else at the end of the file.
std::uint64_t end_of_frames(const InputFile& file) {
  try {
    read_tail(file);
    return file.size() - sizeof(FileTail);
  } catch (const DamageAt&) {
    return file.size();
  }
}

std::vector<ListedFrame> listed(std::span<const char> content, std::uint64_t end) {
  std::vector<ListedFrame> frames(content.size() / sizeof(IndexEntry));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::memcpy(&frames[i].entry, content.data() + i * sizeof(IndexEntry), sizeof(IndexEntry));
    frames[i].number = static_cast<std::uint32_t>(i);
  }
  std::map<std::uint32_t, std::uint64_t> operations;  // so far, by stream
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const IndexEntry& entry = frames[i].entry;
    const std::uint64_t next = i + 1 < frames.size() ? frames[i + 1].entry.offset : end;
    const bool is_first = i == 0;
    if ((is_first && entry.offset != sizeof(FileHead)) || entry.offset >= next || next > end) {
      throw FormatError(fmt::format("the index has frame {} from byte {} to {}", i, entry.offset, next));
    }
    frames[i].size = next - entry.offset;
    std::uint64_t& count = entry.type == kOperationsFrame ? operations[entry.stream] : lines;
    if (entry.type == kOperationsFrame || entry.type == kSymbolsFrame) {
      frames[i].first = count;
      count += entry.count;
    }
  }
  return frames;
}

ListedFrame described(const DecodedFrame& decoded, std::uint64_t offset, std::uint64_t size) {
  ListedFrame frame;
  frame.size = size;
  frame.first = decoded.head.first;
  frame.entry = {offset, decoded.head.type, decoded.head.stream, 1, decoded.checksum};
  if (decoded.head.type == kOperationsFrame) {
    frame.entry.count = static_cast<std::uint32_t>(decoded.content.size() / sizeof(Operation));
  }
  if (decoded.head.type == kSymbolsFrame) {
    frame.entry.count = static_cast<std::uint32_t>(std::ranges::count(decoded.content, '\n'));
  }
  return frame;
}

// Smallest size of a frame in bytes: magic number, descriptor, content size, one block's head, checksum.
constexpr std::size_t kLeast = 4 + 1 + 1 + 3 + 4;
constexpr std::uint8_t kHasChecksum = 4;  // a bit of the descriptor, the byte after the magic number

std::string zstd_error(std::size_t code) {
  if (ZSTD_getErrorCode(code) == ZSTD_error_checksum_wrong) return "checksum does not match";
  if (ZSTD_getErrorCode(code) == ZSTD_error_srcSize_wrong) return "it is cut off";
  return fmt::format("this is not a whole zstd frame: {}", ZSTD_getErrorName(code));
}

// The unpacked size, which the frame's head in `packed` states.
std::size_t content_size(std::span<const char> packed, std::size_t most) {
  const unsigned long long size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR) throw FormatError("no zstd frame begins here");
  if (size == ZSTD_CONTENTSIZE_UNKNOWN) throw FormatError("the frame does not say how large its content is");
  if (size < sizeof(FrameHead) || size > most) {
    throw FormatError(fmt::format("the frame has {} bytes unpacked; legal: {} to {}", size, sizeof(FrameHead), most));
  }
  return size;
}

}  // namespace

FrameDecoder::FrameDecoder() : context_(ZSTD_createDCtx()) {}

DecodedFrame FrameDecoder::decode(const InputFile& file, std::uint64_t offset, std::uint64_t size, std::size_t most) {
  if (size < kLeast || size > ZSTD_compressBound(most)) {
    throw FormatError(fmt::format("a frame of {} bytes; legal: {} to {}", size, kLeast, ZSTD_compressBound(most)));
  }
  packed_.resize(size);
  file.read(offset, packed_);
  const std::size_t content = content_size(packed_, most);
  if ((packed_[4] & kHasChecksum) == 0) throw FormatError("the frame has no checksum");
  const std::size_t whole = ZSTD_findFrameCompressedSize(packed_.data(), packed_.size());
  if (ZSTD_isError(whole)) throw FormatError(zstd_error(whole));
  if (whole != size) throw FormatError(fmt::format("the frame has {} bytes; its index says {}", whole, size));
  unpacked_.resize((content + sizeof(Operation) - 1) / sizeof(Operation));
  const std::size_t got = ZSTD_decompressDCtx(context_.get(), unpacked_.data(), unpacked_.size() * sizeof(Operation),
                                              packed_.data(), packed_.size());
  if (ZSTD_isError(got)) throw FormatError(zstd_error(got));
  DecodedFrame frame;
  std::memcpy(&frame.checksum, packed_.data() + size - sizeof frame.checksum, sizeof frame.checksum);
  std::memcpy(static_cast<void*>(&frame.head), unpacked_.data(), sizeof(FrameHead));
  frame.content = {reinterpret_cast<const char*>(unpacked_.data() + 1), got - sizeof(FrameHead)};
  return frame;
}

std::span<const Operation> FrameDecoder::operations(const DecodedFrame& frame, std::uint32_t version) {
  const std::size_t count = frame.content.size() / sizeof(Operation);
  if (version == kVersionWithRows) return {unpacked_.data() + 1, count};
  rows_.resize(count);
  from_planes(frame.content, rows_);
  return rows_;
}

std::uint64_t FrameDecoder::size_of_frame(const InputFile& file, std::uint64_t offset, std::size_t most) {
  const std::uint64_t longest = std::min<std::uint64_t>(file.size() - offset, ZSTD_compressBound(most));
  // Reads a growing part of the frame until its end is found. Most frames are short.
  for (std::uint64_t window = std::min<std::uint64_t>(longest, 1 << 18);; window = std::min(longest, window * 8)) {
    packed_.resize(window);
    file.read(offset, packed_);
    content_size(packed_, most);
    const std::size_t size = ZSTD_findFrameCompressedSize(packed_.data(), packed_.size());
    if (!ZSTD_isError(size)) return size;
    if (window == longest) throw FormatError(zstd_error(size));
  }
}

std::string shown(std::span<const char> letters) {
  std::string text;
  for (const char letter : letters) text += letter >= ' ' && letter <= '~' ? letter : '?';
  return text;
}

std::vector<ListedFrame> read_index(const InputFile& file) {
  const FileTail tail = read_tail(file);
  try {
    const std::size_t most = sizeof(FrameHead) + tail.index / kShortestFrame * sizeof(IndexEntry);
    FrameDecoder decoder;
    const DecodedFrame index = decoder.decode(file, tail.index, file.size() - sizeof tail - tail.index, most);
    if (index.head.type != kIndexFrame || index.content.size() % sizeof(IndexEntry) != 0) {
      throw FormatError(fmt::format("{} bytes of {} where the index is to be", index.content.size(), shown(index.head.type)));
    }
    return listed(index.content, tail.index);
  } catch (const FormatError& error) {
    throw DamageAt(tail.index, fmt::format("the index: {}", error.what()));
  }
}

std::vector<ListedFrame> walk_frames(const InputFile& file, std::vector<DamageAt>& damage) {
  std::vector<ListedFrame> frames;
  FrameDecoder decoder;
  const std::uint64_t end = end_of_frames(file);
  std::uint64_t offset = sizeof(FileHead);
  for (std::uint32_t number = 0; offset < end; ++number) {
    std::uint64_t size = 0;
    try {
      size = decoder.size_of_frame(file, offset, kTextBytes);
      const ListedFrame frame = described(decoder.decode(file, offset, size, kTextBytes), offset, size);
      if (frame.entry.type == kIndexFrame) break;  // the index is the last frame; the tail behind it is damaged
      frames.push_back(frame);
      frames.back().number = number;
    } catch (const FormatError& error) {
      damage.emplace_back(offset, fmt::format("frame {}: {}", number, error.what()));
      if (size == 0) break;
    }
    offset += size;
  }
  return frames;
}

}  // namespace linebounce::trace
