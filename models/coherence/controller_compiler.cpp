#include "models/coherence/controller_compiler.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "models/coherence/action_grammar.hpp"
#include "models/text/trimmed.hpp"

namespace linebounce {
namespace {

constexpr std::size_t kMaxIds = 255;  // the most states or qualified events of a table, because an id is a byte

struct GuardWords {
  GuardGroup group;
  int kinds;  // EventKind bits: the events that can have this guard
  std::vector<std::string_view> words;
  [[nodiscard]] std::string declared() const { return fmt::format("{}", fmt::join(words, "|")); }
};
const std::vector<GuardWords> kGuards = {
    {GuardGroup::shared_alone, at_own, {"shared", "alone"}},
    {GuardGroup::owned_shared_alone, at_own, {"owned", "shared", "alone"}},
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

// An event that a controller of this type can have. The file's table of events must list it unless it is optional. An
// optional event, such as a network message, exists only if the table lists it.
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
    if (diagnostics_.count() > errors_before) return std::move(result_);  // compiling rows would only repeat the errors
    const std::size_t pairs = table().states.size() * table().events.size();
    table().rows.resize(pairs);
    result_.named.resize(pairs);
    by_.resize(pairs);
    for (const BaseEvent& event : table().base_events) {
      for (std::size_t state = 0; event.absent && state < table().states.size(); ++state) {
        result_.named[state * table().events.size() + event.first] = true;
      }
    }
    for (const WrittenRow& text : source_.transitions) compile_row(text);
    return std::move(result_);
  }

 private:
  // A state and a qualified event that a row names, and the event's base event.
  struct Pair {
    StateId state;
    std::size_t base;
    EventId event;
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

  // Compiles one row. Inherited rows are compiled after the file's own rows, and fill only the (state, event) pairs that have
  // no row yet.
  void compile_row(const WrittenRow& text) {
    std::vector<Pair> pairs = pairs_of(text);
    std::erase_if(pairs, [&](const Pair& pair) { return is_overridden(pair, text); });
    if (pairs.empty() && is_inherited(text)) return;
    const auto actions = parse_row_actions(text);
    const auto next = next_of(text, actions && actions->impossible);
    table().written.push_back(text);
    if (!actions || !next) return;
    for (const Pair& pair : pairs) {
      if (pair.state != pairs.front().state) break;
      check_actions_fit(*actions, fixed_[pair.base].kind, fixed_[pair.base].name, text.line, protocol_, diagnostics_);
    }
    for (const Pair& pair : pairs) {
      Row row;
      row.next = *next < 0 ? pair.state : static_cast<StateId>(*next);
      row.impossible = actions->impossible;
      row.count = static_cast<std::uint8_t>(actions->steps.size());
      row.source_line = static_cast<std::uint16_t>(text.line);
      std::copy(actions->steps.begin(), actions->steps.end(), row.actions.begin());
      if (!fits_next(row, pair, text.line)) return;
      if (!fill(row, pair, text)) return;
    }
  }

  [[nodiscard]] std::size_t number(const Pair& pair) { return pair.state * table().events.size() + pair.event; }
  [[nodiscard]] bool is_inherited(const WrittenRow& text) const { return file_level(text.line) > 0; }
  [[nodiscard]] std::size_t file_level(int line) const {
    return &file_of(diagnostics_.files(), line) - diagnostics_.files().data();
  }

  // True if a row for the pair in an extending file overrides the row `text`. Reports an overriding row that repeats `text`.
  bool is_overridden(const Pair& pair, const WrittenRow& text) {
    const WrittenRow*& nearer = by_[number(pair)];
    if (nearer == nullptr || file_level(nearer->line) == file_level(text.line)) return false;
    if (nearer->actions == text.actions && nearer->then == text.then && nearer->why == text.why) {
      error(nearer->line, fmt::format("state {}, event {} is inherited just so from {}:{}: leave it out",
                                      state_names_[pair.state], table().events[pair.event],
                                      file_of(diagnostics_.files(), text.line).name, diagnostics_.line_in_file(text.line)));
    }
    nearer = &text;
    return true;
  }

  std::optional<RowActions> parse_row_actions(const WrittenRow& text) {
    return parse_actions(text.actions, text.line, protocol_, diagnostics_);
  }

  // The pairs that the row `text` names. Leaves out states and events that an extending file has removed.
  std::vector<Pair> pairs_of(const WrittenRow& text) {
    std::vector<StateId> states;
    for (const std::string& name : split(text.in, ',')) {
      if (is_gone(name, text)) continue;
      if (const auto state = find_state(name, text.line)) states.push_back(*state);
    }
    std::vector<Pair> events, pairs;
    for (const std::string& entry : split(text.on, ',')) add_events(entry, text, events);
    for (const StateId state : states) {
      for (const Pair& event : events) pairs.push_back({state, event.base, event.event});
    }
    return pairs;
  }

  bool is_gone(const std::string& name, const WrittenRow& text) const {
    return std::any_of(source_.without.begin(), source_.without.end(), [&](const Declaration& gone) {
      return gone.name == name && file_level(gone.line) < file_level(text.line);
    });
  }

  std::optional<StateId> find_state(const std::string& name, int line) {
    const auto found = std::find(state_names_.begin(), state_names_.end(), name);
    if (found != state_names_.end()) return static_cast<StateId>(found - state_names_.begin());
    error(line, fmt::format("unknown state '{}'{}", name, hint(name, state_names_)));
    return std::nullopt;
  }

  // The state that the column `then` names; -1 if the state stays the same; nullopt after an error.
  std::optional<int> next_of(const WrittenRow& text, bool impossible) {
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

  // Adds to `events` the qualified events that one entry of the column `on` names. pairs_of() sets their states.
  void add_events(const std::string& entry, const WrittenRow& text, std::vector<Pair>& events) {
    const std::size_t bracket = entry.find('[');
    const std::string name(trimmed(std::string_view(entry).substr(0, bracket)));
    const auto found = std::find(event_names_.begin(), event_names_.end(), name);
    if (is_gone(name, text)) return;
    if (found == event_names_.end())
      return error(text.line, fmt::format("unknown event '{}'{}", name, hint(name, event_names_)));
    const std::size_t base = found - event_names_.begin();
    const BaseEvent& event = table().base_events[base];
    if (event.absent) return error(text.line, fmt::format("the table of events lacks '{}'", name));
    if (bracket == std::string::npos) {
      for (int i = 0; i < event.count; ++i) events.push_back({0, base, static_cast<EventId>(event.first + i)});
    } else if (const auto word = qualifier_of(event, entry.substr(bracket), text)) {
      events.push_back({0, base, static_cast<EventId>(event.first + *word)});
    }
  }

  // True if a file that extends the row's file declares the event anew, perhaps with other guard words.
  [[nodiscard]] bool has_new_guard(const BaseEvent& event, const WrittenRow& text) const {
    const auto declared = std::find_if(source_.events.begin(), source_.events.end(),
                                       [&event](const Declaration& each) { return each.name == event.name; });
    return file_level(declared->line) < file_level(text.line);
  }

  // The index of `bracketed`, such as "[shared]", among the words of the event's guard group.
  std::optional<int> qualifier_of(const BaseEvent& event, const std::string& bracketed, const WrittenRow& text) {
    if (event.guard == GuardGroup::none) {
      if (has_new_guard(event, text)) return std::nullopt;
      error(text.line, fmt::format("'{}' has no guard group, so {} can't stand there", event.name, bracketed));
      return std::nullopt;
    }
    const GuardWords& guard = guard_words(event.guard);
    for (std::size_t i = 0; i < guard.words.size(); ++i) {
      if (bracketed == fmt::format("[{}]", guard.words[i])) return static_cast<int>(i);
    }
    if (has_new_guard(event, text)) return std::nullopt;
    error(text.line,
          fmt::format("guard {} is not of the group of '{}', which is [{}]", bracketed, event.name, guard.declared()));
    return std::nullopt;
  }

  // True if the row's actions allow the next state. Otherwise reports one error.
  bool fits_next(const Row& row, const Pair& pair, int line) {
    const std::string& initial = state_names_.front();
    const StateId state = pair.state;
    const bool takes_passing = row.does(Verb::take_data) && fixed_[pair.base].kind == at_other;
    if (row.does(Verb::stall) && row.next != state) {
      error(line, "a stall changes nothing: 'then' must be '='");
    } else if (row.does(Verb::free) && row.next != 0) {
      error(line,
            fmt::format("'free' gives the copy up, so the next state must be {}, not {}", initial, state_names_[row.next]));
    } else if ((row.does(Verb::apply_word) || takes_passing) && (state == 0 || row.next == 0)) {
      error(line, fmt::format("'{}' needs a copy, before the row and after it: neither state may be {}",
                              takes_passing ? "take data" : "apply word", initial));
    } else if (source_.name == "cache" && protocol_.kind == ProtocolKind::bus && !row.impossible && !row.does(Verb::free) &&
               row.next == 0 && state != 0) {
      error(line, fmt::format("{} to {} without 'free': the cache would keep a line that it has no copy of",
                              state_names_[state], initial));
    } else {
      return true;
    }
    return false;
  }

  // Stores the row for the pair. Returns false after an error.
  bool fill(const Row& row, const Pair& pair, const WrittenRow& text) {
    const bool is_load = fixed_[pair.base].kind == at_load;
    // A machine's loads that hit bypass the rows. On an atomic bus they run, so that a row can note that the copy is used.
    const bool bypasses = protocol_.kind != ProtocolKind::bus || protocol_.bus == BusKind::split;
    if (is_load && bypasses && row.count == 1 && row.actions[0].verb == Verb::hit && row.next != pair.state) {
      error(row.source_line, "a Load that hits changes nothing: 'then' must be '='");
      return false;
    }
    if (by_[number(pair)] != nullptr) return report_second(row, pair);
    by_[number(pair)] = &text;
    result_.named[number(pair)] = true;
    table().rows[number(pair)] = row;
    return true;
  }

  bool report_second(const Row& row, const Pair& at) {
    const Row& first = table().row(at.state, at.event);
    const bool same = row.next == first.next && row.impossible == first.impossible &&
                      std::equal(row.steps().begin(), row.steps().end(), first.steps().begin(), first.steps().end());
    const std::string pair = fmt::format("state {}, event {}", state_names_[at.state], table().events[at.event]);
    const int line = diagnostics_.line_in_file(first.source_line);
    error(row.source_line, same ? fmt::format("duplicate: {} stands in line {} already", pair, line)
                                : fmt::format("contradiction: line {} says something else for {}", line, pair));
    return false;
  }

  const ControllerSource& source_;
  const std::vector<FixedEvent> fixed_;
  const Protocol& protocol_;
  Diagnostics& diagnostics_;
  CompiledController result_;
  std::vector<std::string> state_names_, event_names_;
  std::vector<const WrittenRow*> by_;  // indexed [state][event]; the latest row that names the pair, or null
};

std::vector<FixedEvent> cache_events(const ControllerSource& source, const Protocol& protocol) {
  std::vector<FixedEvent> events = {{"Load", at_load}, {"Store", at_store}, {"Evict", at_evict}};
  if (protocol.kind == ProtocolKind::bus) {
    events.push_back({"Data", at_data, protocol.bus == BusKind::atomic});  // on an atomic bus, data comes in the order step
    for (const Message& message : protocol.messages) {
      events.push_back({"Own_" + message.name, at_own});
      events.push_back({"Other_" + message.name, at_other});
    }
    const auto is_atomic = [](const Declaration& event) { return event.name == "Atomic"; };
    if (std::any_of(source.events.begin(), source.events.end(), is_atomic)) events.push_back({"Atomic", at_store});
  } else {
    for (const Message& message : protocol.messages) events.push_back({message.name, at_agent_message, true});
  }
  return events;
}

std::vector<FixedEvent> node_events(const Protocol& protocol) {
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
    // Only homes receive requests and relays. The prefix lets such a message have the same name as a bus message.
    const bool to_homes = message.message_class == MessageClass::request || message.message_class == MessageClass::relay;
    events.push_back({(to_homes ? "home's " : "") + message.name, at_agent_message, true});
  }
  return events;
}

std::vector<FixedEvent> events_of(Controller controller, const ControllerSource& source, const Protocol& protocol) {
  std::vector<FixedEvent> events;
  const auto add_messages = [&](const std::string& prefix, EventKind kind, bool optional) {
    for (const Message& message : protocol.messages) events.push_back({prefix + message.name, kind, optional});
  };
  switch (controller) {
    case Controller::cache: return cache_events(source, protocol);
    case Controller::node: return node_events(protocol);
    case Controller::memory:
      add_messages("", at_memory_message, false);
      events.push_back({"Data", at_memory_data});
      break;
    case Controller::directory:
      add_messages("", at_directory_message, true);
      events.push_back({"Evict", at_directory_evict, true});
      break;
    case Controller::group:
      add_messages("Member_", at_member_message, true);
      events.push_back({"Evict", at_group_evict, true});
      add_messages("", at_agent_message, true);
      events.push_back({"Evict_Entry", at_group_evict, true});
      break;
  }
  return events;
}

}  // namespace

CompiledController compile_controller(Controller controller, const ControllerSource& source, const Protocol& protocol,
                                      Diagnostics& diagnostics) {
  return ControllerCompiler(source, events_of(controller, source, protocol), protocol, diagnostics).compile();
}

}  // namespace linebounce
