// Who listens to what a program asks of its hardware thread: to record it as operations without time. A thread with a tap never
// takes the inline path of a hit, and does the same all the same.
#pragma once

#include <cstdint>
#include <span>

#include "models/core/cpu_operation.hpp"
#include "models/units.hpp"

namespace linebounce {

class Cpu;

// One call of Cpu, as its program made it.
struct ProgramCall {
  enum class What : std::uint8_t {
    memory,  // `operation`
    pair,    // the next two loads are issued together
    prefetch,
    fence,
    execute,
    compute,
    clock,
    enter,  // `which`: a function
    leave,
    sleep,      // has ended
    wake,       // `which`: a CPU
    timer,      // `which`: a vector; `ns`
    interrupt,  // `which`: a CPU; `vector`; `ns`
    interrupts_off,
    interrupts_on,
    tally  // `which`, `amount`
  };
  What what{};
  Operation operation = {};  // prefetch: its address, and whether it is a store
  bool release = false;
  std::int64_t which = 0;
  std::int64_t amount = 0;
  int vector = 0;
  double ns = 0;
};

// What a program does as one thing, though it takes many calls: none of them is told.
struct Composite {
  enum class What : std::uint8_t {
    acquire,
    try_acquire,
    release,
    acquire_shared,
    release_shared,
    barrier,
    sleep  // Cpu::sleep() and what goes with it
  };
  What what{};
  const void* lock = nullptr;
  Address barrier = 0;  // where its object begins
  int parties = 0;
};

class ProgramTap {
 public:
  virtual ~ProgramTap() = default;

  // Before it is done, but where ProgramCall says otherwise.
  virtual void called(const Cpu& cpu, const ProgramCall& call) = 0;
  // An operation has come to its place in the order of those on its word, which held `old` before. In that order.
  virtual void applied(const Cpu& cpu, const Operation& operation, Value old) = 0;
  // A load of this address was served by the thread's own store buffer.
  virtual void forwarded(const Cpu& cpu, Address address) = 0;

  // A spin on these words; each time all have been loaded; its end. Its loads are told by applied() and forwarded() alone.
  virtual void spin_begins(const Cpu& cpu, std::span<const Address> words, int bytes) = 0;
  virtual void spin_polled(const Cpu& cpu) = 0;
  virtual void spin_ends(const Cpu& cpu) = 0;

  // `failed`: a try was in vain, a reader must read again.
  virtual void composite_begins(const Cpu& cpu, const Composite& composite) = 0;
  virtual void composite_ends(const Cpu& cpu, bool failed) = 0;

  // An interrupt's handler, between any two calls or in the middle of one.
  virtual void handler_begins(const Cpu& cpu, int vector) = 0;
  virtual void handler_ends(const Cpu& cpu) = 0;
};

}  // namespace linebounce
