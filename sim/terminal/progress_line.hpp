// How far a run has come: one line on the standard error, rewritten in place, and only where that is a terminal.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "sim/plan/run_plan.hpp"

namespace linebounce::sim {

// An estimate that does not jump: points take unequal times, so the end that they foretell is a mean of the last seconds'.
class TimeLeft {
 public:
  // Seconds, in steps that grow with them; none: too early, or done.
  std::optional<double> update(const Progress& progress);

 private:
  std::optional<double> end_s_;  // since the start
  double updated_s_ = 0;
};

class ProgressLine {
 public:
  // `label` precedes the line: what is running. Shows nothing if `wanted` is false or the standard error is no terminal.
  ProgressLine(std::string label, bool wanted);
  ~ProgressLine();  // leaves the line empty
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Rewrites the line, if it was not just now; above it stays what is known so far.
  void show(const Progress& progress);

  // Whether anybody sees it.
  [[nodiscard]] bool is_active() const { return active_; }

 private:
  std::string label_;
  bool active_;
  std::chrono::steady_clock::time_point last_{};
  TimeLeft time_left_;
};

// "3 of 12 points  ━━━━━━━━────────────  42 %  1 min 20 s left"; without a time if `left_s` is none.
std::string progress_text(const Progress& progress, std::optional<double> left_s);

}  // namespace linebounce::sim
