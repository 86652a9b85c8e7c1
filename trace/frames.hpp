// The frames of a binary trace: where they are, and unpacking one.
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
  std::span<const char> content;  // behind the head; begins at a multiple of 16 bytes; valid until the next frame
};

// One frame of a binary trace at a time, unpacked and believed in nothing that it says of its size.
class FrameDecoder {
 public:
  FrameDecoder();
  // The frame that has the file's bytes `offset` to `offset + size`, of at most `most` bytes unpacked. Errors: FormatError, of
  // what is no such frame; TraceError, of a file that cannot be read. REQUIRES: the bytes are in the file.
  DecodedFrame decode(const InputFile& file, std::uint64_t offset, std::uint64_t size, std::size_t most);
  // Those of a frame that has just been decoded, of a file of that version. Valid until the next frame. REQUIRES: its content
  // is as long as a number of operations.
  std::span<const Operation> operations(const DecodedFrame& frame, std::uint32_t version);
  // Bytes of the frame at `offset`. Errors: FormatError, of what is none, or none of at most `most` bytes unpacked.
  std::uint64_t size_of_frame(const InputFile& file, std::uint64_t offset, std::size_t most);

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::vector<char> packed_;
  std::vector<Operation> unpacked_;  // bytes, in the units that the content is looked at in
  std::vector<Operation> rows_;      // of planes
};

struct ListedFrame {
  IndexEntry entry;
  std::uint64_t size = 0;    // bytes in the file
  std::uint64_t first = 0;   // as FrameHead::first
  std::uint32_t number = 0;  // in the file, from 0
};

// What is wrong at one place of a file, before it is known whether that matters.
class DamageAt : public FormatError {
 public:
  DamageAt(std::uint64_t at, const std::string& what) : FormatError(what), offset(at) {}
  std::uint64_t offset;
};

// "OPER", for messages.
std::string shown(std::span<const char> letters);

// As the index says, whose promises are checked as far as they can be without reading the frames. Errors: DamageAt.
std::vector<ListedFrame> read_index(const InputFile& file);

// What can be found without an index: each frame says itself what it is. Those that cannot be read are left out; `damage` gets
// the first such place, and the end if that is one.
std::vector<ListedFrame> walk_frames(const InputFile& file, std::vector<DamageAt>& damage);

}  // namespace linebounce::trace
