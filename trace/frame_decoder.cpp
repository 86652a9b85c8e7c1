#include "trace/frame_decoder.hpp"

#include <fmt/format.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>

#include "trace/byte_planes.hpp"
#include "trace/symbol_json.hpp"

namespace linebounce::trace {

namespace {

constexpr std::size_t kLeast =
    4 + 1 + 1 + 3 + 4;                    // bytes of a frame: magic number, descriptor, size, one block's head, checksum
constexpr std::uint8_t kHasChecksum = 4;  // of the descriptor, behind the magic number

std::string zstd_error(std::size_t code) {
  if (ZSTD_getErrorCode(code) == ZSTD_error_checksum_wrong) return "checksum does not match";
  if (ZSTD_getErrorCode(code) == ZSTD_error_srcSize_wrong) return "it is cut off";
  return fmt::format("this is no whole zstd frame: {}", ZSTD_getErrorName(code));
}

// Of the frame whose beginning `packed` holds.
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
  // Most frames are short, and only the largest need to be read whole to see where they end.
  for (std::uint64_t window = std::min<std::uint64_t>(longest, 1 << 18);; window = std::min(longest, window * 8)) {
    packed_.resize(window);
    file.read(offset, packed_);
    content_size(packed_, most);
    const std::size_t size = ZSTD_findFrameCompressedSize(packed_.data(), packed_.size());
    if (!ZSTD_isError(size)) return size;
    if (window == longest) throw FormatError(zstd_error(size));
  }
}

}  // namespace linebounce::trace
