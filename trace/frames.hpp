// Finds the frames of a binary trace, and unpacks them.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trace/binary.hpp"
#include "trace/files.hpp"
#include "trace/symbol_json.hpp"

namespace linebounce::trace {

struct DecodedFrame {
  FrameHead head;
  std::uint32_t checksum = 0;     // the frame's last four bytes
  std::span<const char> content;  // the content after the head, aligned to 16 bytes; valid until the next frame
};

// Unpacks one frame of a binary trace at a time, without trusting any size that it states.
class FrameDecoder {
 public:
  FrameDecoder();
  // Unpacks the frame at `offset` with `size` bytes in the file and at most `most` bytes unpacked. Errors: FormatError if it is
  // not such a frame; TraceError if the file cannot be read. REQUIRES: the bytes are in the file.
  DecodedFrame decode(const InputFile& file, std::uint64_t offset, std::uint64_t size, std::size_t most);
  // The operations in a frame just decoded, from a file of that version. Valid until the next frame. REQUIRES: the content's
  // length is a whole number of operations.
  std::span<const Operation> operations(const DecodedFrame& frame, std::uint32_t version);
  // The size in bytes of the frame at `offset`. Errors: FormatError if there is none, or none of at most `most` bytes unpacked.
  std::uint64_t size_of_frame(const InputFile& file, std::uint64_t offset, std::size_t most);

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::vector<char> packed_;
  std::vector<Operation> unpacked_;  // bytes, in units that fit the content's alignment
  std::vector<Operation> rows_;      // rows made from planes
};

struct ListedFrame {
  IndexEntry entry;
  std::uint64_t size = 0;    // bytes in the file
  std::uint64_t first = 0;   // see FrameHead::first
  std::uint32_t number = 0;  // position in the file, from 0
};

// An error at one place of a file, before it is known whether it matters.
class DamageAt : public FormatError {
 public:
  DamageAt(std::uint64_t at, const std::string& what) : FormatError(what), offset(at) {}
  std::uint64_t offset;
};

// Such as "OPER", for messages.
std::string shown(std::span<const char> letters);

// The frames listed in the index, checked as far as possible without reading them. Errors: DamageAt.
std::vector<ListedFrame> read_index(const InputFile& file);

// The frames found without an index, because each says what it is. Leaves out unreadable ones; `damage` gets the first such
// place, and a damaged end.
std::vector<ListedFrame> walk_frames(const InputFile& file, std::vector<DamageAt>& damage);

}  // namespace linebounce::trace
