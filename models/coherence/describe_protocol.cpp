// Formats a protocol as a page for the terminal. Actions and next states come from the compiled table, reasons from the file.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "models/coherence/action_grammar.hpp"
#include "models/coherence/diagnostics.hpp"
#include "models/coherence/protocol.hpp"
#include "models/ordinal.hpp"

namespace linebounce {
namespace {

// One cell of the overview of next states: "stall", "hit", "." for an impossible row, "-" for a row that does nothing, else the
// next state, written "=" if it stays the same.
std::string cell_text(const ControllerTable& table, StateId state, const Row& row) {
  if (row.impossible) return ".";
  if (row.count == 1 && row.actions[0].verb == Verb::stall) return "stall";
  const std::string next = row.next == state ? "=" : table.states[row.next].name;
  if (row.count == 1 && row.actions[0].verb == Verb::hit) return row.next == state ? "hit" : "hit " + next;
  return row.next == state && row.count == 0 ? "-" : next;
}

std::string actions_text(const Row& row, const Protocol& protocol) {
  if (row.impossible) return "impossible";
  if (row.count == 0) return "-";
  std::string text;
  for (const Action action : row.steps()) text += (text.empty() ? "" : "; ") + action_text(action, protocol);
  return text;
}

template <class Items>
std::size_t longest_name(const Items& items) {
  std::size_t longest = 0;
  for (const auto& item : items) longest = std::max(longest, item.name.size());
  return longest;
}

template <class Items>
std::string names_and_meanings(const Items& items) {
  std::string text;
  const std::size_t width = longest_name(items);
  for (const auto& item : items) {
    if (!item.meaning.empty()) text += fmt::format("  {:{}}  {}\n", item.name, width, item.meaning);
  }
  return text;
}

// Lists the messages, one per line, with their class if they are a network's.
std::string messages_and_meanings(const std::vector<Message>& messages) {
  constexpr std::array kClasses = {"", "request   ", "forward   ", "relay     ", "response  "};
  std::string text;
  const std::size_t width = longest_name(messages);
  for (const Message& message : messages) {
    text += fmt::format("  {:{}}  {}{}\n", message.name, width, kClasses[ordinal(message.message_class)], message.meaning);
  }
  return text;
}

// Ends a line of text, and removes trailing blanks from it.
void end_line(std::string& text) {
  text.erase(text.find_last_not_of(' ') + 1);
  text += '\n';
}

// True if this controller never gets the event.
bool never(const ControllerTable& table, std::size_t event) {
  return std::any_of(table.base_events.begin(), table.base_events.end(),
                     [event](const BaseEvent& base) { return base.absent && base.first == event; });
}

// The overview's columns for the states `first` to `last` - 1, with one line for each event.
std::string grid_part(const ControllerTable& table, std::size_t first, std::size_t last, const std::vector<std::size_t>& widths,
                      std::size_t event_width) {
  std::string text = fmt::format("  {:{}}", "", event_width);
  for (std::size_t state = first; state < last; ++state)
    text += fmt::format("  {:{}}", table.states[state].name, widths[state]);
  end_line(text);
  for (std::size_t event = 0; event < table.events.size(); ++event) {
    if (never(table, event)) continue;
    text += fmt::format("  {:{}}", table.events[event], event_width);
    for (std::size_t state = first; state < last; ++state) {
      const auto id = static_cast<StateId>(state);
      text += fmt::format("  {:{}}", cell_text(table, id, table.row(id, static_cast<EventId>(event))), widths[state]);
    }
    end_line(text);
  }
  return text;
}

// The overview of next states, with a column for each state and a line for each event. It is split into parts that fit the
// width of a page.
std::string grid(const ControllerTable& table, std::size_t columns) {
  std::size_t event_width = 0;
  for (const std::string& event : table.events) event_width = std::max(event_width, event.size());
  std::vector<std::size_t> widths;
  for (std::size_t state = 0; state < table.states.size(); ++state) {
    std::size_t width = table.states[state].name.size();
    for (std::size_t event = 0; event < table.events.size(); ++event) {
      const auto id = static_cast<StateId>(state);
      width = std::max(width, cell_text(table, id, table.row(id, static_cast<EventId>(event))).size());
    }
    widths.push_back(width);
  }
  std::string text;
  for (std::size_t first = 0, last = 0; first < widths.size(); first = last) {
    std::size_t used = 2 + event_width;
    for (last = first; last < widths.size() && (last == first || used + 2 + widths[last] <= columns); ++last) {
      used += 2 + widths[last];
    }
    if (first != 0) text += '\n';
    text += grid_part(table, first, last, widths, event_width);
  }
  return text;
}

const std::string& why_of(const ControllerTable& table, const Row& row) {
  return std::find_if(table.written.begin(), table.written.end(),
                      [&](const WrittenRow& written) { return written.line == row.source_line; })
      ->why;
}

// The rows of one state, with reasons. Leaves out impossible rows, which only the overview shows.
std::string rows_of(const Protocol& protocol, const ControllerTable& table, StateId state) {
  std::string text = fmt::format("\n  {}: {}\n", table.states[state].name, table.states[state].meaning);
  for (std::size_t event = 0; event < table.events.size(); ++event) {
    const Row& row = table.row(state, static_cast<EventId>(event));
    if (row.impossible) continue;
    text += fmt::format("    {}: {}", table.events[event], actions_text(row, protocol));
    if (row.next != state) text += " -> " + table.states[row.next].name;
    if (table.inherits(row.source_line)) text += fmt::format("  ({})", file_of(table.files, row.source_line).name);
    text += fmt::format("\n        {}\n", why_of(table, row));
  }
  return text;
}

std::string describe_controller(const Protocol& protocol, const ControllerTable& table, std::size_t columns) {
  std::string text = fmt::format("\n{}\n\nEvents\n{}", table.name, names_and_meanings(table.base_events));
  text +=
      "\nStates (columns) and events (rows): the next state; '=' the same after some action, '-' nothing happens, '.' "
      "impossible\n\n";
  text += grid(table, columns) + "\nRows, by state\n";
  for (std::size_t state = 0; state < table.states.size(); ++state)
    text += rows_of(protocol, table, static_cast<StateId>(state));
  return text;
}

}  // namespace

std::string describe_protocol(const Protocol& protocol, std::size_t columns) {
  std::string text = fmt::format("{}: {}\n\n", protocol.name, protocol.title);
  if (protocol.kind == ProtocolKind::bus) text += fmt::format("bus: {}\n", protocol.bus == BusKind::split ? "split" : "atomic");
  if (protocol.kind == ProtocolKind::node)
    text += fmt::format("bus: {}\ndirectory: {}\n", protocol.bus_partner, protocol.directory_partner);
  if (protocol.kind == ProtocolKind::group) text += fmt::format("directory: {}\n", protocol.directory_partner);
  for (std::size_t i = 0; i < kControllers; ++i) {
    const std::vector<FileLines>& files = protocol.table(static_cast<Controller>(i)).files;
    if (files.size() < 2) continue;
    text += fmt::format("extends: {}; rows that come from there bear the name\n", files[1].name);
    break;
  }
  text += fmt::format("invariants:{}{}\n", protocol.invariant_swmr ? " swmr" : "",
                      protocol.invariant_data_value ? " data_value" : "");
  text += "\nMessages\n" + messages_and_meanings(protocol.messages);
  for (std::size_t i = 0; i < kControllers; ++i) {
    const ControllerTable& table = protocol.table(static_cast<Controller>(i));
    if (!table.states.empty()) text += describe_controller(protocol, table, columns);
  }
  return text;
}

}  // namespace linebounce
