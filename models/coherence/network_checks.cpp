#include <fmt/format.h>

#include <array>

#include "models/coherence/controller_entry.hpp"
#include "models/coherence/protocol_checks.hpp"
#include "models/coherence/row_reads.hpp"
#include "models/ordinal.hpp"

namespace linebounce {
namespace {

constexpr std::array kClassNames = {"bus", "request", "forward", "relay", "response"};

const char* name_of(MessageClass message_class) {
  return kClassNames[ordinal(message_class)];
}

class NetworkChecks {
 public:
  NetworkChecks(const Protocol& protocol, const Protocol& home, const ProtocolSource& source, Diagnostics& diagnostics)
      : protocol_(protocol),
        home_(home, Controller::directory),
        agents_(ControllerRules::of_agents(protocol)),
        members_(home, Controller::cache),
        source_(source),
        diagnostics_(diagnostics),
        sent_(protocol.messages.size()) {}

  void run() {
    if (!agents_.table->states.empty()) check_table(agents_);
    if (protocol_.kind != ProtocolKind::directory) return;
    check_table(home_);
    if (agents_.table->states.empty()) return;
    for (std::size_t m = 0; m < sent_.size(); ++m) {
      if (!sent_[m])
        diagnostics_.error_of_rows(source_.messages[m].line,
                                   fmt::format("message {} is never sent", protocol_.messages[m].name));
    }
  }

 private:
  void check_table(const ControllerRules& rules) {
    const ControllerTable& table = *rules.table;
    // Message classes are ordered only among messages of one level. A group that sends a request to its other level has
    // reserved room for the answer, so the request causes no deadlock.
    const bool ordered = rules.controller != Controller::group;
    for (std::size_t base = 0; base < table.base_events.size(); ++base) {
      const BaseEvent& event = table.base_events[base];
      const Message* in = rules.message_of(base);
      for (std::size_t state = 0; !event.absent && state < table.states.size(); ++state) {
        for (int i = 0; i < event.count; ++i) {
          const Row& row = table.row(static_cast<StateId>(state), static_cast<EventId>(event.first + i));
          check_sends(rules, row, ordered ? in : nullptr);
          if (base < protocol_.bus_messages) check_operates(row, protocol_.messages[base]);
          if (in != nullptr) check_data(table, row, *in);
          if (in != nullptr && ordered && row.stalls()) check_stall(rules, static_cast<StateId>(state), row, *in);
        }
      }
    }
  }

  // The controller that receives what `sender` sends with this verb.
  [[nodiscard]] const ControllerRules& receiver_of(const ControllerRules& sender, Verb verb) const {
    if (verb == Verb::send_home) return home_;
    return sender.controller == Controller::group && verb != Verb::send_requestor ? members_ : agents_;
  }

  // `in`: the message that the row receives, or null if any class of message may follow.
  void check_sends(const ControllerRules& sender, const Row& row, const Message* in) {
    for (const Action action : row.steps()) {
      if (!sends_to_network(action.verb)) continue;
      const Message& out = protocol_.messages[action.argument];
      sent_[action.argument] = true;
      const ControllerRules& receiver = receiver_of(sender, action.verb);
      if (receiver.table->states.empty()) continue;
      const Side side = receiver.is_directory() ? Side::member : Side::outside;
      const std::size_t base = receiver.event_of(side, sender.network_id(action.argument));
      if (receiver.table->base_events[base].absent) {
        error(row, fmt::format("{}: sends {} to {}, whose table of events lacks it", sender.table->name, out.name,
                               receiver.is_directory() ? "the directory" : "a " + receiver.table->name));
      }
      if (in != nullptr && out.message_class <= in->message_class) {
        error(row,
              fmt::format("{}: {} (class {}) causes {} (class {}): a class may cause only later ones, or they could wait for "
                          "each other in a circle",
                          sender.table->name, in->name, name_of(in->message_class), out.name, name_of(out.message_class)));
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

  // Checks that a stall of message `in` can end. It must end by an event that never queues behind `in`: a message of a later
  // class, or an event of an agent that is not a network message.
  void check_stall(const ControllerRules& rules, StateId state, const Row& row, const Message& in) {
    const ControllerTable& table = *rules.table;
    for (std::size_t base = 0; base < table.base_events.size(); ++base) {
      const BaseEvent& event = table.base_events[base];
      const Message* other_in = rules.message_of(base);
      const bool later = other_in != nullptr ? other_in->message_class > in.message_class : !rules.is_directory();
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
  const ControllerRules home_, agents_, members_;
  const ProtocolSource& source_;
  Diagnostics& diagnostics_;
  std::vector<bool> sent_;
};

}  // namespace

void check_network_messages(const Protocol& protocol, const Protocol* directory, const ProtocolSource& source,
                            Diagnostics& diagnostics) {
  NetworkChecks(protocol, directory == nullptr ? protocol : *directory, source, diagnostics).run();
}

}  // namespace linebounce
