// Makes traces of four synthetic kernel workloads, each from a few parameters. The parameters alone determine what the
// threads do, so it is known beforehand how often each lock is acquired and each object written. docs/loads.md describes the
// workloads.
#pragma once

#include <cstdint>
#include <string>

#include "trace/writer.hpp"

namespace linebounce::sim {

// Parameters that all four workloads have.
struct LoadSpec {
  int threads = 8;                  // one per CPU
  std::int64_t operations = 20000;  // per thread
  int between_cycles = 1000;        // mean computation before each operation, in cycles
  std::string algorithm = "ticket";
  std::uint64_t seed = 1;
};

// Path lookups in a directory cache under a single lock (Linux 2.4). An operation looks up `components` names. For each name
// it acquires dcache_lock, reads the head of a hash chain and the entry, and increments a reference count. At the end it
// drops all references. Instead of a lookup, `updates_pct` of the operations move an entry to another chain, with one
// acquisition and four stores.
struct DentryLoad {
  LoadSpec common;
  int dentries = 256;
  double skew = 0.9;  // exponent of Zipf's law, by which objects are drawn
  int components = 4;
  int updates_pct = 1;
};

// Reference counts of shared objects: an operation increments a count, reads `reads` words of the object and decrements the
// count.
struct RefcountLoad {
  LoadSpec common;
  int objects = 16;
  double skew = 0;
  int reads = 2;
};

// Timers in per-CPU bases. An operation moves a timer within the wheel of a base, under the base's lock. `remote_pct` of the
// operations use another CPU's base.
struct TimerLoad {
  LoadSpec common;
  int timers = 64;  // per CPU
  int remote_pct = 10;
};

// Objects from per-CPU arrays, backed by shared lists. An operation allocates and writes an object. `remote_pct` of the
// objects are passed to another CPU. The operation then frees its own object, unless it passed it on, and all objects that
// other CPUs have passed to this CPU. If its array is empty or full, a CPU moves `batch` objects from or to the shared lists,
// under list_lock.
struct SlabLoad {
  LoadSpec common;
  int batch = 16;
  int array = 32;  // capacity of a CPU's array, in objects; REQUIRES: at least `batch`
  int remote_pct = 10;
};

// Each writes a trace; the same parameters give the same trace. The caller must finish the file. Errors: trace::WriteError.
void write_load(const DentryLoad& load, trace::Writer& out);
void write_load(const RefcountLoad& load, trace::Writer& out);
void write_load(const TimerLoad& load, trace::Writer& out);
void write_load(const SlabLoad& load, trace::Writer& out);

}  // namespace linebounce::sim
