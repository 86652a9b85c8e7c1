#include "models/coherence/transition_log.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/failure.hpp"

namespace linebounce {

TransitionLog::TransitionLog(const std::array<const ControllerTable*, kControllers>& tables, Tick begin, Tick end,
                             bool keeps_history)
    : tables_(tables),
      begin_(begin),
      length_(static_cast<std::uint64_t>(end - begin)),
      observed_(keeps_history),
      recent_(keeps_history ? kRemembered : 0) {
  for (std::size_t i = 0; i < kControllers; ++i) {
    events_[i] = tables[i]->events.size();
    counts_[i].assign(tables[i]->states.size() * events_[i], 0);
  }
}

void TransitionLog::observe(const Entry& entry) {
  if (!recent_.empty()) recent_[recorded_++ % kRemembered] = entry;
  if (listener_ != nullptr)
    listener_->row_ran(entry.time, entry.controller, entry.agent, entry.line, entry.state, entry.event, entry.next);
}

StageId TransitionLog::tell_stage(const Stage& stage) const {
  if (stage.to == stage.from && stage.held_until <= stage.held_from) return stage.after;
  return listener_->stage(stage);
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
    const std::string who = fmt::format("{} {}", rows.name, entry.agent);
    text = text.insert(0, fmt::format("  tick {} {}: {} {} -> {}\n", entry.time, who, rows.states[entry.state].name,
                                      rows.events[entry.event], rows.states[entry.next].name));
  }
  return text;
}

void TransitionLog::fail(const std::string& what, LineAddr line, Address address) const {
  const bool has_history = !recent_.empty();
  throw LineFailure(has_history ? fmt::format("{}\nline 0x{:x}, its history:\n{}", what, address, history(line)) : what,
                    has_history);
}

}  // namespace linebounce
