// Listener to the calls that a program makes to its hardware thread, such as the trace recorder. With a tap a thread never
// takes the fast path, but its results are the same.
#pragma once

#include <cstdint>
#include <span>

#include "models/core/cpu_operation.hpp"
#include "models/units.hpp"

namespace linebounce {

class Cpu;

// One call of a function of Cpu.
struct ProgramCall {
  enum class What : std::uint8_t {
    memory,  // `operation`
    pair,    // the next two loads are those of one load_pair()
    prefetch,
    fence,
    execute,
    compute,
    clock,
    enter,  // `which`: a function
    leave,
    sleep,      // told when it returns
    wake,       // `which`: a CPU
    timer,      // `which`: a vector; `ns`
    interrupt,  // `which`: a CPU; `vector`; `ns`
    interrupts_off,
    interrupts_on,
    tally  // `which`, `amount`
  };
  What what{};
  Operation operation = {};  // of a prefetch: its address, and a kind of load or store
  bool release = false;
  std::int64_t which = 0;
  std::int64_t amount = 0;
  int vector = 0;
  double ns = 0;
};

// An action that a listener sees as one, although the program makes many calls for it. The tap is told none of those calls.
struct Composite {
  enum class What : std::uint8_t {
    acquire,
    try_acquire,
    release,
    acquire_shared,
    release_shared,
    barrier,
    sleep  // Cpu::sleep() with the calls around it
  };
  What what{};
  const void* lock = nullptr;
  Address barrier = 0;  // first byte of the barrier's object
  int parties = 0;
};

class ProgramTap {
 public:
  virtual ~ProgramTap() = default;

  // The program makes this call. Comes before its effect, except where ProgramCall says otherwise.
  virtual void called(const Cpu& cpu, const ProgramCall& call) = 0;
  // An operation has taken effect on its word, which held `old` before. Told in the word's order of accesses.
  virtual void applied(const Cpu& cpu, const Operation& operation, Value old) = 0;
  // The thread's store buffer served a load of this address.
  virtual void forwarded(const Cpu& cpu, Address address) = 0;

  // A spin on these words begins; its loop has loaded each of them once more; it ends. The spin's loads are told by applied()
  // and forwarded(), but not by called().
  virtual void spin_begins(const Cpu& cpu, std::span<const Address> words, int bytes) = 0;
  virtual void spin_polled(const Cpu& cpu) = 0;
  virtual void spin_ends(const Cpu& cpu) = 0;

  // `failed`: a try_acquire did not get the lock, or a reader must retry.
  virtual void composite_begins(const Cpu& cpu, const Composite& composite) = 0;
  virtual void composite_ends(const Cpu& cpu, bool failed) = 0;

  // An interrupt handler begins or ends, between two calls or in the middle of one.
  virtual void handler_begins(const Cpu& cpu, int vector) = 0;
  virtual void handler_ends(const Cpu& cpu) = 0;
};

}  // namespace linebounce
