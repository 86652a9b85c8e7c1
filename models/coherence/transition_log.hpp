// Counts how often each row runs, for transitions.csv, and reports each run to a StepListener. A plain hit runs no row; the
// simulator counts hits by cache level instead.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/coherence/protocol.hpp"
#include "models/coherence/step_listener.hpp"
#include "models/ordinal.hpp"
#include "models/units.hpp"

namespace linebounce {

class TransitionLog {
 public:
  // Counts rows that run at times in [begin, end). If `keeps_history`, also remembers the latest rows, which fail() prints.
  TransitionLog(const std::array<const ControllerTable*, kControllers>& tables, Tick begin, Tick end, bool keeps_history);

  void record(Tick time, Controller controller, int agent, LineAddr line, StateId state, EventId event, StateId next) {
    if (observed_) [[unlikely]]
      observe({time, line, agent, controller, state, event, next});
    if (static_cast<std::uint64_t>(time - begin_) < length_)
      ++counts_[ordinal(controller)][state * events_[ordinal(controller)] + event];
  }

  // Null detaches the listener.
  void set_listener(StepListener* listener) {
    listener_ = listener;
    observed_ = listener != nullptr || !recent_.empty();
  }
  [[nodiscard]] StepListener* listener() const { return listener_; }
  // Reports the stage, unless it takes no time and holds nothing. Returns the number of the transaction's latest stage.
  // REQUIRES: there is a listener.
  [[gnu::cold]] StageId tell_stage(const Stage& stage) const;

  [[nodiscard]] std::int64_t count(Controller controller, StateId state, EventId event) const {
    return counts_[ordinal(controller)][state * table(controller).events.size() + event];
  }
  [[nodiscard]] const ControllerTable& table(Controller controller) const { return *tables_[ordinal(controller)]; }

  // Throws LineFailure with the message `what`. If the log keeps a history, the message also lists the line's latest rows, the
  // oldest first, each as "tick 1234 cache 2: S Other_GetM -> I". `address` is the address of the line's first byte.
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
  [[gnu::cold]] void observe(const Entry& entry);
  [[nodiscard]] std::string history(LineAddr line) const;

  static constexpr std::size_t kRemembered = 4096;  // a power of two, so that the remainder is cheap

  std::array<const ControllerTable*, kControllers> tables_;
  std::array<std::size_t, kControllers> events_{};  // the number of events in each table
  Tick begin_;
  std::uint64_t length_;
  std::array<std::vector<std::int64_t>, kControllers> counts_;
  bool observed_;              // true if there is a listener or a history
  std::vector<Entry> recent_;  // a ring buffer of the latest rows; empty if no history is kept
  std::size_t recorded_ = 0;
  StepListener* listener_ = nullptr;
};

}  // namespace linebounce
