// Finds the local variable of the recorded program at a place on a stack.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "record/collector/program_image.hpp"
#include "record/collector/types.hpp"

namespace linebounce::record {

// The frame of a function that a thread is in.
struct Frame {
  std::uint64_t code = 0;  // an address inside the function, near its beginning
  std::uint64_t stack_pointer = 0;
  std::uint64_t frame_pointer = 0;  // 0: it has none
  std::uint64_t lowest = 0;         // lowest address of the frame
  // `code` is the function's first instruction; only its calls show how far its frame reaches down.
  bool is_at_entry = false;
};

// Such as "main::lock" or "run::shards[1].lock". Without debug information it is "run::local+48", counted from the stack
// pointer. Empty if none of these frames contains the address. REQUIRES: `frames` are in the order of the calls, the
// outermost first.
std::string local_variable(std::uint64_t address, std::span<const Frame> frames, ProgramImage& image, Types& types);

// The number of the frame that contains the address, counted from 1; 0 if none does, as far as debug information tells.
std::size_t frame_with(std::uint64_t address, std::span<const Frame> frames, ProgramImage& image);

}  // namespace linebounce::record
