// Counters of events and references. Each algorithm is one file; see README.md.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

class Counter {
 public:
  virtual ~Counter() = default;
  virtual void add(Cpu& cpu, std::int64_t amount) = 0;
  // The sum. If other CPUs add at the same time, a distributed counter may return any value between the old and the new sum.
  virtual std::int64_t read(Cpu& cpu) = 0;
};

class ReferenceCount {
 public:
  virtual ~ReferenceCount() = default;
  virtual void get(Cpu& cpu) = 0;
  // Returns true if that was the last reference: the caller frees the object. Before begin_dying(), a distributed count always
  // returns false.
  virtual bool put(Cpu& cpu) = 0;
  // Called when the owner drops its own reference and the object cannot be looked up any more. A distributed count then
  // becomes a global one. Returns true as put() does.
  virtual bool begin_dying(Cpu& cpu) { return put(cpu); }
};

struct CounterPlace;

// What a counter's file declares. A null factory: the counter does not support that use. A reference count begins with one
// reference, its owner's.
struct CounterEntry {
  std::string name;
  std::string title;
  std::function<std::unique_ptr<Counter>(const CounterPlace&)> create_counter;
  std::function<std::unique_ptr<ReferenceCount>(const CounterPlace&)> create_reference_count;
};

}  // namespace linebounce::workloads
