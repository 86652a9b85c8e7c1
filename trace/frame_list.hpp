// Where the frames of a binary trace are.
#pragma once

#include <string>
#include <vector>

#include "trace/binary.hpp"
#include "trace/frame_decoder.hpp"
#include "trace/input_file.hpp"
#include "trace/symbol_json.hpp"

namespace linebounce::trace {

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
