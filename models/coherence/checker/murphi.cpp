// A model has one record `bus`, whose state and data are memory's. Each `error` or `assert` in the model corresponds to an
// exception in check_protocol().
#include "models/coherence/checker/murphi.hpp"

#include "models/coherence/checker/check_protocol.hpp"
#include "models/coherence/checker/murphi_bus.hpp"

namespace linebounce {
namespace {

// The steps that a split bus takes between an access and its end.
void order_rules(checker::MurphiWriter& out, checker::MurphiBus& bus, const Protocol& protocol) {
  out.line(0, "ruleset c: cid; w: val do");
  for (std::size_t m = 0; m < protocol.messages.size(); ++m) {
    out.rule(1, protocol.messages[m].name + " ordered",
             fmt::format("{}.request = {} & bus.due = 0", bus.cache("c").at, bus.request(m)),
             fmt::format("{}(c, w)", bus.order(m)));
  }
  bus.data_step_rule(1);
  out.line(0, "end;\n");
}

}  // namespace

std::string murphi_model(const Protocol& protocol, int caches, MurphiReader reader) {
  checker::MurphiWriter out("");
  checker::MurphiBus bus(out, protocol, protocol, {"bus", "D", &protocol.memory, {}});
  out.line(0, "-- {}: {}", protocol.name, protocol.title);
  out.line(0, "-- {} caches on one bus, one line, values 0 and 1. Written by linebounce check --murphi.", caches);
  out.line(0, "const CACHES: {};", caches);
  out.line(0, "type");
  out.line(1, "val: 0..1;");
  bus.types();
  out.line(1, "memory_state: enum {{ {} }};", bus.memory().states());
  out.line(0, "var");
  out.line(1, "bus: record");
  out.line(2, "state: memory_state; data: val;  -- memory's");
  out.line(2, "bus_data: val;                   -- the value on the data bus");
  out.line(2, "due: 0..CACHES;                  -- the cache whose data step is due");
  out.line(2, "caches: array[cid] of cache;");
  out.line(1, "end;");
  out.line(1, "latest: val;  -- ghost: what the last store wrote\n");
  out.line(0, "startstate begin clear bus; clear latest; end;\n");
  bus.procedures();
  if (orders_at_once(protocol)) {
    out.access_rules(bus.cache("c"), protocol.atomic, "order_at_once");
  } else {
    out.access_rules(bus.cache("c"), protocol.atomic);
    order_rules(out, bus, protocol);
  }
  out.cache_invariants(protocol, bus.cache("c"), bus.cache("k"), bus.accounted());
  if (reader == MurphiReader::any) return checker::procedures_before_rules(out.text());
  out.line(0, "liveness \"everything that waits can finish\"");
  out.line(1, "bus.due = 0 & {};", checker::for_all({{"c", "cid"}}, bus.idle()));
  return checker::procedures_before_rules(out.text());
}

}  // namespace linebounce
