#include "models/coherence/protocol_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/access.hpp"
#include "models/coherence/row_reads.hpp"

namespace linebounce {
namespace {

// Calls visit(row) for each row that `state` has for a qualified event of base event `base`.
template <class Visit>
void for_rows(const ControllerTable& table, StateId state, std::size_t base, Visit visit) {
  const BaseEvent& event = table.base_events[base];
  for (int i = 0; i < event.count; ++i) visit(table.row(state, static_cast<EventId>(event.first + i)));
}

void check_issued(const Protocol& protocol, const Row& row, Diagnostics& diagnostics) {
  for (const Action action : row.steps()) {
    if (action.verb != Verb::issue) continue;
    bool possible = false;
    for_rows(protocol.cache, row.next, own_event(action.argument), [&](const Row& own) { possible |= !own.impossible; });
    if (possible) continue;
    diagnostics.error(row.source_line,
                      fmt::format("cache: issues {}, but Own_{} is impossible in {}, the state that it goes to",
                                  protocol.messages[action.argument].name, protocol.messages[action.argument].name,
                                  protocol.cache.states[row.next].name));
  }
}

bool issues(const Row& row, MessageId message) {
  return std::any_of(row.steps().begin(), row.steps().end(),
                     [message](Action action) { return action.verb == Verb::issue && action.argument == message; });
}

bool operates(const Protocol& protocol, MessageId message) {
  bool found = false;
  for (std::size_t state = 0; state < protocol.memory.states.size(); ++state) {
    for_rows(protocol.memory, static_cast<StateId>(state), message,
             [&](const Row& row) { found |= !row.impossible && row.does(Verb::operate); });
  }
  return found;
}

// Checks that Atomic hits in the same states as Store.
void check_hits_of_atomics(const Protocol& protocol, Diagnostics& diagnostics) {
  const ControllerTable& cache = protocol.cache;
  for (std::size_t s = 0; s < cache.states.size(); ++s) {
    const auto state = static_cast<StateId>(s);
    const Row& store = cache.row(state, cache.base_events[kStore].first);
    const Row& atomic = cache.row(state, cache.base_events[protocol.atomic].first);
    const bool here = access_result(store) == AccessResult::hit;
    if (here == (access_result(atomic) == AccessResult::hit) && (!here || store.next == atomic.next)) continue;
    const std::string& name = cache.states[s].name;
    diagnostics.error(
        atomic.source_line,
        here ? fmt::format("cache: Store hits in {}, so Atomic must hit there, too, and lead to the same state", name)
             : fmt::format("cache: Atomic hits in {}, but Store doesn't", name));
  }
}

// The messages at whose order step memory must `operate`, because an access issues them that runs at memory: Atomic or, on an
// atomic bus, a Store that writes through.
std::vector<bool> operated_messages(const Protocol& protocol) {
  std::vector<bool> operated(protocol.messages.size());
  const ControllerTable& cache = protocol.cache;
  const bool by_stores = !protocol.has_far_atomics() && protocol.bus == BusKind::atomic;
  for (std::size_t m = 0; m < operated.size(); ++m) {
    const auto message = static_cast<MessageId>(m);
    if (by_stores && !operates(protocol, message)) continue;
    for (std::size_t s = 0; (protocol.has_far_atomics() || by_stores) && s < cache.states.size(); ++s) {
      if (issues(cache.row(static_cast<StateId>(s), cache.base_events[protocol.atomic].first), message)) operated[m] = true;
    }
  }
  return operated;
}

// Checks that memory operates at these messages and no others, and that no other event issues them.
void check_operated(const Protocol& protocol, Diagnostics& diagnostics) {
  const ControllerTable& cache = protocol.cache;
  const auto error = [&](const Row& row, const std::string& text) { diagnostics.error(row.source_line, text); };
  const char* access = protocol.has_far_atomics() || protocol.bus == BusKind::split ? "Atomic" : "Store";
  const std::vector<bool> operated = operated_messages(protocol);
  for (std::size_t m = 0; m < operated.size(); ++m) {
    const auto message = static_cast<MessageId>(m);
    const std::string& name = protocol.messages[m].name;
    for (std::size_t i = 0; operated[m] && i < cache.rows.size(); ++i) {
      if (cache.base_events[protocol.atomic].first != i % cache.events.size() && issues(cache.rows[i], message))
        error(cache.rows[i], fmt::format("cache: {} is what {} issues, so that nothing else may", name, access));
    }
    for (std::size_t state = 0; state < protocol.memory.states.size(); ++state) {
      for_rows(protocol.memory, static_cast<StateId>(state), m, [&](const Row& row) {
        if (row.impossible || row.does(Verb::operate) == operated[m]) return;
        error(row, operated[m] ? fmt::format("memory: {} issues {}, so it must 'operate' there", access, name)
                               : fmt::format("memory: 'operate' at {}, which no {} issues", name, access));
      });
    }
  }
}

}  // namespace

void check_total(const CompiledController& controller, Diagnostics& diagnostics) {
  const ControllerTable& table = controller.table;
  for (std::size_t state = 0; state < table.states.size(); ++state) {
    for (const BaseEvent& event : table.base_events) {
      const auto named = [&](int i) { return controller.named[state * table.events.size() + event.first + i]; };
      std::vector<std::string> missing;
      for (int i = 0; i < event.count; ++i) {
        if (!named(i)) missing.push_back(table.events[event.first + i]);
      }
      if (missing.size() == event.count) missing = {event.name};  // the name without a qualifier stands for all
      for (const std::string& name : missing) {
        diagnostics.error(controller.state_lines[state],
                          fmt::format("{}: no row for state {}, event {}; write one, or say that it is impossible", table.name,
                                      table.states[state].name, name));
      }
    }
  }
}

void check_reachable(const CompiledController& controller, Diagnostics& diagnostics) {
  const ControllerTable& table = controller.table;
  std::vector<bool> reached(table.states.size());
  std::vector<StateId> pending = {0};
  reached[0] = true;
  while (!pending.empty()) {
    const StateId state = pending.back();
    pending.pop_back();
    for (std::size_t event = 0; event < table.events.size(); ++event) {
      const Row& row = table.row(state, static_cast<EventId>(event));
      if (row.impossible || reached[row.next]) continue;
      reached[row.next] = true;
      pending.push_back(row.next);
    }
  }
  for (std::size_t state = 0; state < reached.size(); ++state) {
    if (reached[state]) continue;
    diagnostics.error_of_rows(controller.state_lines[state], fmt::format("{}: no row leads from {} to state {}", table.name,
                                                                         table.states[0].name, table.states[state].name));
  }
}

void check_messages(const Protocol& protocol, const ProtocolSource& source, Diagnostics& diagnostics) {
  if (protocol.has_far_atomics()) check_hits_of_atomics(protocol, diagnostics);
  check_operated(protocol, diagnostics);
  std::vector<bool> issued(protocol.messages.size());
  for (const Row& row : protocol.cache.rows) {
    for (const Action action : row.steps()) {
      if (action.verb == Verb::issue) issued[action.argument] = true;
    }
    check_issued(protocol, row, diagnostics);
  }
  for (std::size_t m = 0; m < protocol.messages.size(); ++m) {
    const Message& message = protocol.messages[m];
    const int line = source.messages[m].line;
    if (!issued[m]) diagnostics.error_of_rows(line, fmt::format("message {} is never issued", message.name));
    bool sends = false;
    for (std::size_t state = 0; state < protocol.cache.states.size(); ++state) {
      for_rows(protocol.cache, static_cast<StateId>(state), own_event(static_cast<MessageId>(m)),
               [&](const Row& own) { sends |= own.does(Verb::send_data); });
    }
    if (sends == message.carries_data) continue;
    diagnostics.error(line, fmt::format("message {} says data '{}', but {} row for Own_{} sends data", message.name,
                                        message.carries_data ? "yes" : "no", sends ? "a" : "no", message.name));
  }
}

namespace {

void derive_cache_states(ControllerTable& cache, std::size_t atomic, bool on_bus) {
  cache.hits.resize(cache.states.size());
  for (std::size_t i = 0; i < cache.states.size(); ++i) {
    StateInfo& state = cache.states[i];
    const auto row = [&](std::size_t event) -> const Row& {
      return cache.row(static_cast<StateId>(i), cache.base_events[event].first);
    };
    for (const CacheEvent event : {kLoad, kStore, kEvict}) state.access[event] = access_result(row(event));
    state.atomic = access_result(row(atomic));
    state.readable = state.access[kLoad] == AccessResult::hit;
    state.writable = state.access[kStore] == AccessResult::hit;
    state.after_store = state.writable ? row(kStore).next : static_cast<StateId>(i);
    state.awaits_data = on_bus && !row(kData).impossible;
    state.reissues = on_bus && row(kData).does(Verb::issue);
    state.stable = !state.awaits_data && !row(kLoad).stalls() && !row(kStore).stalls() && !row(kEvict).stalls();
    const bool write_hits = state.writable && state.after_store == static_cast<StateId>(i);
    cache.hits[i] =
        static_cast<std::uint8_t>((state.readable ? 1U << kReadAccess : 0U) | (write_hits ? 1U << kWriteAccess : 0U));
  }
}

// A node's state is stable if each row that defers a bus transaction also saves the requesting cache.
void derive_node_states(ControllerTable& node, std::size_t bus_messages) {
  for (std::size_t i = 0; i < node.states.size(); ++i) {
    StateInfo& state = node.states[i];
    state.stable = true;
    for (std::size_t m = 0; m < bus_messages; ++m) {
      const BaseEvent& ask = node.base_events[ask_event(bus_messages, static_cast<MessageId>(m))];
      if (ask.absent) continue;
      const Row& row = node.row(static_cast<StateId>(i), ask.first);
      if (row.does(Verb::defer) && !row.does(Verb::save_asker)) state.stable = false;
    }
  }
}

void derive_held_data(const Protocol& protocol, Controller controller, ControllerTable& table) {
  if (table.states.empty()) return;
  const LiveByState live = live_variables(ControllerRules(protocol, controller));
  for (std::size_t state = 0; state < table.states.size(); ++state) table.states[state].holds_data = live[state].data;
}

// A directory's state is stable if no row of the state stalls a message.
void derive_directory_states(ControllerTable& directory) {
  for (std::size_t i = 0; i < directory.states.size(); ++i) {
    StateInfo& state = directory.states[i];
    state.stable = true;
    for (std::size_t event = 0; event < directory.events.size(); ++event) {
      if (directory.row(static_cast<StateId>(i), static_cast<EventId>(event)).does(Verb::stall)) state.stable = false;
    }
  }
}

// A group's state is stable if no row of the state stalls a member's message.
void derive_group_states(ControllerTable& group, const std::vector<Message>& messages) {
  for (std::size_t i = 0; i < group.states.size(); ++i) {
    StateInfo& state = group.states[i];
    state.stable = true;
    for (std::size_t m = 0; m < messages.size(); ++m) {
      const BaseEvent& event = group.base_events[member_event(static_cast<MessageId>(m))];
      if (!event.absent && group.row(static_cast<StateId>(i), event.first).does(Verb::stall)) state.stable = false;
    }
  }
}

}  // namespace

void derive_facts(Protocol& protocol) {
  if (!protocol.cache.states.empty()) derive_cache_states(protocol.cache, protocol.atomic, protocol.kind == ProtocolKind::bus);
  derive_node_states(protocol.node, protocol.bus_messages);
  derive_held_data(protocol, Controller::node, protocol.node);
  derive_directory_states(protocol.directory);
  derive_group_states(protocol.group, protocol.messages);
  derive_held_data(protocol, Controller::group, protocol.group);
  for (StateInfo& state : protocol.memory.states) state.stable = true;
  protocol.sends_words = std::any_of(protocol.cache.rows.begin(), protocol.cache.rows.end(),
                                     [](const Row& row) { return row.does(Verb::send_word); });
  for (std::size_t m = 0; protocol.kind == ProtocolKind::bus && m < protocol.messages.size(); ++m) {
    const ControllerTable& cache = protocol.cache;
    const Row& row = cache.row(0, cache.base_events[other_event(static_cast<MessageId>(m))].first);
    protocol.messages[m].absent_ignores = !row.impossible && row.count == 0 && row.next == 0;
    for (std::size_t state = 0; state < protocol.memory.states.size(); ++state) {
      for_rows(protocol.memory, static_cast<StateId>(state), m,
               [&](const Row& memory) { protocol.messages[m].operates |= memory.does(Verb::operate); });
    }
  }
}

}  // namespace linebounce
