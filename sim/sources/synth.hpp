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
  int object_bytes = 64;           // of each object; REQUIRES: a multiple of 8
  int private_kib = 8;             // of each thread's own memory
  int shared_pct = 10;             // of accesses: those to shared objects
  double skew = 0;                 // exponent of Zipf's law for drawing shared objects
  int read_pct = 70;               // of accesses
  int atomic_pct = 0;              // of writes to shared objects
  int locks = 0;                   // object k is protected by lock k modulo their number
  int section = 10;                // accesses in a section, all under the lock of one object
  int shared_section_pct = 0;      // of sections: those that only read, and take the lock as readers
  int between_cycles = 100;        // mean computation before each section (without locks, before this many accesses)
  std::string algorithm = "ticket";
  std::uint64_t seed = 1;
};

// Each thread alternately computes and makes a section of accesses. The same numbers give the same trace. Uses constant memory.
// The caller must finish the file. Errors: trace::WriteError.
void write_synthetic(const SynthSpec& spec, trace::Writer& out);

}  // namespace linebounce::sim
