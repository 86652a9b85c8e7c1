// A trace from a few numbers, without any workload.
#pragma once

#include <cstdint>
#include <string>

#include "trace/writer.hpp"

namespace linebounce::sim {

struct SynthSpec {
  int threads = 4;
  std::int64_t accesses = 100000;  // of each thread
  int objects = 16;                // shared by all threads
  int object_bytes = 64;           // of each; REQUIRES: a multiple of 8
  int private_kib = 8;             // of each thread's own memory
  int shared_pct = 10;             // of accesses: to shared objects
  double skew = 0;                 // exponent of Zipf's law by which shared objects are drawn
  int read_pct = 70;               // of accesses
  int atomic_pct = 0;              // of writes to shared objects
  int locks = 0;                   // object k is protected by lock k modulo their number
  int section = 10;                // accesses of a section, all under the lock of one object
  int shared_section_pct = 0;      // of sections: only read, and take the lock as readers
  int between_cycles = 100;        // computation before each section (without locks: each so many accesses), on average
  std::string algorithm = "ticket";
  std::uint64_t seed = 1;
};

// Each thread computes, then makes a section of accesses, and again. The same numbers give the same trace. In constant memory.
// The file is not finished by it. Errors: trace::WriteError.
void write_synthetic(const SynthSpec& spec, trace::Writer& out);

}  // namespace linebounce::sim
