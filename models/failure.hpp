// Thrown when the model contradicts itself: a stale value, an impossible transition, a broken invariant, a deadlock.
#pragma once

#include <stdexcept>
#include <string>

namespace linebounce {

class ModelFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A failure on one cache line. The protocol rows that were last executed for the line help to explain it, but a run only
// records them if EngineSpec::line_history is set. If has_history() is false, repeat the run with line_history set.
class LineFailure : public ModelFailure {
 public:
  LineFailure(const std::string& what, bool has_history) : ModelFailure(what), has_history_(has_history) {}
  [[nodiscard]] bool has_history() const { return has_history_; }

 private:
  bool has_history_;
};

}  // namespace linebounce
