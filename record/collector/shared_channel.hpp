// The shared memory into which the recorded program writes its events. The collector owns it, so the events survive the
// program's death.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "record/runtime/channel.h"

namespace linebounce::record {

// A program cannot be recorded; the recorder exits with code 2. what() gives the reason.
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
  // The path by which any process can open the channel.
  [[nodiscard]] std::string path() const;
  // The recorded process's id; 0 until a program that was compiled for recording has started.
  [[nodiscard]] pid_t program() const;
  void let_program_go_on();

 private:
  int file_ = -1;
  std::size_t bytes_ = 0;
  Channel* channel_ = nullptr;
};

}  // namespace linebounce::record
