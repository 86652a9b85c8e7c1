// The memory side of a bus: plain memory, or a node controller. Both run the memory rows of the bus's order step. A node
// controller also grants or defers each transaction, and issues recalls of its own.
#pragma once

#include "models/coherence/protocol.hpp"
#include "models/coherence/step_listener.hpp"
#include "models/memory/line_store.hpp"
#include "models/observer.hpp"
#include "models/units.hpp"
#include "models/waits.hpp"

namespace linebounce {

struct BusRequest;

// A line's data and the data's version.
struct LineData {
  const std::byte* bytes = nullptr;
  Version version = 0;
};

class MemorySide {
 public:
  virtual ~MemorySide() = default;
  // True for plain memory, which has one state and no actions, and grants every request. A bus may then skip the calls that
  // would do nothing: grants(), state(), set_state(), act(), order_over().
  [[nodiscard]] virtual bool is_plain() const { return false; }

  // Called in the order step, before any cache reacts. False defers the request: the controller posts it again later.
  virtual bool grants(const BusRequest& request, Slot slot, Tick at) = 0;

  // The line's state at the memory side, which selects the memory row that the order step runs.
  [[nodiscard]] virtual StateId state(Slot slot) const = 0;
  virtual void set_state(Slot slot, StateId state) = 0;
  [[nodiscard]] virtual LineData data(Slot slot) = 0;
  virtual void take(Slot slot, const LineData& data) = 0;
  // Runs an action that only node tables have. `request` is the transaction being ordered, `on_bus` the data that a cache sent.
  virtual void act(Slot slot, Action action, const BusRequest& request, const LineData& on_bus, Tick at) = 0;
  virtual void on_transition(Slot slot, StateId state, EventId event, StateId next, Tick at) = 0;

  // The result of a read: when the first data is ready, and who supplies it.
  struct Supply {
    Tick ready = 0;
    Source source = Source::local_memory;
  };
  virtual Supply read(Slot slot, Tick address_at) = 0;
  // The latency of a read that does not queue.
  [[nodiscard]] virtual Tick read_latency() const = 0;
  // Tells the memory side that the data of a write-back arrives at `data_at`.
  virtual void write(Slot slot, Tick data_at) = 0;

  // Tells the controller that its recall `message` was ordered. `owned`: a cache had newer data than memory. This data is
  // then in `data`, and reaches the controller at `data_at`.
  virtual void recalled(Slot slot, MessageId message, bool owned, const LineData& data, Tick at, Tick data_at, StageId stage,
                        const Waits& waits) = 0;
  // Called by the bus when the order step at `at` is complete.
  virtual void order_over(Slot slot, Tick at) = 0;
};

}  // namespace linebounce
