#include "models/coherence/transition_log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace linebounce {

TransitionLog::TransitionLog(const Protocol& protocol, Tick begin, Tick end)
    : protocol_(&protocol), begin_(begin), end_(end), recent_(kRemembered) {
  for (const Controller controller : {Controller::cache, Controller::memory}) {
    counts_[static_cast<std::size_t>(controller)].assign(table(controller).states.size() * table(controller).events.size(), 0);
  }
}

std::string TransitionLog::history(LineAddr line) const {
  constexpr int kShown = 24;
  std::string text;
  int shown = 0;
  for (std::size_t back = 1; back <= std::min(recorded_, kRemembered) && shown < kShown; ++back) {
    const Entry& entry = recent_[(recorded_ - back) % kRemembered];
    if (entry.line != line) continue;
    ++shown;
    const ControllerTable& rows = table(entry.controller);
    const std::string who = entry.controller == Controller::cache ? fmt::format("cache {}", entry.agent) : "memory";
    text = text.insert(0, fmt::format("  tick {} {}: {} {} -> {}\n", entry.time, who, rows.states[entry.state].name,
                                      rows.events[entry.event], rows.states[entry.next].name));
  }
  return text;
}

}  // namespace linebounce
