#include "sim/terminal/progress_line.hpp"

#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

#include "sim/terminal/terminal.hpp"
#include "sim/terminal/visible_output.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr auto kRewriteEvery = std::chrono::milliseconds(100);
constexpr double kTooEarly = 0.01;  // share of the work that must be done before the time left is estimated

// Whole seconds up to 20, then steps of 5, 10 and 60: finer figures would change too fast to read.
double in_steps(double seconds) {
  const double step = seconds < 20 ? 1 : seconds < 120 ? 5 : seconds < 1200 ? 10 : 60;
  return std::max(1.0, std::ceil(seconds / step) * step);
}

std::size_t stderr_width() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

}  // namespace

ProgressLine::ProgressLine(std::string label, bool wanted)
    : label_(std::move(label)), active_(wanted && ::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  if (active_) std::cerr << kClearLine << std::flush;
}

void ProgressLine::show(const Progress& progress) {
  if (!active_) return;
  if (!progress.answer.empty()) {
    const std::string text = fmt::format("So far: {}", progress.answer);
    std::cerr << kClearLine << fmt::format("{}\n", fmt::join(wrapped(text, stderr_width() - 1), "\n"));
  }
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kRewriteEvery) return;
  last_ = now;
  std::cerr << kClearLine << shortened(label_ + "  " + progress_text(progress, time_left_.update(progress)), stderr_width() - 1)
            << std::flush;
}

std::optional<double> TimeLeft::update(const Progress& progress) {
  const double share = std::clamp(progress.share, 0.0, 1.0);
  if (share < kTooEarly || share >= 1) return std::nullopt;
  const double now_s = progress.elapsed_s;
  const double foretold_s = now_s / share;
  // Averages the estimated end exponentially over a fifth of the remaining time, at least one second.
  const double memory_s = std::max(1.0, (foretold_s - now_s) / 5);
  const double passed_s = now_s - updated_s_;
  const double weight = end_s_ ? passed_s / (passed_s + memory_s) : 1;
  end_s_ = end_s_.value_or(0) + weight * (foretold_s - end_s_.value_or(0));
  updated_s_ = now_s;
  return in_steps(*end_s_ - now_s);
}

void print_foretold(const std::string& subject, double seconds) {
  constexpr double kMinute = 60;
  const double step = seconds < 2 * kMinute ? 5 : seconds < 5 * kMinute ? kMinute / 2 : kMinute;
  std::string duration = readable_duration(std::max(1.0, std::round(seconds / step)) * step);
  if (duration.ends_with(" 00 s")) duration.resize(duration.size() - 5);
  std::cerr << fmt::format("{}, about {}\n", subject, duration) << std::flush;
}

std::function<void(double)> share_of_one_run(ProgressLine& line) {
  return [&line, begin = std::chrono::steady_clock::now()](double share) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    line.show({.points = 1, .points_done = 0, .share = share, .elapsed_s = elapsed.count()});
  };
}

std::string progress_text(const Progress& progress, std::optional<double> left_s) {
  const double share = std::clamp(progress.share, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(share * kBarWidth);
  std::string text;
  if (progress.points > 1) text = fmt::format("{} of {} points  ", progress.points_done, progress.points);
  text += repeated("━", filled) + repeated("─", kBarWidth - filled) + fmt::format("  {:.0f} %", share * 100);
  if (left_s) text += "  " + readable_duration(*left_s) + " left";
  return text;
}

}  // namespace linebounce::sim
