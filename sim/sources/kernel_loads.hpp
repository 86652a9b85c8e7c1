// Four synthetic kernel workloads as traces, each made from a few numbers. The numbers alone determine what the threads do,
// so it is known in advance how often each lock is acquired and each object written. docs/loads.md describes them.
#pragma once

#include <cstdint>
#include <string>

#include "trace/writer.hpp"

namespace linebounce::sim {

// Parameters of all four workloads.
struct LoadSpec {
  int threads = 8;                  // one per CPU
  std::int64_t operations = 20000;  // per thread
  int between_cycles = 1000;        // mean computation before each operation
  std::string algorithm = "ticket";
  std::uint64_t seed = 1;
};

// Path lookups in a directory cache under one lock (Linux 2.4). An operation looks up `components` names. For each name it
// acquires dcache_lock, reads the head of a hash chain and the entry, and increments a reference count. At the end it drops
// all references. `updates_pct` of the operations instead move an entry to another chain, with one acquisition and four
// stores.
struct DentryLoad {
  LoadSpec common;
  int dentries = 256;
  double skew = 0.9;  // exponent of Zipf's law for drawing objects
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

// Timers in per-CPU bases: an operation moves a timer in its CPU's wheel, under that base's lock. `remote_pct` of the
// operations move a timer of another CPU.
struct TimerLoad {
  LoadSpec common;
  int timers = 64;  // per CPU
  int remote_pct = 10;
};

// Objects from per-CPU arrays, backed by shared lists. An operation allocates an object, writes it, and frees the objects
// that other CPUs have handed to it. `remote_pct` of the objects are freed by another CPU than the one that allocated them. A
// CPU whose array is empty or full moves `batch` objects between its array and the lists, under list_lock.
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
