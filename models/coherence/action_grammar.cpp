#include "models/coherence/action_grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "models/coherence/markdown.hpp"
#include "models/text/trimmed.hpp"

namespace linebounce {
namespace {

struct Word {
  std::string_view phrase;
  Verb verb;
  int kinds;  // EventKind bits: the events in whose rows the action is legal
  std::string_view where;
  int protocols;  // the kinds of protocols that have the action
};

constexpr int bit_of(ProtocolKind kind) {
  return 1 << static_cast<int>(kind);
}
constexpr int kOnBus = bit_of(ProtocolKind::bus), kInNode = bit_of(ProtocolKind::node);
constexpr int kInDirectory = bit_of(ProtocolKind::directory), kInGroup = bit_of(ProtocolKind::group);
constexpr int kOnNetwork = kInDirectory | kInNode | kInGroup;

constexpr int kAtAnyAccess = at_load | at_store | at_evict;
constexpr int kAtDirectory = at_directory_message | at_directory_evict;
// Messages that a group receives from outside count as at_agent_message.
constexpr int kAtGroup = at_member_message | at_group_evict;
constexpr int kAtNetwork = at_agent_message | at_directory_message;

constexpr std::array kWords = {
    Word{"hit", Verb::hit, at_load | at_store, "Load and Store", kOnBus | kInDirectory},
    Word{"issue", Verb::issue, kAtAnyAccess | at_own | at_data, "Load, Store, Evict, Own_ events and Data", kOnBus},
    Word{"stall", Verb::stall, kAtAnyAccess | at_node_evict | at_directory_evict | kAtNetwork | kAtGroup,
         "Load, Store, Evict and messages of a network", kOnBus | kOnNetwork},
    Word{"free", Verb::free, at_evict | at_own | at_other | at_agent_message, "Evict, Own_ and Other_ events of a cache",
         kOnBus | kInDirectory},
    Word{"assert shared", Verb::assert_shared, at_other | at_memory_message, "Other_ events and a node's bus messages",
         kOnBus | kInNode},
    Word{"assert owned", Verb::assert_owned, at_other, "Other_ events", kOnBus},
    Word{"send data", Verb::send_data, at_own | at_other | at_memory_message, "Own_ and Other_ events and memory's messages",
         kOnBus | kInNode},
    Word{"offer data", Verb::offer_data, at_other, "Other_ events", kOnBus},
    Word{"complete", Verb::complete, at_own | at_data | at_agent_message, "Own_ events and Data", kOnBus | kInDirectory},
    Word{"send word", Verb::send_word, at_own, "Own_ events", kOnBus},
    Word{"apply word", Verb::apply_word, at_other, "Other_ events", kOnBus},
    Word{"take data", Verb::take_data, at_data | at_memory_data | at_recalled | at_agent_message | at_member_message,
         "Data, a node's Bus_Data and Own_ events, and messages with data", kOnBus | kOnNetwork},
    Word{"update memory", Verb::update_memory, at_memory_data | at_directory_message,
         "memory's Data, and a directory's messages", kOnBus | kInDirectory},
    Word{"operate", Verb::operate, at_memory_message, "memory's messages, and a node's of its bus", kOnBus | kInNode},
    Word{"defer", Verb::defer, at_ask | at_memory_message, "a node's Ask_ events and bus messages", kInNode},
    Word{"save asker", Verb::save_asker, at_ask | at_memory_message, "a node's Ask_ events and bus messages", kInNode},
    Word{"run", Verb::run, at_agent_message, "a node's messages from the network", kInNode},
    Word{"recall", Verb::recall, at_node_evict | at_agent_message, "a node's Evict and messages from the network", kInNode},
    Word{"save requestor", Verb::save_requestor, at_agent_message, "a node's or group's messages from outside",
         kInNode | kInGroup},
    Word{"save member", Verb::save_member, at_member_message, "a group's messages from members", kInGroup},
    Word{"add acks", Verb::add_acks, at_agent_message, "messages to a node or cache", kOnNetwork},
    Word{"count ack", Verb::count_ack, at_agent_message | at_member_message, "messages to a node or cache", kOnNetwork},
    Word{"set owner", Verb::set_owner, at_directory_message | at_member_message | at_agent_message,
         "messages to a directory or group", kOnNetwork},
    Word{"clear owner", Verb::clear_owner, kAtDirectory | kAtGroup | at_agent_message,
         "Evict and messages of a directory or group", kOnNetwork},
    Word{"add requestor", Verb::add_requestor, at_directory_message, "messages to a directory", kInDirectory},
    Word{"add owner", Verb::add_owner, kAtDirectory | kAtGroup | at_agent_message, "Evict and messages of a directory or group",
         kOnNetwork},
    Word{"remove sender", Verb::remove_sender, at_directory_message | at_member_message, "messages to a directory or group",
         kOnNetwork},
    Word{"add member", Verb::add_member, at_member_message | at_agent_message, "a group's messages", kInGroup},
    Word{"clear sharers", Verb::clear_sharers, kAtDirectory | kAtGroup | at_agent_message,
         "Evict and messages of a directory or group", kOnNetwork},
};

// A recipient in the action "send MESSAGE to RECIPIENT" on a network.
struct Recipient {
  std::string_view name;
  Verb verb;
  int kinds;
};
constexpr int kAtAgent = kAtAnyAccess | at_ask | at_memory_message | at_memory_data | at_recalled | at_agent_message;
constexpr std::array kRecipients = {
    Recipient{"home", Verb::send_home, kAtAgent | kAtGroup},
    Recipient{"requestor", Verb::send_requestor, at_recalled | kAtNetwork | at_member_message},
    Recipient{"owner", Verb::send_owner, kAtDirectory | at_member_message | at_agent_message},
    Recipient{"sharers", Verb::send_sharers, kAtDirectory | at_member_message | at_agent_message},
    Recipient{"others", Verb::send_others, at_directory_message},
    Recipient{"member", Verb::send_member, at_member_message | at_agent_message},
};

// The recipients in a group's action "recall MESSAGE from RECIPIENT".
constexpr std::array kRecalled = {
    Recipient{"owner", Verb::recall_owner, at_group_evict | at_agent_message | at_member_message},
    Recipient{"sharers", Verb::recall_sharers, at_group_evict | at_agent_message | at_member_message},
};

bool is_group_recall(Verb verb) {
  return verb == Verb::recall_owner || verb == Verb::recall_sharers;
}

const Recipient* recipient_of(Verb verb) {
  for (const Recipient& recalled : kRecalled) {
    if (recalled.verb == verb) return &recalled;
  }

  const auto* found =
      std::find_if(kRecipients.begin(), kRecipients.end(), [verb](const Recipient& r) { return r.verb == verb; });
  return found == kRecipients.end() ? nullptr : found;
}

// True if protocols of this kind have the verb.
bool fits_protocol(Verb verb, ProtocolKind kind) {
  const auto word = std::find_if(kWords.begin(), kWords.end(), [verb](const Word& each) { return each.verb == verb; });
  if (word != kWords.end()) return (word->protocols & bit_of(kind)) != 0;
  const bool of_group = verb == Verb::send_member || is_group_recall(verb);
  return of_group ? kind == ProtocolKind::group : kind != ProtocolKind::bus;
}

const Word& word_of(Verb verb) {
  return *std::find_if(kWords.begin(), kWords.end(), [verb](const Word& word) { return word.verb == verb; });
}

std::vector<std::string> known_actions(ProtocolKind kind) {
  std::vector<std::string> known = {"impossible"};
  for (const Recipient& to : kRecipients) {
    const bool fits = kind != ProtocolKind::bus && (to.verb != Verb::send_member || kind == ProtocolKind::group);
    if (fits) known.push_back(fmt::format("send MESSAGE to {}", to.name));
  }
  for (const Recipient& from : kRecalled) {
    if (kind == ProtocolKind::group) known.push_back(fmt::format("recall MESSAGE from {}", from.name));
  }
  for (const Word& word : kWords) {
    if (!fits_protocol(word.verb, kind)) continue;
    if (word.verb == Verb::issue || word.verb == Verb::recall) {
      known.push_back(fmt::format("{} MESSAGE", word.phrase));
    } else if (word.verb == Verb::send_data) {
      for (const char* to : {"requestor", "memory", "requestor, memory"}) known.push_back(fmt::format("send data to {}", to));
    } else {
      known.emplace_back(word.phrase);
    }
  }
  return known;
}

// Resolves the message of "issue X", "recall X" or "send X to Y".
std::optional<Action> with_message(Verb verb, std::string_view name, int line, const Protocol& protocol,
                                   Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const Message& message : protocol.messages) names.push_back(message.name);
  // A node's protocol lists the bus's messages before the network's. `recall` names a bus message, `send` a network message.
  const bool on_bus = verb == Verb::issue || verb == Verb::recall;
  const auto network = names.begin() + static_cast<std::ptrdiff_t>(protocol.bus_messages);
  const auto first = on_bus ? names.begin() : network, last = on_bus ? network : names.end();
  const auto found = std::find(first, last, name);
  if (found != last) return Action{verb, static_cast<std::uint8_t>(found - names.begin())};
  const bool recalls = verb == Verb::recall || is_group_recall(verb);
  const char* what = verb == Verb::issue ? "issue" : recalls ? "recall" : "send";
  diagnostics.error(line, fmt::format("{} of an unknown message '{}'{}", what, name, hint(name, {first, last})));
  return std::nullopt;
}

std::optional<Action> parse_send(std::string_view text, int line, const Protocol& protocol, Diagnostics& diagnostics) {
  const std::size_t to = text.find(" to ");
  if (to == std::string_view::npos) return std::nullopt;
  const std::string_view whom = trimmed(text.substr(to + 4));
  const auto* recipient =
      std::find_if(kRecipients.begin(), kRecipients.end(), [whom](const Recipient& r) { return r.name == whom; });
  if (recipient == kRecipients.end()) return std::nullopt;
  return with_message(recipient->verb, trimmed(text.substr(0, to)), line, protocol, diagnostics);
}

std::optional<Action> parse_recall(std::string_view text, int line, const Protocol& protocol, Diagnostics& diagnostics) {
  constexpr std::string_view kFrom = " from ";
  const std::size_t from = text.find(kFrom);
  if (from == std::string_view::npos) return with_message(Verb::recall, trimmed(text), line, protocol, diagnostics);
  const std::string_view whom = trimmed(text.substr(from + kFrom.size()));
  const auto* recalled =
      std::find_if(kRecalled.begin(), kRecalled.end(), [whom](const Recipient& r) { return r.name == whom; });
  if (recalled == kRecalled.end()) return std::nullopt;
  return with_message(recalled->verb, trimmed(text.substr(0, from)), line, protocol, diagnostics);
}

std::optional<std::uint8_t> parse_destinations(std::string_view text) {
  std::uint8_t bits = 0;
  for (const std::string& name : split(text, ',')) {
    const int bit = name == "requestor" ? to_requestor : name == "memory" ? to_memory : 0;
    if (bit == 0 || (bits & bit) != 0) return std::nullopt;
    bits = static_cast<std::uint8_t>(bits | bit);
  }
  return bits;
}

std::optional<Action> parse_action(const std::string& text, int line, const Protocol& protocol, Diagnostics& diagnostics) {
  constexpr std::string_view issue = "issue ";
  constexpr std::string_view recall = "recall ";
  constexpr std::string_view send = "send ";
  constexpr std::string_view send_to = "send data to ";
  const std::string_view view = text;
  const std::size_t errors_before = diagnostics.count();
  std::optional<Action> action;
  if (view.starts_with(issue)) {
    action = with_message(Verb::issue, trimmed(view.substr(issue.size())), line, protocol, diagnostics);
  } else if (view.starts_with(recall)) {
    action = parse_recall(view.substr(recall.size()), line, protocol, diagnostics);
  } else if (view.starts_with(send_to)) {
    if (const auto bits = parse_destinations(view.substr(send_to.size()))) action = Action{Verb::send_data, *bits};
  } else if (view.starts_with(send) && view != "send word") {
    action = parse_send(view.substr(send.size()), line, protocol, diagnostics);
  } else if (view != "issue" && view != "recall") {
    const auto word = std::find_if(kWords.begin(), kWords.end(), [view](const Word& w) { return w.phrase == view; });
    if (word != kWords.end()) action = Action{word->verb};
  }
  if (diagnostics.count() > errors_before) return std::nullopt;
  if (action && fits_protocol(action->verb, protocol.kind)) return action;
  diagnostics.error(line, fmt::format("unknown action '{}'{}", text, hint(text, known_actions(protocol.kind))));
  return std::nullopt;
}

bool combination_fits(const RowActions& row, int line, const Protocol& protocol, Diagnostics& diagnostics) {
  if (row.steps.size() > kMaxActions) {
    diagnostics.error(line, fmt::format("{} actions in one row; at most {} fit", row.steps.size(), kMaxActions));
    return false;
  }
  for (auto step = row.steps.begin(); step != row.steps.end(); ++step) {
    const std::string text = action_text(*step, protocol);
    if ((step->verb == Verb::hit || step->verb == Verb::stall) && row.steps.size() > 1) {
      diagnostics.error(line, fmt::format("'{}' stands alone: a row that does it does nothing else", text));
      return false;
    }
    if (step->verb == Verb::free && step + 1 != row.steps.end()) {
      diagnostics.error(line, "'free' comes last: after it there is no copy to act on");
      return false;
    }
    const bool to_network = recipient_of(step->verb) != nullptr;
    if (std::any_of(row.steps.begin(), step,
                    [&](Action earlier) { return to_network ? earlier == *step : earlier.verb == step->verb; })) {
      diagnostics.error(line, fmt::format("'{}' stands twice in one row", to_network ? text : word_of(step->verb).phrase));
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<RowActions> parse_actions(const std::string& cell, int line, const Protocol& protocol, Diagnostics& diagnostics) {
  RowActions row;
  if (cell == "-") return row;
  if (cell == "impossible") {
    row.impossible = true;
    return row;
  }
  bool good = true;
  for (const std::string& text : split(cell, ';')) {
    if (text.empty() || text == "-" || text == "impossible") {
      diagnostics.error(line, text.empty() ? "an empty action; a row that does nothing says '-'"
                                           : fmt::format("'{}' stands alone: a row that says it does nothing else", text));
      return std::nullopt;
    }
    if (const auto action = parse_action(text, line, protocol, diagnostics)) {
      row.steps.push_back(*action);
    } else {
      good = false;
    }
  }
  if (!good || !combination_fits(row, line, protocol, diagnostics)) return std::nullopt;
  return row;
}

void check_actions_fit(const RowActions& actions, EventKind kind, const std::string& event, int line, const Protocol& protocol,
                       Diagnostics& diagnostics) {
  if ((kind & kAtAnyAccess) != 0 && !actions.impossible && actions.steps.empty()) {
    diagnostics.error(
        line, fmt::format("{} gets no answer: it must {}, {} a message, or stall", event,
                          kind == at_evict ? "free the copy" : "hit", protocol.kind == ProtocolKind::bus ? "issue" : "send"));
  }
  for (const Action action : actions.steps) {
    if (const Recipient* to = recipient_of(action.verb)) {
      if ((to->kinds & kind) == 0) {
        diagnostics.error(line, fmt::format("'{}' can't stand at {}", action_text(action, protocol), event));
      }
      continue;
    }
    const Word& word = word_of(action.verb);
    const bool bus = protocol.kind == ProtocolKind::bus;
    const bool of_atomic_bus = bus && protocol.bus == BusKind::atomic &&
                               (action.verb == Verb::take_data ? kind == at_own || kind == at_other
                                                               : action.verb == Verb::apply_word && kind == at_own);
    const bool memory_only = bus && (kind & (at_memory_message | at_memory_data)) != 0 &&
                             (action.verb == Verb::assert_shared || action.verb == Verb::take_data);
    if (((word.kinds & kind) == 0 && !of_atomic_bus) || memory_only) {
      diagnostics.error(line, fmt::format("'{}' can't stand at {}; it belongs to {}", word.phrase, event, word.where));
    }
    if (action.verb != Verb::send_data) continue;
    if (kind == at_own && (action.argument & to_requestor) != 0) {
      diagnostics.error(line, fmt::format("at {} the cache is itself the requestor: it can send data to memory only", event));
    }
    if (kind == at_memory_message && (action.argument & to_memory) != 0) {
      diagnostics.error(line, fmt::format("at {} memory can send data to the requestor only", event));
    }
  }
}

std::string action_text(Action action, const Protocol& protocol) {
  if (const Recipient* to = recipient_of(action.verb)) {
    const std::string& message = protocol.messages[action.argument].name;
    return is_group_recall(action.verb) ? fmt::format("recall {} from {}", message, to->name)
                                        : fmt::format("send {} to {}", message, to->name);
  }
  const std::string_view phrase = word_of(action.verb).phrase;
  if (action.verb == Verb::issue || action.verb == Verb::recall)
    return fmt::format("{} {}", phrase, protocol.messages[action.argument].name);
  if (action.verb != Verb::send_data) return std::string(phrase);
  constexpr std::array destinations = {"", "requestor", "memory", "requestor, memory"};
  return fmt::format("{} to {}", phrase, destinations[action.argument]);
}

}  // namespace linebounce
