#include "models/coherence/checker/murphi_writer.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace linebounce::checker {

std::string murphi_name(std::string_view kind, std::string_view name, std::size_t number) {
  std::string plain(name);
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return fmt::format("{}{}_{}", kind, number, plain);
}

std::string state_names(std::string_view kind, const ControllerTable& table) {
  std::vector<std::string> names;
  for (std::size_t state = 0; state < table.states.size(); ++state) names.push_back(state_name(kind, table, state));
  return fmt::format("{}", fmt::join(names, ", "));
}

void MurphiWriter::use_procedures(const Protocol& subject, const ControllerTable& table, std::size_t atomic,
                                  const MurphiCache& cache, const MurphiAccess& access) {
  line(0, "procedure use({}; store: boolean; {}: val); begin", cache.parameters, access.value);
  if (subject.invariant_data_value) line(1, "assert {} = latest \"stale copy\";", cache.data);
  line(1, "if store then {} := {}; latest := {}; end;", cache.data, access.value, access.value);
  line(0, "end;\n");
  line(0, "procedure {}({}; {}: val);", access.procedure, cache.parameters, access.value);
  line(0, "var {}: access;", access.waited);
  line(0, "begin");
  line(1, "{0} := {1}; {1} := {2}_none;", access.waited, cache.waits, access.kind);
  line(1, "assert {} != {}_none \"completes without an access\";", access.waited, access.kind);
  each_state(1, cache.state, cache.kind, table, [&](StateId state) {
    std::vector<std::size_t> events = {kLoad, kStore};
    if (atomic != kStore) events.push_back(atomic);
    for (const std::size_t event : events) {
      const BaseEvent& base = table.base_events[event];
      const Row& row = table.row(state, base.first);
      const bool hits = !row.impossible && row.count == 1 && row.actions[0].verb == Verb::hit;
      line(2, "{} {} = {}_{} then {}", event == kLoad ? "if" : "elsif", access.waited, access.kind, base.name,
           hits ? fmt::format("{} := {}; use({}, {}, {});", cache.state, state_name(cache.kind, table, row.next), cache.who,
                              event != kLoad, access.value)
                : "error \"completes an access that does not hit\";");
    }
    line(2, "end;");
  });
  line(0, "end;\n");
}

void MurphiWriter::operate_procedure(const Protocol& subject, const MurphiCache& cache, const MurphiAccess& access,
                                     std::string_view memory_data) {
  line(0, "procedure operate({}; {}: val); begin", cache.parameters, access.value);
  line(1, "assert {0} = {1}_Atomic \"operates without an atomic operation\"; {0} := {1}_none;", cache.waits, access.kind);
  if (subject.invariant_data_value) line(1, "assert {} = latest \"stale memory\";", memory_data);
  line(1, "{} := {}; latest := {};", memory_data, access.value, access.value);
  line(0, "end;\n");
}

void MurphiWriter::bus_cache_action(int depth, Action action, const Protocol& bus, const MurphiCache& cache,
                                    const MurphiAccess& access) {
  switch (action.verb) {
    case Verb::assert_shared: line(depth, "shared := true;"); break;
    case Verb::assert_owned: line(depth, "owned := true;"); break;
    case Verb::send_data:
      line(depth, "drive(on_bus, {} + 1, {});", cache.who, cache.data);
      supplies(depth, action);
      break;
    case Verb::take_data: line(depth, "{} := {}; took := true;", cache.data, cache.bus); break;
    case Verb::complete: line(depth, "completed := true; {}({}, {});", access.procedure, cache.who, access.value); break;
    case Verb::issue: line(depth, "issue({}, {});", cache.who, request_name(bus, action.argument)); break;
    default: break;  // `hit` and `stall`, which only accesses have
  }
}

void MurphiWriter::supplies(int depth, Action action) {
  if ((action.argument & to_memory) != 0) line(depth, "to_memory := true;");
  if ((action.argument & to_requestor) != 0) line(depth, "assert !supplied \"two suppliers\"; supplied := true;");
}

}  // namespace linebounce::checker
