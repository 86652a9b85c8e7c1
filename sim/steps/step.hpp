// One step of a run: a protocol row that ran, an access to a cache, a message, an operation of a program, a store that passes
// through a store buffer, a directory's entry for a line, or data that a copy takes.
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

// A member is 0 unless its comment names the kind of the step.
struct RunStep {
  Tick time = 0;
  RunStepKind kind = RunStepKind::row;
  std::uint8_t what = 0;         // Controller, AccessKind, SentMessage::What, StepOperation or BufferMove
  std::uint8_t bytes = 0;        // of an access, operation or store
  bool flag = false;             // access: true if it hits; message: true if it carries data; data: true if `old` is known
  bool ordered = false;          // access: true if it runs in its order step
  bool far = false;              // access: true if it runs on memory's data
  StateId state = 0;             // row
  EventId event = 0;             // row
  StateId next = 0;              // row
  MessageId message = 0;         // message
  FunctionId function = 0;       // operation
  std::int32_t agent = 0;        // row, directory: the controller's number; access: the cache's
  std::int32_t cpu = -1;         // access, operation, buffer: the CPU; directory: the owner
  std::int32_t source_line = 0;  // operation; 0: unknown
  Endpoint from = {}, to = {};   // message; data: `from` is the keeper of the copy
  std::uint64_t where = 0;       // row, message, directory: a line; otherwise an address
  Value old = 0;                 // access, data; compare_exchange: the expected value
  Value fresh = 0;               // access, data; operation, buffer: the value; directory: its sharers, as bits
  Tick arrives = 0;              // message; kNever: not before the end of the run
};

}  // namespace linebounce::sim
