#include "sim/terminal/what_if_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace linebounce::sim {
namespace {

constexpr std::size_t kLinesShown = 3;
constexpr std::size_t kLatencyWidth = 18;  // "1234 → 1234"
constexpr std::size_t kChangeWidth = 19;   // "-12.3 ± 12.3 %  *"

// Green: a gain that is more than chance, red: a loss. `good`: which sign is a gain.
std::string change_text(const PairedChange& change, int good, const Painter& paint) {
  const std::string text =
      fmt::format("{:+.1f} ± {:.1f} %{}", change.change_pct, change.ci95_pct, change.significant() ? " *" : "  ");
  const std::string padded = pad_left(text, kChangeWidth);
  if (!change.significant()) return padded;
  return paint(change.change_pct * good > 0 ? Colour::green : Colour::red, padded);
}

// Only those whose change is more than chance.
std::string subsystems_text(const Effect& effect) {
  std::string text;
  for (const SubsystemChange& subsystem : effect.subsystems) {
    const PairedChange& change = subsystem.latency;
    if (!change.significant()) continue;
    text +=
        fmt::format("{}{} {:+.1f} ± {:.1f} %", text.empty() ? "" : ", ", subsystem.name, change.change_pct, change.ci95_pct);
  }
  return text;
}

std::string lines_text(const Effect& effect) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kLinesShown, effect.lines.size()); ++i) {
    const LineChange& line = effect.lines[i];
    text += fmt::format("{}{}.{} {} → {}", text.empty() ? "" : ", ", line.structure, line.line, readable(line.base_us),
                        readable(line.changed_us));
  }
  return text;
}

}  // namespace

std::string what_if_table(const std::vector<Effect>& effects, const Painter& paint) {
  constexpr std::size_t kIndent = 6;
  std::size_t names = 10;
  for (const Effect& effect : effects) names = std::max(names, width_of(effect.experiment));
  names = std::min(names, paint.columns() - kIndent - kLatencyWidth - 2 * kChangeWidth);
  std::string out = paint(Colour::dim, fmt::format("{:>4}  {}{}{}{}", "", pad_right("experiment", names),
                                                   pad_left("µs/operation", kLatencyWidth), pad_left("latency  ", kChangeWidth),
                                                   pad_left("throughput  ", kChangeWidth))) +
                    "\n" + rule(paint, kIndent + names + kLatencyWidth + 2 * kChangeWidth - 2);
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const Effect& effect = effects[i];
    const std::string latency = readable(effect.latency.base) + " → " + readable(effect.latency.changed);
    out += fmt::format("{:>4}  {}{}{}{}\n", i + 1, paint(Colour::bold, pad_right(shortened(effect.experiment, names), names)),
                       pad_left(latency, kLatencyWidth), change_text(effect.latency, -1, paint),
                       change_text(effect.throughput, 1, paint));
    out += std::string(kIndent, ' ') + wrapped_from(effect.title, kIndent, Colour::none, paint);
    const std::string subsystems = subsystems_text(effect);
    if (!subsystems.empty()) out += std::string(kIndent, ' ') + wrapped_from(subsystems, kIndent, Colour::none, paint);
    out += std::string(kIndent, ' ') + wrapped_from(lines_text(effect), kIndent, Colour::dim, paint);
  }
  const std::string note =
      "±: the 95 % interval, of differences paired over seeds; *: it does not hold 0. Below each: the subsystems whose latency "
      "has "
      "changed by more than chance, and the lines that changed most, STRUCTURE.LINE, µs of latency for an operation";
  return out + std::string(kIndent, ' ') + wrapped_from(note, kIndent, Colour::dim, paint);
}

}  // namespace linebounce::sim
