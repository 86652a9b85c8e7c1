// The memory into which the recorded program writes its events; the collector owns it, so it survives the program.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "record/runtime/channel.h"

namespace linebounce::record {

// Something cannot be recorded: exit code 2. what() has the reason.
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
  // The path by which the program opens the channel, whoever its parent is.
  [[nodiscard]] std::string path() const;
  // The recorded process; 0 if no program that was compiled for recording has started yet.
  [[nodiscard]] pid_t program() const;
  void let_program_go_on();

 private:
  int file_ = -1;
  std::size_t bytes_ = 0;
  Channel* channel_ = nullptr;
};

}  // namespace linebounce::record
