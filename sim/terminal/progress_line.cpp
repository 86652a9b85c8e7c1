#include "sim/terminal/progress_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <utility>

#include "sim/terminal/terminal.hpp"
#include "sim/terminal/visible_output.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kBarWidth = 24;
constexpr auto kRewriteEvery = std::chrono::milliseconds(100);
constexpr double kTooEarly = 0.01;  // of the work: below, an estimate of the time left would be a guess

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
  const auto now = std::chrono::steady_clock::now();
  if (!active_ || now - last_ < kRewriteEvery) return;
  last_ = now;
  std::cerr << kClearLine << shortened(label_ + "  " + progress_text(progress), stderr_width() - 1) << std::flush;
}

std::string progress_text(const Progress& progress) {
  const double share = std::clamp(progress.share, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(share * kBarWidth);
  std::string text;
  if (progress.points > 1) text = fmt::format("{} of {} points  ", progress.points_done, progress.points);
  text += repeated("━", filled) + repeated("─", kBarWidth - filled) + fmt::format("  {:.0f} %", share * 100);
  if (share >= kTooEarly && share < 1) text += "  " + readable_duration(progress.elapsed_s * (1 - share) / share) + " left";
  return text;
}

}  // namespace linebounce::sim
