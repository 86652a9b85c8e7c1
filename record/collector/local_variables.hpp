// Names the local variable of the recorded program that is at a stack address.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "record/collector/program_image.hpp"
#include "record/collector/types.hpp"

namespace linebounce::record {

// The stack frame of a function that a thread is executing.
struct Frame {
  std::uint64_t code = 0;  // an address inside the function, near its beginning
  std::uint64_t stack_pointer = 0;
  std::uint64_t frame_pointer = 0;  // 0: it has none
  std::uint64_t lowest = 0;         // the frame's lowest address
  // True if `code` is the function's first instruction. The frame's lowest address is then known only once the function calls
  // another.
  bool is_at_entry = false;
};

// Returns a name such as "main::lock" or "run::shards[1].lock". Without debug information: "run::local+48", the offset from the
// stack pointer. Empty if none of the frames contains the address. REQUIRES: `frames` are ordered from the outermost call
// inwards.
std::string local_variable(std::uint64_t address, std::span<const Frame> frames, ProgramImage& image, Types& types);

// Position of the frame that contains the address, counted from 1. 0 if none does, or debug information does not tell.
std::size_t frame_with(std::uint64_t address, std::span<const Frame> frames, ProgramImage& image);

}  // namespace linebounce::record
