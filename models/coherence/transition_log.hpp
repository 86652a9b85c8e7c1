// Where every row that runs is noted: counted for transitions.csv, and kept for a while so that a failure can print a line's
// history. Rows that are mere hits are not rows that ran: hits are counted by level instead.
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
  // Counts rows that run at times in [begin, end).
  TransitionLog(const std::array<const ControllerTable*, kControllers>& tables, Tick begin, Tick end);

  void record(Tick time, Controller controller, int agent, LineAddr line, StateId state, EventId event, StateId next) {
    if (listener_ != nullptr) [[unlikely]]
      tell({time, line, agent, controller, state, event, next});
    if (time >= begin_ && time < end_)
      ++counts_[static_cast<std::size_t>(controller)][state * events_[static_cast<std::size_t>(controller)] + event];
  }

  // Null: nobody listens.
  void set_listener(StepListener* listener) { listener_ = listener; }
  [[nodiscard]] StepListener* listener() const { return listener_; }

  [[nodiscard]] std::int64_t count(Controller controller, StateId state, EventId event) const {
    return counts_[static_cast<std::size_t>(controller)][state * table(controller).events.size() + event];
  }
  [[nodiscard]] const ControllerTable& table(Controller controller) const {
    return *tables_[static_cast<std::size_t>(controller)];
  }

  // The latest rows of one line, oldest first, a line of text each: "tick 1234 cache 2: S Other_GetM -> I".
  [[nodiscard]] std::string history(LineAddr line) const;

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
  void tell(const Entry& entry) const;  // the listener; apart, so that record() stays small

  static constexpr std::size_t kRemembered = 4096;  // a power of two

  std::array<const ControllerTable*, kControllers> tables_;
  std::array<std::size_t, kControllers> events_{};  // how many each table has
  Tick begin_;
  Tick end_;
  std::array<std::vector<std::int64_t>, kControllers> counts_;
  std::vector<Entry> recent_;
  std::size_t recorded_ = 0;
  StepListener* listener_ = nullptr;
};

}  // namespace linebounce
