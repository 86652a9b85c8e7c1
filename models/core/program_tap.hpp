// A tap listens to the calls that programs make to Cpu; the trace recorder is one. A thread with a tap never takes the fast
// path of a hit, but its results are the same.
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
    memory,  // load, store or atomic; see `operation`
    pair,    // the next two loads belong to one load_pair()
    prefetch,
    fence,
    execute,
    compute,
    clock,
    enter,  // `which`: the function that the program enters
    leave,
    sleep,      // reported by the thread when sleep() returns, not when it is called
    wake,       // `which`: the CPU to wake
    timer,      // `which`: the interrupt vector; `ns`: the delay
    interrupt,  // `which`: the target CPU; `vector`: the interrupt vector; `ns`: the delay
    interrupts_off,
    interrupts_on,
    tally  // `which`: the counter; `amount`: the number added
  };
  What what{};
  Operation operation = {};  // for a prefetch, only its address and the kind `load` or `store`
  bool release = false;
  std::int64_t which = 0;
  std::int64_t amount = 0;
  int vector = 0;
  double ns = 0;
};

// An action of a program that consists of many calls of Cpu, such as acquiring a lock. A listener that records the action as
// a whole ignores the calls between composite_begins() and composite_ends().
struct Composite {
  enum class What : std::uint8_t {
    acquire,
    try_acquire,
    release,
    acquire_shared,
    release_shared,
    barrier,
    sleep  // Cpu::sleep() and the calls that surround it
  };
  What what{};
  const void* lock = nullptr;
  Address barrier = 0;  // address of the barrier's first byte
  int parties = 0;
};

class ProgramTap {
 public:
  virtual ~ProgramTap() = default;

  // Reports a call of the thread, before the call takes effect unless ProgramCall says otherwise.
  virtual void called(const Cpu& cpu, const ProgramCall& call) = 0;
  // An operation has taken effect on its word, which held `old` before. Each word's accesses are reported in their order.
  virtual void applied(const Cpu& cpu, const Operation& operation, Value old) = 0;
  // The thread's store buffer has supplied the value for a load of this address.
  virtual void forwarded(const Cpu& cpu, Address address) = 0;

  // spin_begins: a spin on these words begins. spin_polled: the spin's loop has loaded each word once more. spin_ends: the spin
  // has ended. Loads in between belong to the spin.
  virtual void spin_begins(const Cpu& cpu, std::span<const Address> words, int bytes) = 0;
  virtual void spin_polled(const Cpu& cpu) = 0;
  virtual void spin_ends(const Cpu& cpu) = 0;

  // `failed`: true if a try_acquire did not get the lock, or if an optimistic reader must retry.
  virtual void composite_begins(const Cpu& cpu, const Composite& composite) = 0;
  virtual void composite_ends(const Cpu& cpu, bool failed) = 0;

  // An interrupt handler begins or ends. It may run between two calls of the program, or in the middle of one.
  virtual void handler_begins(const Cpu& cpu, int vector) = 0;
  virtual void handler_ends(const Cpu& cpu) = 0;
};

}  // namespace linebounce
