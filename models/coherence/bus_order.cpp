#include "models/coherence/bus_order.hpp"

#include <fmt/format.h>

namespace linebounce {
namespace {

std::string explain(ProtocolFault::Kind kind, const Protocol& protocol, Controller controller, StateId state, EventId event) {
  const ControllerTable& table = protocol.table(controller);
  std::string_view what;
  switch (kind) {
    case ProtocolFault::Kind::impossible: what = "this pair is declared impossible, and it happened"; break;
    case ProtocolFault::Kind::two_suppliers: what = "data is sent to a requestor that has been sent data already"; break;
    case ProtocolFault::Kind::no_data: what = "the requestor waits for data, but nobody has sent it any"; break;
    case ProtocolFault::Kind::nothing_passes: what = "a cache takes the data that passes, but nobody has sent any"; break;
    case ProtocolFault::Kind::nobody: what = "speaks to an owner or requestor, but none is known"; break;
  }
  return fmt::format("{}: {}: state {}, event {}: {}", table.place(table.row(state, event).source_line), table.name,
                     table.states[state].name, table.events[event], what);
}

}  // namespace

ProtocolFault::ProtocolFault(Kind fault, const Protocol& protocol, Controller where, StateId at, EventId on)
    : std::runtime_error(explain(fault, protocol, where, at, on)),
      kind(fault),
      controller(where),
      state(at),
      event(on),
      source_line(protocol.table(where).row(at, on).source_line) {}

namespace bus_order_detail {

void fail(ProtocolFault::Kind kind, const Protocol& protocol, Controller controller, StateId state, EventId event) {
  throw ProtocolFault(kind, protocol, controller, state, event);
}

}  // namespace bus_order_detail
}  // namespace linebounce
