// Four kernel loads as traces, each from a few numbers. Their threads' actions follow from these alone, so it is known
// beforehand how often each lock is taken and each object written. docs/loads.md says what each shows.
#pragma once

#include <cstdint>
#include <string>

#include "trace/writer.hpp"

namespace linebounce::sim {

// Parameters of all four loads.
struct LoadSpec {
  int threads = 8;                  // one for each CPU
  std::int64_t operations = 20000;  // of each thread
  int between_cycles = 1000;        // mean computation before each operation
  std::string algorithm = "ticket";
  std::uint64_t seed = 1;
};

// Path lookups in a directory cache under one lock (Linux 2.4). An operation walks `components` names: each takes dcache_lock,
// reads a hash chain's head and the entry, and counts a reference; at the end all references are dropped. `updates_pct` of the
// operations move an entry to another chain instead: one acquisition, four stores.
struct DentryLoad {
  LoadSpec common;
  int dentries = 256;
  double skew = 0.9;  // exponent of Zipf's law for drawing objects
  int components = 4;
  int updates_pct = 1;
};

// References to shared objects: an operation counts one up, reads `reads` words of the object, and counts it down.
struct RefcountLoad {
  LoadSpec common;
  int objects = 16;
  double skew = 0;
  int reads = 2;
};

// Timers in a base of each CPU: an operation moves a timer in its base's wheel, under the base's lock. `remote_pct` of the
// operations move one of another CPU.
struct TimerLoad {
  LoadSpec common;
  int timers = 64;  // of each CPU
  int remote_pct = 10;
};

// Objects from arrays of each CPU, over lists that all share: an operation allocates an object, writes it, and frees what it
// was handed. `remote_pct` of the objects are handed to another CPU than allocated them. An array that is empty or full moves
// `batch` objects from or to the lists, under list_lock.
struct SlabLoad {
  LoadSpec common;
  int batch = 16;
  int array = 32;  // capacity in objects; REQUIRES: at least `batch`
  int remote_pct = 10;
};

// The same numbers give the same trace. The caller must finish the file. Errors: trace::WriteError.
void write_load(const DentryLoad& load, trace::Writer& out);
void write_load(const RefcountLoad& load, trace::Writer& out);
void write_load(const TimerLoad& load, trace::Writer& out);
void write_load(const SlabLoad& load, trace::Writer& out);

}  // namespace linebounce::sim
