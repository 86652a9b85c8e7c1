// The model contradicts itself: a stale value, an impossible transition, a broken invariant, a deadlock. The run stops at once.
#pragma once

#include <exception>
#include <stdexcept>
#include <string>

namespace linebounce {

class ModelFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A failure on one line, for which the rows that ran on the line are worth showing. A run remembers them only with
// EngineSpec::line_history; without it, running the same configuration again with it tells more.
class LineFailure : public ModelFailure {
 public:
  LineFailure(const std::string& what, bool has_history) : ModelFailure(what), has_history_(has_history) {}
  [[nodiscard]] bool has_history() const { return has_history_; }

 private:
  bool has_history_;
};

// Captures an exception thrown inside a SystemC process, which would otherwise be rethrown as sc_report.
class FailureSink {
 public:
  virtual ~FailureSink() = default;
  virtual void failed(std::exception_ptr failure) = 0;
};

}  // namespace linebounce
