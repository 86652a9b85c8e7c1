#include "models/coherence/controller_compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "models/coherence/action_grammar.hpp"

namespace linebounce {
namespace {

constexpr std::size_t kMaxIds = 255;  // states, or qualified events: an id is a byte

struct GuardWords {
  GuardGroup group;
  int kinds;  // bits of EventKind: where it can be decided
  std::vector<std::string_view> words;
  [[nodiscard]] std::string declared() const { return fmt::format("{}", fmt::join(words, "|")); }
};
const std::vector<GuardWords> kGuards = {
    {GuardGroup::shared_alone, at_own, {"shared", "alone"}},
    {GuardGroup::owned_clean, at_own | at_memory_message | at_recalled, {"owned", "clean"}},
    {GuardGroup::owned_kept_clean, at_memory_message, {"owned", "kept", "clean"}},
    {GuardGroup::written_back_served, at_memory_data, {"written_back", "served"}},
    {GuardGroup::no_acks_acks, at_agent_message, {"no_acks", "acks"}},
    {GuardGroup::last_ack_more_acks, at_agent_message | at_member_message, {"last_ack", "more_acks"}},
    {GuardGroup::from_owner_from_other, at_directory_message | at_member_message, {"from_owner", "from_other"}},
    {GuardGroup::last_sharer_more_sharers, at_directory_message | at_member_message, {"last_sharer", "more_sharers"}},
    {GuardGroup::sharers_no_sharers,
     at_directory_message | at_directory_evict | at_member_message | at_group_evict | at_agent_message,
     {"sharers", "no_sharers"}},
};

const GuardWords& guard_words(GuardGroup group) {
  return *std::find_if(kGuards.begin(), kGuards.end(), [group](const GuardWords& guard) { return guard.group == group; });
}

// An event that the controller may have. Bus events are implied; the network messages that it receives are listed in the file's
// table of events.
struct FixedEvent {
  std::string name;
  EventKind kind;
  bool optional = false;
};

class ControllerCompiler {
 public:
  ControllerCompiler(const ControllerSource& source, std::vector<FixedEvent> fixed, const Protocol& protocol,
                     Diagnostics& diagnostics)
      : source_(source), fixed_(std::move(fixed)), protocol_(protocol), diagnostics_(diagnostics) {}

  CompiledController compile() {
    table().name = source_.name;
    const std::size_t errors_before = diagnostics_.count();
    declare_states();
    declare_events();
    if (table().states.size() > kMaxIds || table().events.size() > kMaxIds) {
      error(source_.line, fmt::format("more than {} states or events", kMaxIds));
    }
    if (diagnostics_.count() > errors_before) return std::move(result_);  // rows would only repeat the errors
    const std::size_t pairs = table().states.size() * table().events.size();
    table().rows.resize(pairs);
    result_.named.resize(pairs);
    for (const BaseEvent& event : table().base_events) {
      for (std::size_t state = 0; event.absent && state < table().states.size(); ++state) {
        result_.named[state * table().events.size() + event.first] = true;
      }
    }
    for (const TransitionText& text : source_.transitions) compile_row(text);
    return std::move(result_);
  }

 private:
  // One entry of a row's `on`: the event, and its qualified ids that the row covers.
  struct Covered {
    std::size_t base;
    EventId first, count;
  };

  ControllerTable& table() { return result_.table; }
  void error(int line, const std::string& text) { diagnostics_.error(line, source_.name + ": " + text); }

  void declare_states() {
    for (const Declaration& state : source_.states) {
      table().states.push_back({state.name, state.meaning});
      result_.state_lines.push_back(state.line);
      state_names_.push_back(state.name);
    }
  }

  void declare_events() {
    for (const FixedEvent& event : fixed_) event_names_.push_back(event.name);
    for (const Declaration& event : source_.events) {
      if (std::find(event_names_.begin(), event_names_.end(), event.name) != event_names_.end()) continue;
      error(event.line, fmt::format("unknown event '{}'{}", event.name, hint(event.name, event_names_)));
    }
    for (const FixedEvent& fixed : fixed_) {
      const auto declared = std::find_if(source_.events.begin(), source_.events.end(),
                                         [&](const Declaration& event) { return event.name == fixed.name; });
      if (declared == source_.events.end() && fixed.optional) {
        add_event(fixed.name).absent = true;
      } else if (declared == source_.events.end()) {
        error(source_.line, fmt::format("the table of events lacks '{}'", fixed.name));
        add_event(fixed.name);
      } else {
        add_event(fixed.name, guard_group(*declared, fixed.kind)).meaning = declared->meaning;
      }
    }
  }

  BaseEvent& add_event(const std::string& name, GuardGroup guard = GuardGroup::none) {
    BaseEvent event;
    event.name = name;
    event.guard = guard;
    event.first = static_cast<EventId>(table().events.size());
    if (guard == GuardGroup::none) {
      table().events.push_back(name);
    } else {
      const GuardWords& words = guard_words(guard);
      event.count = static_cast<EventId>(words.words.size());
      for (const std::string_view word : words.words) table().events.push_back(fmt::format("{} [{}]", name, word));
    }
    return table().base_events.emplace_back(std::move(event));
  }

  GuardGroup guard_group(const Declaration& event, EventKind kind) {
    if (event.detail.empty()) return GuardGroup::none;
    std::vector<std::string> legal;
    for (const GuardWords& guard : kGuards) {
      if ((guard.kinds & kind) == 0) continue;
      if (guard.declared() == event.detail) return guard.group;
      legal.push_back("[" + guard.declared() + "]");
    }
    error(event.line, legal.empty()
                          ? fmt::format("event '{}' can't have a guard: nothing is decided when it happens", event.name)
                          : fmt::format("unknown guard group '[{}]' of event '{}'; known: {}", event.detail, event.name,
                                        fmt::join(legal, ", ")));
    return GuardGroup::none;
  }

  void compile_row(const TransitionText& text) {
    const auto actions = parse_row_actions(text);
    const std::vector<StateId> states = states_of(text);
    const auto next = next_of(text, actions && actions->impossible);
    const std::vector<Covered> events = events_of(text);
    table().written.push_back({static_cast<std::uint16_t>(text.line), text.in, text.on, text.actions, text.then, text.why});
    if (!actions || !next) return;
    for (const Covered& event : events) {
      check_actions_fit(*actions, fixed_[event.base].kind, fixed_[event.base].name, text.line, protocol_, diagnostics_);
    }
    for (const StateId state : states) {
      Row row;
      row.next = *next < 0 ? state : static_cast<StateId>(*next);
      row.impossible = actions->impossible;
      row.count = static_cast<std::uint8_t>(actions->steps.size());
      row.source_line = static_cast<std::uint16_t>(text.line);
      std::copy(actions->steps.begin(), actions->steps.end(), row.actions.begin());
      if (!fits_next(row, state, text.line)) return;
      if (!fill(row, state, events)) return;
    }
  }

  std::optional<RowActions> parse_row_actions(const TransitionText& text) {
    return parse_actions(text.actions, text.line, protocol_, diagnostics_);
  }

  std::vector<StateId> states_of(const TransitionText& text) {
    std::vector<StateId> states;
    for (const std::string& name : split(text.in, ',')) {
      if (const auto state = find_state(name, text.line)) states.push_back(*state);
    }
    return states;
  }

  std::optional<StateId> find_state(const std::string& name, int line) {
    const auto found = std::find(state_names_.begin(), state_names_.end(), name);
    if (found != state_names_.end()) return static_cast<StateId>(found - state_names_.begin());
    error(line, fmt::format("unknown state '{}'{}", name, hint(name, state_names_)));
    return std::nullopt;
  }

  // The state named by `then`; -1 for "="; nothing after an error.
  std::optional<int> next_of(const TransitionText& text, bool impossible) {
    if (impossible) {
      if (text.then.empty()) return -1;
      error(text.line, "what is impossible has no next state: leave 'then' empty");
      return std::nullopt;
    }
    if (text.then == "=") return -1;
    if (text.then.empty()) {
      error(text.line, "'then' is empty; it names a state, or says '=' for the same one");
      return std::nullopt;
    }
    return find_state(text.then, text.line);
  }

  std::vector<Covered> events_of(const TransitionText& text) {
    std::vector<Covered> events;
    for (const std::string& entry : split(text.on, ',')) {
      const std::size_t bracket = entry.find('[');
      const std::string name(trimmed(std::string_view(entry).substr(0, bracket)));
      const auto found = std::find(event_names_.begin(), event_names_.end(), name);
      if (found == event_names_.end()) {
        error(text.line, fmt::format("unknown event '{}'{}", name, hint(name, event_names_)));
        continue;
      }
      const auto base = static_cast<std::size_t>(found - event_names_.begin());
      const BaseEvent& event = table().base_events[base];
      if (event.absent) {
        error(text.line, fmt::format("the table of events lacks '{}'", name));
        continue;
      }
      if (bracket == std::string::npos) {
        events.push_back({base, event.first, event.count});
      } else if (const auto word = qualifier_of(event, entry.substr(bracket), text.line)) {
        events.push_back({base, static_cast<EventId>(event.first + *word), 1});
      }
    }
    return events;
  }

  // The index of "[word]" in the event's guard group.
  std::optional<int> qualifier_of(const BaseEvent& event, const std::string& bracketed, int line) {
    if (event.guard == GuardGroup::none) {
      error(line, fmt::format("'{}' has no guard group, so {} can't stand there", event.name, bracketed));
      return std::nullopt;
    }
    const GuardWords& guard = guard_words(event.guard);
    for (std::size_t i = 0; i < guard.words.size(); ++i) {
      if (bracketed == fmt::format("[{}]", guard.words[i])) return static_cast<int>(i);
    }
    error(line, fmt::format("guard {} is not of the group of '{}', which is [{}]", bracketed, event.name, guard.declared()));
    return std::nullopt;
  }

  // Checks the next state against the row's actions. Reports one error a row.
  bool fits_next(const Row& row, StateId state, int line) {
    const std::string& initial = state_names_.front();
    if (row.does(Verb::stall) && row.next != state) {
      error(line, "a stall changes nothing: 'then' must be '='");
    } else if (row.does(Verb::free) && row.next != 0) {
      error(line,
            fmt::format("'free' gives the copy up, so the next state must be {}, not {}", initial, state_names_[row.next]));
    } else if (row.does(Verb::apply_word) && (state == 0 || row.next == 0)) {
      error(line, fmt::format("'apply word' needs a copy, before the row and after it: neither state may be {}", initial));
    } else if (source_.name == "cache" && protocol_.kind == ProtocolKind::bus && !row.impossible && !row.does(Verb::free) &&
               row.next == 0 && state != 0) {
      error(line, fmt::format("{} to {} without 'free': the cache would keep a line that it has no copy of",
                              state_names_[state], initial));
    } else {
      return true;
    }
    return false;
  }

  // Enters the row for every event that it covers; false after an error.
  bool fill(const Row& row, StateId state, const std::vector<Covered>& events) {
    for (const Covered& event : events) {
      const bool is_load = fixed_[event.base].kind == at_load;
      if (is_load && row.count == 1 && row.actions[0].verb == Verb::hit && row.next != state) {
        error(row.source_line, "a Load that hits changes nothing: 'then' must be '='");
        return false;
      }
      for (EventId id = event.first; id < event.first + event.count; ++id) {
        const std::size_t pair = state * table().events.size() + id;
        if (result_.named[pair]) return report_second(row, state, id);
        result_.named[pair] = true;
        table().rows[pair] = row;
      }
    }
    return true;
  }

  bool report_second(const Row& row, StateId state, EventId event) {
    const Row& first = table().row(state, event);
    const bool same = row.next == first.next && row.impossible == first.impossible &&
                      std::equal(row.steps().begin(), row.steps().end(), first.steps().begin(), first.steps().end());
    const std::string pair = fmt::format("state {}, event {}", state_names_[state], table().events[event]);
    error(row.source_line, same ? fmt::format("duplicate: {} stands in line {} already", pair, first.source_line)
                                : fmt::format("contradiction: line {} says something else for {}", first.source_line, pair));
    return false;
  }

  const ControllerSource& source_;
  const std::vector<FixedEvent> fixed_;
  const Protocol& protocol_;
  Diagnostics& diagnostics_;
  CompiledController result_;
  std::vector<std::string> state_names_, event_names_;
};

}  // namespace

CompiledController compile_cache(const ControllerSource& source, const Protocol& protocol, Diagnostics& diagnostics) {
  std::vector<FixedEvent> events = {{"Load", at_load}, {"Store", at_store}, {"Evict", at_evict}};
  if (protocol.kind == ProtocolKind::bus) {
    events.push_back({"Data", at_data});
    for (const Message& message : protocol.messages) {
      events.push_back({"Own_" + message.name, at_own});
      events.push_back({"Other_" + message.name, at_other});
    }
    const auto is_atomic = [](const Declaration& event) { return event.name == "Atomic"; };
    if (std::any_of(source.events.begin(), source.events.end(), is_atomic)) events.push_back({"Atomic", at_store});
  } else {
    for (const Message& message : protocol.messages) events.push_back({message.name, at_agent_message, true});
  }
  return ControllerCompiler(source, std::move(events), protocol, diagnostics).compile();
}

CompiledController compile_memory(const ControllerSource& source, const Protocol& protocol, Diagnostics& diagnostics) {
  std::vector<FixedEvent> events;
  for (const Message& message : protocol.messages) events.push_back({message.name, at_memory_message});
  events.push_back({"Data", at_memory_data});
  return ControllerCompiler(source, std::move(events), protocol, diagnostics).compile();
}

CompiledController compile_directory(const ControllerSource& source, const Protocol& protocol, Diagnostics& diagnostics) {
  std::vector<FixedEvent> events;
  for (const Message& message : protocol.messages) events.push_back({message.name, at_directory_message, true});
  events.push_back({"Evict", at_directory_evict, true});
  return ControllerCompiler(source, std::move(events), protocol, diagnostics).compile();
}

CompiledController compile_node(const ControllerSource& source, const Protocol& protocol, Diagnostics& diagnostics) {
  const std::span messages(protocol.messages);
  const auto on_bus = messages.first(protocol.bus_messages);
  std::vector<FixedEvent> events;
  for (const Message& message : on_bus) events.push_back({message.name, at_memory_message});
  events.push_back({"Bus_Data", at_memory_data});
  for (const Message& message : on_bus) {
    events.push_back({"Ask_" + message.name, at_ask, message.carries_data});
    events.push_back({"Own_" + message.name, at_recalled, true});
  }
  events.push_back({"Evict", at_node_evict, true});
  for (const Message& message : messages.subspan(protocol.bus_messages)) {
    // A message that goes to homes only may share its name with one of the bus.
    const bool to_homes = message.message_class == MessageClass::request || message.message_class == MessageClass::relay;
    events.push_back({(to_homes ? "home's " : "") + message.name, at_agent_message, true});
  }
  return ControllerCompiler(source, std::move(events), protocol, diagnostics).compile();
}

CompiledController compile_group(const ControllerSource& source, const Protocol& protocol, Diagnostics& diagnostics) {
  std::vector<FixedEvent> events;
  for (const Message& message : protocol.messages) events.push_back({"Member_" + message.name, at_member_message, true});
  events.push_back({"Evict", at_group_evict, true});
  for (const Message& message : protocol.messages) events.push_back({message.name, at_agent_message, true});
  events.push_back({"Evict_Entry", at_group_evict, true});
  return ControllerCompiler(source, std::move(events), protocol, diagnostics).compile();
}

}  // namespace linebounce
