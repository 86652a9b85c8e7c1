// Counts every row that runs, for transitions.csv, and passes it on to a StepListener. A mere hit runs no row: hits are counted
// by level instead.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/coherence/protocol.hpp"
#include "models/coherence/step_listener.hpp"
#include "models/units.hpp"

namespace linebounce {

class TransitionLog {
 public:
  // Counts rows that run at times in [begin, end). `keeps_history`: also remembers the latest rows, for fail().
  TransitionLog(const std::array<const ControllerTable*, kControllers>& tables, Tick begin, Tick end, bool keeps_history);

  void record(Tick time, Controller controller, int agent, LineAddr line, StateId state, EventId event, StateId next) {
    if (observed_) [[unlikely]]
      observe({time, line, agent, controller, state, event, next});
    if (time >= begin_ && time < end_)
      ++counts_[static_cast<std::size_t>(controller)][state * events_[static_cast<std::size_t>(controller)] + event];
  }

  // Null detaches the listener.
  void set_listener(StepListener* listener) {
    listener_ = listener;
    observed_ = listener != nullptr || !recent_.empty();
  }
  [[nodiscard]] StepListener* listener() const { return listener_; }

  [[nodiscard]] std::int64_t count(Controller controller, StateId state, EventId event) const {
    return counts_[static_cast<std::size_t>(controller)][state * table(controller).events.size() + event];
  }
  [[nodiscard]] const ControllerTable& table(Controller controller) const {
    return *tables_[static_cast<std::size_t>(controller)];
  }

  // Throws LineFailure: what happened and, where they are remembered, the latest rows of the line, oldest first, each as
  // "tick 1234 cache 2: S Other_GetM -> I". `address` is the line's first byte.
  [[noreturn]] void fail(const std::string& what, LineAddr line, Address address) const;

 private:
  struct Entry {
    Tick time;
    LineAddr line;
    int agent;
    Controller controller;
    StateId state;
    EventId event;
    StateId next;
  };
  void observe(const Entry& entry);  // out of line, so that record() stays small
  [[nodiscard]] std::string history(LineAddr line) const;

  static constexpr std::size_t kRemembered = 4096;  // a power of two

  std::array<const ControllerTable*, kControllers> tables_;
  std::array<std::size_t, kControllers> events_{};  // how many each table has
  Tick begin_;
  Tick end_;
  std::array<std::vector<std::int64_t>, kControllers> counts_;
  bool observed_;              // by a listener or the history
  std::vector<Entry> recent_;  // a ring; empty without a history
  std::size_t recorded_ = 0;
  StepListener* listener_ = nullptr;
};

}  // namespace linebounce
