// A step of a recorded run: a protocol row, an access to a cache, a message, a program's operation, a store's move through a
// store buffer, a directory entry, or data that a copy takes.
#pragma once

#include <array>
#include <cstdint>

#include "models/coherence/step_listener.hpp"
#include "models/observer.hpp"
#include "models/units.hpp"

namespace linebounce::sim {

enum class RunStepKind : std::uint8_t { row, access, message, operation, buffer, directory, data };

// Kinds of program operations that steps distinguish.
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

// One step. A member is 0 unless its comment names the step's kind.
struct RunStep {
  Tick time = 0;
  RunStepKind kind = RunStepKind::row;
  std::uint8_t what = 0;         // depends on `kind`: Controller, AccessKind, SentMessage::What, StepOperation or BufferMove
  std::uint8_t bytes = 0;        // access, operation, buffer: number of bytes
  bool flag = false;             // access: it hits; message: it carries data; data: `old` is known
  bool ordered = false;          // access: it happens in its order step
  bool far = false;              // access: it operates on memory's data (far atomic)
  StateId state = 0;             // row
  EventId event = 0;             // row
  StateId next = 0;              // row
  MessageId message = 0;         // message
  FunctionId function = 0;       // operation
  std::int32_t agent = 0;        // row, directory: number of the controller; access: of the cache
  std::int32_t cpu = -1;         // access, operation, buffer: the CPU; directory: the owner
  std::int32_t source_line = 0;  // operation; 0: unknown
  Endpoint from = {}, to = {};   // message: sender and receiver; data: `from` keeps the copy
  std::uint64_t where = 0;       // row, message, directory: line number; otherwise an address
  Value old = 0;                 // access, data: the value before; compare_exchange: the expected value
  Value fresh = 0;               // access, data: the value after; operation, buffer: the value; directory: sharers, as bits
  Tick arrives = 0;              // message: time of arrival; kNever: not within the run
};

}  // namespace linebounce::sim
