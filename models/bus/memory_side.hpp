// What stands behind a bus, in memory's place: plain memory, or the controller of a node. Both run rows of the bus's order
// step; a node controller also says which transactions may be ordered, and has some of its own.
#pragma once

#include <sysc/communication/sc_interface.h>

#include "models/coherence/protocol.hpp"
#include "models/memory/line_store.hpp"
#include "models/observer.hpp"
#include "models/units.hpp"

namespace linebounce {

struct BusRequest;

// A line of data and the version that it is.
struct LineData {
  const std::byte* bytes = nullptr;
  Version version = 0;
};

class MemorySide : public virtual sc_core::sc_interface {
 public:
  // Before any cache reacts at `at`: false puts the transaction off. The bus forgets it; it is posted or run later.
  virtual bool grants(const BusRequest& request, Slot slot, Tick at) = 0;

  // The row that is run in the order step.
  [[nodiscard]] virtual StateId state(Slot slot) const = 0;
  virtual void set_state(Slot slot, StateId state) = 0;
  [[nodiscard]] virtual LineData data(Slot slot) = 0;
  virtual void take(Slot slot, const LineData& data) = 0;
  // An action that only a node knows; `request` is being ordered, `on_bus` is the data that a cache sent.
  virtual void act(Slot slot, Action action, const BusRequest& request, const LineData& on_bus, Tick at) = 0;
  virtual void on_transition(Slot slot, StateId state, EventId event, StateId next, Tick at) = 0;

  // The time of the first data of a read whose address arrives at `address_at`, and where they come from.
  struct Supply {
    Tick ready = 0;
    Source source = Source::local_memory;
  };
  virtual Supply read(Slot slot, Tick address_at) = 0;
  // Data of a write-back arrives at `data_at`.
  virtual void write(Slot slot, Tick data_at) = 0;

  // The own transaction `message` was ordered; `data` is what a cache had newer, if one had, at the pins at `data_at`.
  virtual void recalled(Slot slot, MessageId message, bool owned, const LineData& data, Tick at, Tick data_at) = 0;
  // Everything that an order step at `at` does is done.
  virtual void order_over(Slot slot, Tick at) = 0;
};

}  // namespace linebounce
