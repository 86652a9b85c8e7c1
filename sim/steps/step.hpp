// One step of a run: a row of a protocol that ran, an access to a cache, a message, a program's operation, a store's passage
// through a store buffer, a directory's note of a line, or data that a copy takes.
#pragma once

#include <array>
#include <cstdint>

#include "models/coherence/step_listener.hpp"
#include "models/observer.hpp"
#include "models/units.hpp"

namespace linebounce::sim {

enum class RunStepKind : std::uint8_t { row, access, message, operation, buffer, directory, data };

// A program's operation on its CPU, as far as steps distinguish them.
enum class StepOperation : std::uint8_t {
  load,
  store,
  store_release,
  exchange,
  fetch_add,
  compare_exchange,
  prefetch,
  fence,
  compute,
  spin,
  sleep,
  wake,
  timer,
  interrupt,
  handler,
  end
};
constexpr std::array<const char*, 16> kStepOperationNames = {
    "load",    "store", "store_release", "exchange", "fetch_add", "compare_exchange", "prefetch", "fence",
    "compute", "spin",  "sleep",         "wake",     "timer",     "interrupt",        "handler",  "end"};
constexpr std::array<const char*, kAccessKinds> kStepAccessNames = {"load", "store", "atomic"};

enum class BufferMove : std::uint8_t { out, in, read };

// Members whose comment does not name a step's kind are 0 in it.
struct RunStep {
  Tick time = 0;
  RunStepKind kind = RunStepKind::row;
  std::uint8_t what = 0;         // Controller, AccessKind, SentMessage::What, StepOperation or BufferMove
  std::uint8_t bytes = 0;        // of an access, operation or store
  bool flag = false;             // access: it hits; message: it carries data; data: `old` is known
  bool ordered = false;          // access: made in its order step
  bool far = false;              // access: made on memory's data
  StateId state = 0;             // row
  EventId event = 0;             // row
  StateId next = 0;              // row
  MessageId message = 0;         // message
  FunctionId function = 0;       // operation
  std::int32_t agent = 0;        // row, directory: the controller's number; access: the cache's
  std::int32_t cpu = -1;         // access, operation, buffer: the CPU; directory: the owner
  std::int32_t source_line = 0;  // operation; 0: unknown
  Endpoint from = {}, to = {};   // message; data: `from` keeps the copy
  std::uint64_t where = 0;       // row, message, directory: a line; otherwise an address
  Value old = 0;                 // access, data; compare_exchange: the expected value
  Value fresh = 0;               // access, data; operation, buffer: the value; directory: its sharers, as bits
  Tick arrives = 0;              // message; kNever: not before the end of the run
};

}  // namespace linebounce::sim
