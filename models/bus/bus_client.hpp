// What a bus and the caches on it say to each other.
#pragma once

#include <sysc/communication/sc_interface.h>

#include "models/bus/memory_side.hpp"
#include "models/cache/cache_agent.hpp"
#include "models/observer.hpp"
#include "models/units.hpp"

namespace linebounce {

// A transaction as its requester asks for it.
struct BusRequest {
  // What the memory side has to do with it: asked whether it may be ordered; has said that it may; has made it itself.
  enum class Kind : std::uint8_t { ask, run, recall };

  Tick stamp = 0;  // the requester's own time; may lie ahead of the kernel's
  int client = 0;  // the requester's number, of the whole machine, or kMemory; breaks ties of stamps
  LineAddr line;
  MessageId message = 0;
  Kind kind = Kind::ask;
  Tick since = 0;  // breaks ties of stamps before the number does: when it was first made, for one that was put off; 0: `stamp`
  static constexpr Slot kNoSlot = ~Slot{0};
  Slot slot = kNoSlot;  // the line's; kNoSlot: the bus looks it up
};

// Bytes of a line that a store has written.
struct WrittenWord {
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

class BusClient : public virtual sc_core::sc_interface {
 public:
  virtual CacheAgent& caches() = 0;

  // A locked operation holds the line until then; a time in the past if none does.
  [[nodiscard]] virtual Tick locked_until(LineAddr line) const = 0;

  // The own transaction for this copy was ordered; data or response are at the pins at `pins`. Returns the first tick at which
  // the line may be taken away: after the one operation that waits for it (a new owner finishes its access before it yields).
  virtual Tick deliver(Copy& copy, Tick pins, Source source) = 0;

  // The own transaction for this copy is being ordered at `at`, and the store or atomic that waits for it runs now.
  // Errors: ModelFailure if none does, or for a stale copy.
  virtual WrittenWord write_in_order(Copy& copy, Tick at) = 0;

  // The own transaction for this copy is being ordered at `at`, and the atomic operation that waits for it runs now, on
  // memory's `line`: the copy's bytes are what memory gets. Errors: ModelFailure if none waits, or for stale data.
  virtual void operate(Copy& copy, const LineData& line, Tick at) = 0;

  // What that operation found is at the pins at `pins`. The copy may be gone.
  virtual void operated(LineAddr line, Tick pins, Source source) = 0;

  // The own write-back was ordered at `at`: its buffer is free.
  virtual void written_back(Tick at) = 0;

  // A watched copy is about to be touched from outside at `at`. Called before the touch.
  virtual void watched_copy_changed(LineAddr line, Tick at) = 0;
};

class Bus : public virtual sc_core::sc_interface {
 public:
  [[nodiscard]] virtual const Protocol& protocol() const = 0;
  // REQUIRES: request.stamp is not before the kernel's time.
  virtual void post(const BusRequest& request) = 0;
  // The data of this client's ordered transaction has arrived: runs the Data row. It is in the copy's bytes already. True if
  // the row has asked again: the access goes on waiting.
  virtual bool data_step(int client, Copy& copy, Tick at) = 0;
};

}  // namespace linebounce
