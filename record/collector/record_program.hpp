// Records one run of a program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/collector/trace_output.hpp"

namespace linebounce::record {

struct RecordOptions {
  std::vector<std::string> command;  // not empty
  std::string file;                  // the trace's file; empty: the program's name with .lbt
  Window window;
  bool is_binary = false;   // the program was not compiled for recording
  bool spreads = false;     // threads created shortly after each other begin together (--spread)
  bool is_untimed = false;  // without the time between accesses (--untimed); not if is_binary
};

struct Recorded {
  std::string file;
  std::uint64_t operations = 0;
  // An earlier recording of that name is kept if it was longer, or if this one can't be used.
  std::uint64_t earlier = 0;  // its operations; 0: there was none
  std::string kept;           // where it is now: the file itself, if this recording is empty and was dropped
  std::size_t threads = 0;
  std::vector<std::string> missing;  // sentences about losses, as in the trace's summary
  TraceOutput::Apart apart = {};     // threads that never ran at the same time as another
  std::string killed_by;             // see RecordedProcess::killed_by
  std::string unread;                // see read_back()
  int exit_status = 0;
};

// Errors: RecordError, trace::WriteError.
Recorded record_program(const RecordOptions& options);

}  // namespace linebounce::record
