// The progress of a run: one line on standard error that is rewritten in place. Only shown on a terminal.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "sim/plan/run_plan.hpp"

namespace linebounce::sim {

// A smoothed estimate of the time left. Points take unequal times, so each new estimate is averaged with the earlier ones.
class TimeLeft {
 public:
  // The time left in seconds, rounded to steps that grow with it; none if it is too early for an estimate, or the run is
  // done.
  std::optional<double> update(const Progress& progress);

 private:
  std::optional<double> end_s_;  // since the start
  double updated_s_ = 0;
};

class ProgressLine {
 public:
  // `label` begins the line and says what is running. Shows nothing if `wanted` is false or standard error is not a terminal.
  ProgressLine(std::string label, bool wanted);
  ~ProgressLine();  // leaves the line empty
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Rewrites the line, unless it was rewritten less than 0.1 s ago. If `progress` has an answer so far, prints it above the
  // line.
  void show(const Progress& progress);

  // Whether the line is shown.
  [[nodiscard]] bool is_active() const { return active_; }

 private:
  std::string label_;
  bool active_;
  std::chrono::steady_clock::time_point last_{};
  TimeLeft time_left_;
};

// Prints "SUBJECT, about 7 min" to standard error.
void print_foretold(const std::string& subject, double seconds);

// Returns a function to call with the done share, 0 to 1, of a run that begins now. REQUIRES: the line outlives the function.
std::function<void(double)> share_of_one_run(ProgressLine& line);

// "3 of 12 points  ━━━━━━━━────────────  42 %  1 min 20 s left"; without a time if `left_s` is none.
std::string progress_text(const Progress& progress, std::optional<double> left_s);

}  // namespace linebounce::sim
