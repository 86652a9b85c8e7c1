#include "models/coherence/transition_log.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace linebounce {

TransitionLog::TransitionLog(const Protocol& protocol, Tick begin, Tick end)
    : protocol_(&protocol), begin_(begin), end_(end), recent_(kRemembered) {
  for (const Controller controller : {kCache, kMemory}) {
    counts_[controller].assign(table(controller).states.size() * table(controller).events.size(), 0);
  }
}

std::string TransitionLog::history(LineAddr line) const {
  std::string text;
  for (std::size_t i = recorded_ - std::min(recorded_, kRemembered); i < recorded_; ++i) {
    const Entry& entry = recent_[i % kRemembered];
    if (entry.line != line) continue;
    const ControllerTable& rows = table(entry.controller);
    const std::string who = entry.controller == kCache ? fmt::format("cache {}", entry.agent) : "memory";
    text += fmt::format("  tick {} {}: {} {} -> {}\n", entry.time, who, rows.states[entry.state].name, rows.events[entry.event],
                        rows.states[entry.next].name);
  }
  return text;
}

}  // namespace linebounce
