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
  std::span<const char> content;  // what follows the content's head, aligned to 16 bytes; valid until the next frame
};

// Unpacks frames of a binary trace one at a time. Trusts no size that a frame states.
class FrameDecoder {
 public:
  FrameDecoder();
  // Unpacks a frame that has `size` bytes in the file and at most `most` unpacked. REQUIRES: these bytes lie within the file.
  // Errors: FormatError if there is no such frame; TraceError if the file can't be read.
  DecodedFrame decode(const InputFile& file, std::uint64_t offset, std::uint64_t size, std::size_t most);
  // The operations of a frame that was just decoded. `version`: the file's. Valid until the next frame. REQUIRES: the content's
  // length is a multiple of an operation's.
  std::span<const Operation> operations(const DecodedFrame& frame, std::uint32_t version);
  // The size in the file, in bytes, of the frame at `offset`. Errors: FormatError if there is no frame with at most `most`
  // bytes unpacked.
  std::uint64_t size_of_frame(const InputFile& file, std::uint64_t offset, std::size_t most);

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
  std::vector<char> packed_;
  std::vector<Operation> unpacked_;  // the unpacked bytes; the element type gives them the content's alignment
  std::vector<Operation> rows_;      // rows made from planes
};

struct ListedFrame {
  IndexEntry entry;
  std::uint64_t size = 0;    // bytes in the file
  std::uint64_t first = 0;   // see FrameHead::first
  std::uint32_t number = 0;  // position among the file's frames, from 0
};

// An error at a place of a file. Whether it matters is decided later.
class DamageAt : public FormatError {
 public:
  DamageAt(std::uint64_t at, const std::string& what) : FormatError(what), offset(at) {}
  std::uint64_t offset;
};

// Letters of a frame's type for messages, such as "OPER".
std::string shown(std::span<const char> letters);

// The frames that the index lists, checked as far as that is possible without reading them. Errors: DamageAt.
std::vector<ListedFrame> read_index(const InputFile& file);

// Finds frames without the index, by walking from one to the next. Skips unreadable ones; `damage` receives the first
// unreadable place, and a damaged end.
std::vector<ListedFrame> walk_frames(const InputFile& file, std::vector<DamageAt>& damage);

}  // namespace linebounce::trace
