// One frame of a binary trace at a time, unpacked and believed in nothing that it says of its size.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "trace/binary.hpp"
#include "trace/input_file.hpp"

namespace linebounce::trace {

struct DecodedFrame {
  FrameHead head;
  std::uint32_t checksum = 0;     // the frame's last four bytes
  std::span<const char> content;  // behind the head; begins at a multiple of 16 bytes; valid until the next frame
};

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

}  // namespace linebounce::trace
