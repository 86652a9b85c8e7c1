#include "models/coherence/action_grammar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "models/coherence/markdown.hpp"

namespace linebounce {
namespace {

struct Word {
  std::string_view phrase;
  Verb verb;
  int kinds;  // bits of EventKind
  std::string_view where;
};

constexpr std::array kWords = {
    Word{"hit", Verb::hit, at_load | at_store, "Load and Store"},
    Word{"issue", Verb::issue, at_load | at_store | at_evict | at_own, "Load, Store, Evict and Own_ events"},
    Word{"stall", Verb::stall, at_load | at_store | at_evict, "Load, Store and Evict"},
    Word{"free", Verb::free, at_evict | at_own | at_other, "Evict, Own_ and Other_ events of a cache"},
    Word{"assert shared", Verb::assert_shared, at_other, "Other_ events"},
    Word{"assert owned", Verb::assert_owned, at_other, "Other_ events"},
    Word{"send data", Verb::send_data, at_own | at_other | at_memory_message, "Own_ and Other_ events and memory's messages"},
    Word{"complete", Verb::complete, at_own | at_data, "Own_ events and Data"},
    Word{"take data", Verb::take_data, at_data, "Data"},
    Word{"update memory", Verb::update_memory, at_memory_data, "memory's Data"},
};

const Word& word_of(Verb verb) {
  return *std::find_if(kWords.begin(), kWords.end(), [verb](const Word& word) { return word.verb == verb; });
}

std::vector<std::string> known_actions() {
  std::vector<std::string> known = {"impossible"};
  for (const Word& word : kWords) {
    if (word.verb == Verb::issue) {
      known.emplace_back("issue MESSAGE");
    } else if (word.verb == Verb::send_data) {
      for (const char* to : {"requestor", "memory", "requestor, memory"}) known.push_back(fmt::format("send data to {}", to));
    } else {
      known.emplace_back(word.phrase);
    }
  }
  return known;
}

std::optional<Action> parse_issue(std::string_view name, int line, const Protocol& protocol, Diagnostics& diagnostics) {
  std::vector<std::string> names;
  for (const Message& message : protocol.messages) names.push_back(message.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return Action{Verb::issue, static_cast<std::uint8_t>(found - names.begin())};
  diagnostics.error(line, fmt::format("issue of an unknown message '{}'{}", name, hint(name, names)));
  return std::nullopt;
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
  constexpr std::string_view send_to = "send data to ";
  const std::string_view view = text;
  if (view.starts_with(issue)) return parse_issue(trimmed(view.substr(issue.size())), line, protocol, diagnostics);
  if (view.starts_with(send_to)) {
    if (const auto bits = parse_destinations(view.substr(send_to.size()))) return Action{Verb::send_data, *bits};
  } else if (view != "issue" && view != "send data") {
    const auto word = std::find_if(kWords.begin(), kWords.end(), [view](const Word& w) { return w.phrase == view; });
    if (word != kWords.end()) return Action{word->verb};
  }
  diagnostics.error(line, fmt::format("unknown action '{}'{}", text, hint(text, known_actions())));
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
    if (std::any_of(row.steps.begin(), step, [&](Action earlier) { return earlier.verb == step->verb; })) {
      diagnostics.error(line, fmt::format("'{}' stands twice in one row", word_of(step->verb).phrase));
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

void check_actions_fit(const RowActions& actions, EventKind kind, const std::string& event, int line, BusKind bus,
                       Diagnostics& diagnostics) {
  if ((kind & (at_load | at_store | at_evict)) != 0 && !actions.impossible && actions.steps.empty()) {
    diagnostics.error(line, fmt::format("{} gets no answer: it must {}, issue a message, or stall", event,
                                        kind == at_evict ? "free the copy" : "hit"));
  }
  for (const Action action : actions.steps) {
    const Word& word = word_of(action.verb);
    const bool own_data = action.verb == Verb::take_data && bus == BusKind::atomic && kind == at_own;
    if ((word.kinds & kind) == 0 && !own_data) {
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
  const std::string_view phrase = word_of(action.verb).phrase;
  if (action.verb == Verb::issue) return fmt::format("{} {}", phrase, protocol.messages[action.argument].name);
  if (action.verb != Verb::send_data) return std::string(phrase);
  constexpr std::array destinations = {"", "requestor", "memory", "requestor, memory"};
  return fmt::format("{} to {}", phrase, destinations[action.argument]);
}

}  // namespace linebounce
