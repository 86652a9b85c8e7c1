// Local variables of the recorded program: which of them a place on a stack is.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "record/collector/program_image.hpp"
#include "record/collector/types.hpp"

namespace linebounce::record {

// Of a function that a thread is in.
struct Frame {
  std::uint64_t code = 0;  // an address inside the function, near its beginning
  std::uint64_t stack_pointer = 0;
  std::uint64_t frame_pointer = 0;  // 0: it has none
  std::uint64_t lowest = 0;         // address of its frame
  bool is_at_entry = false;         // the code is its first instruction, and how far its frame goes down is seen by its calls
};

// "main::lock", "run::shards[1].lock"; what debug information does not tell is "run::local+48", counted from its stack
// pointer. Empty: none of these frames has it. REQUIRES: `frames` are in a thread's order, the outermost first.
std::string local_variable(std::uint64_t address, std::span<const Frame> frames, ProgramImage& image, Types& types);

// The number of the frame that has the address, counted from 1; 0: none has it, as far as debug information tells.
std::size_t frame_with(std::uint64_t address, std::span<const Frame> frames, ProgramImage& image);

}  // namespace linebounce::record
