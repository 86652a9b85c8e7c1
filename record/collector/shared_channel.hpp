// The memory that the recorded program writes its events into; it is the collector's, so it survives the program.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "record/runtime/channel.h"

namespace linebounce::record {

// What cannot be recorded, and why: exit code 2.
class RecordError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SharedChannel {
 public:
  // REQUIRES: ring_words is a power of 2. Errors: RecordError.
  explicit SharedChannel(std::uint32_t ring_words);
  ~SharedChannel();
  SharedChannel(const SharedChannel&) = delete;
  SharedChannel& operator=(const SharedChannel&) = delete;

  [[nodiscard]] Channel& channel() { return *channel_; }
  // By which the program opens it, whoever its parent is.
  [[nodiscard]] std::string path() const;
  // The recorded process; 0: no program that was compiled for it has started yet.
  [[nodiscard]] pid_t program() const;
  void let_program_go_on();

 private:
  int file_ = -1;
  std::size_t bytes_ = 0;
  Channel* channel_ = nullptr;
};

}  // namespace linebounce::record
