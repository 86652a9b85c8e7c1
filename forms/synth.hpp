// Makes a synthetic trace from a few parameters.
#pragma once

#include <cstdint>
#include <string>

#include "trace/writer.hpp"

namespace linebounce::sim {

struct SynthSpec {
  int threads = 4;
  std::int64_t accesses = 100000;  // per thread
  int objects = 16;                // shared by all threads
  int object_bytes = 64;           // size of a shared object in bytes; REQUIRES: a multiple of 8
  int private_kib = 8;             // private memory per thread
  int shared_pct = 10;             // percentage of accesses to shared objects
  double skew = 0;                 // exponent of Zipf's law, by which shared objects are drawn; 0: all alike
  int read_pct = 70;               // percentage of loads
  int atomic_pct = 0;              // percentage of writes to shared objects that are atomic
  int locks = 0;                   // number of locks; lock k % locks protects object k; 0: none
  int section = 10;                // number of accesses in a section, all under the lock of one object
  int shared_section_pct = 0;      // percentage of sections that only read, and acquire the lock as a reader
  // Mean computation before each section; without locks, before each group of `section` accesses.
  int between_cycles = 100;
  std::string algorithm = "ticket";
  std::uint64_t seed = 1;
};

// Writes a trace. Each thread alternately computes and performs a section of accesses. The same parameters give the same
// trace. Memory use does not depend on the trace's length. The caller must finish the file. Errors: trace::WriteError.
void write_synthetic(const SynthSpec& spec, trace::Writer& out);

}  // namespace linebounce::sim
