#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/coherence/protocol_checks.hpp"
#include "models/ordinal.hpp"

namespace linebounce {
namespace {

constexpr std::array kClassNames = {"bus", "request", "forward", "relay", "response"};

const char* name_of(MessageClass message_class) {
  return kClassNames[ordinal(message_class)];
}

bool sends(Verb verb) {
  return verb == Verb::send_home || verb == Verb::send_requestor || verb == Verb::send_owner || verb == Verb::send_sharers ||
         verb == Verb::send_others;
}

class NetworkChecks {
 public:
  NetworkChecks(const Protocol& protocol, const Protocol* directory, const ProtocolSource& source, Diagnostics& diagnostics)
      : protocol_(protocol),
        agent_(protocol.kind == ProtocolKind::node ? protocol.node : protocol.cache),
        directory_(directory != nullptr ? directory->directory : protocol.directory),
        source_(source),
        diagnostics_(diagnostics),
        sent_(protocol.messages.size()) {}

  void run() {
    if (!agent_.states.empty()) check_table(agent_, agent_first());
    if (protocol_.kind == ProtocolKind::node) return;
    check_table(directory_, 0);
    if (agent_.states.empty()) return;
    for (std::size_t m = 0; m < sent_.size(); ++m) {
      if (!sent_[m])
        diagnostics_.error(source_.messages[m].line, fmt::format("message {} is never sent", protocol_.messages[m].name));
    }
  }

 private:
  // Index of the first network message among an agent's base events.
  [[nodiscard]] std::size_t agent_first() const {
    return protocol_.kind == ProtocolKind::node ? node_evict_event(protocol_.bus_messages) + 1 : kFirstNetworkMessage;
  }
  [[nodiscard]] bool gets(const ControllerTable& table, std::size_t first, std::size_t message) const {
    return !table.base_events[first + message - protocol_.bus_messages].absent;
  }

  // The network message that base event `base` receives; null if `base` is another event.
  [[nodiscard]] const Message* message_of(std::size_t first, std::size_t base) const {
    const std::size_t number = protocol_.bus_messages + base - first;
    return base >= first && number < protocol_.messages.size() ? &protocol_.messages[number] : nullptr;
  }

  void check_table(const ControllerTable& table, std::size_t first) {
    for (std::size_t base = 0; base < table.base_events.size(); ++base) {
      const BaseEvent& event = table.base_events[base];
      const Message* in = message_of(first, base);
      for (std::size_t state = 0; !event.absent && state < table.states.size(); ++state) {
        for (int i = 0; i < event.count; ++i) {
          const Row& row = table.row(static_cast<StateId>(state), static_cast<EventId>(event.first + i));
          check_sends(table, row, in);
          if (base < protocol_.bus_messages) check_operates(row, protocol_.messages[base]);
          if (in != nullptr) check_data(table, row, *in);
          if (in != nullptr && row.stalls()) check_stall(table, static_cast<StateId>(state), first, row, *in);
        }
      }
    }
  }

  void check_sends(const ControllerTable& table, const Row& row, const Message* in) {
    for (const Action action : row.steps()) {
      if (!sends(action.verb)) continue;
      const Message& out = protocol_.messages[action.argument];
      sent_[action.argument] = true;
      const bool home = action.verb == Verb::send_home;
      if (!home && agent_.states.empty()) continue;
      if (!gets(home ? directory_ : agent_, home ? 0 : agent_first(), action.argument)) {
        error(row, fmt::format("{}: sends {} to {}, whose table of events lacks it", table.name, out.name,
                               home ? "the directory" : "a " + agent_.name));
      }
      if (in != nullptr && out.message_class <= in->message_class) {
        error(row,
              fmt::format("{}: {} (class {}) causes {} (class {}): a class may cause only later ones, or they could wait for "
                          "each other in a circle",
                          table.name, in->name, name_of(in->message_class), out.name, name_of(out.message_class)));
      }
    }
  }

  // Checks that the row does `operate` if, and only if, Atomic on the node's bus issues `in`.
  void check_operates(const Row& row, const Message& in) {
    const bool operates = row.does(Verb::operate);
    if (row.impossible || row.does(Verb::defer) || operates == in.operates) return;
    error(row, operates ? fmt::format("node: 'operate' at {}, which no Atomic of its bus issues", in.name)
                        : fmt::format("node: Atomic issues {} on its bus, so it must 'operate' there", in.name));
  }

  void check_data(const ControllerTable& table, const Row& row, const Message& in) {
    for (const Action action : row.steps()) {
      if ((action.verb == Verb::take_data || action.verb == Verb::update_memory) && !in.carries_data) {
        error(row, fmt::format("{}: uses data, but {} carries none", table.name, in.name));
      }
    }
  }

  // Checks that a stall of message `in` can end. Only an event that never queues behind `in` may end it: a message of a later
  // class, or an event that is no network message.
  void check_stall(const ControllerTable& table, StateId state, std::size_t first, const Row& row, const Message& in) {
    for (std::size_t base = 0; base < table.base_events.size(); ++base) {
      const BaseEvent& event = table.base_events[base];
      const Message* other_in = message_of(first, base);
      const bool later = other_in != nullptr ? other_in->message_class > in.message_class : base < first;
      for (int i = 0; later && i < event.count; ++i) {
        const Row& other = table.row(state, static_cast<EventId>(event.first + i));
        if (!other.impossible && other.next != state) return;
      }
    }
    error(row, fmt::format("{}: {} (class {}) waits in {}, which only messages of its own or an earlier class end: a circle",
                           table.name, in.name, name_of(in.message_class), table.states[state].name));
  }

  void error(const Row& row, const std::string& text) { diagnostics_.error(row.source_line, text); }

  const Protocol& protocol_;
  const ControllerTable& agent_;
  const ControllerTable& directory_;
  const ProtocolSource& source_;
  Diagnostics& diagnostics_;
  std::vector<bool> sent_;
};

}  // namespace

// A group acts as a directory to its members and as a cache to its parent; both run the tables of `directory`. The order of
// message classes is not checked, because it matters only within a level: a group that sends a request to the other level has
// room for the answer.
void check_group_messages(const Protocol& protocol, const Protocol& directory, Diagnostics& diagnostics) {
  const ControllerTable& group = protocol.group;
  const std::size_t messages = protocol.messages.size();
  for (std::size_t state = 0; state < group.states.size(); ++state) {
    for (std::size_t base = 0; base < group.base_events.size(); ++base) {
      const BaseEvent& event = group.base_events[base];
      for (int i = 0; !event.absent && i < event.count; ++i) {
        const Row& row = group.row(static_cast<StateId>(state), static_cast<EventId>(event.first + i));
        for (const Action action : row.steps()) {
          // For Evict and Evict_Entry `in` is invalid, and is not used: the grammar rejects `take data` in their rows.
          const std::size_t in = base < messages ? base : base - messages - 1;
          if (action.verb == Verb::take_data && !protocol.messages[in].carries_data) {
            diagnostics.error(row.source_line, fmt::format("group: uses data, but {} carries none", event.name));
          }
          const bool up = action.verb == Verb::send_home;
          const bool outside = action.verb == Verb::send_requestor;
          const bool inside = action.verb == Verb::send_member || action.verb == Verb::send_owner ||
                              action.verb == Verb::send_sharers || action.verb == Verb::recall_owner ||
                              action.verb == Verb::recall_sharers;
          const MessageId message = action.argument;
          const bool got =
              up        ? !directory.directory.base_events[message].absent
              : outside ? !group.base_events[outside_event(messages, message)].absent
              : inside  ? directory.cache.states.empty() || !directory.cache.base_events[kFirstNetworkMessage + message].absent
                        : true;
          if (!got) {
            diagnostics.error(row.source_line, fmt::format("group: sends {} to {}, whose table of events lacks it",
                                                           protocol.messages[message].name,
                                                           up        ? "the directory"
                                                           : outside ? "a group"
                                                                     : "a member"));
          }
        }
      }
    }
  }
}

void check_network_messages(const Protocol& protocol, const Protocol* directory, const ProtocolSource& source,
                            Diagnostics& diagnostics) {
  NetworkChecks(protocol, directory, source, diagnostics).run();
}

}  // namespace linebounce
