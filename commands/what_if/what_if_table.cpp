#include "commands/what_if/what_if_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/answer/quantity.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kLinesShown = 3;
constexpr std::size_t kLatencyWidth = 18;  // "1234 → 1234"
constexpr std::size_t kChangeWidth = 19;   // "-12.3 ± 12.3 %  *"

// "-12.3 ± 1.2 %"; without the interval if the change is the same with all seeds.
std::string paired_text(const PairedChange& change) {
  if (change.ci95_pct == 0) return fmt::format("{:+.1f} %", change.change_pct);
  return fmt::format("{:+.1f} ± {:.1f} %", change.change_pct, change.ci95_pct);
}

// Colours a change that is beyond chance: green for a gain, red for a loss. `good`: the sign of a gain, 1 or -1.
Cell change_cell(const PairedChange& change, int good) {
  const std::string text = paired_text(change) + (change.significant() ? " *" : "  ");
  if (!change.significant()) return text;
  return {text, change.change_pct * good > 0 ? Colour::green : Colour::red};
}

// Lists the subsystems whose latency changes beyond chance.
std::string subsystems_text(const Effect& effect) {
  std::string text;
  for (const SubsystemChange& subsystem : effect.subsystems) {
    const PairedChange& change = subsystem.latency;
    if (!change.significant()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", subsystem.name, paired_text(change));
  }
  return text;
}

std::string lines_text(const Effect& effect) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kLinesShown, effect.lines.size()); ++i) {
    const LineChange& line = effect.lines[i];
    text += fmt::format("{}{}.{} {} → {}", text.empty() ? "" : ", ", line.structure, line.line, figure(line.base_us),
                        figure(line.changed_us));
  }
  return text;
}

}  // namespace

std::string what_if_table(const std::vector<Effect>& effects, const Painter& paint) {
  constexpr std::size_t kIndent = 6;
  const auto below = [&paint](const std::string& text, Colour colour) { return paragraph(text, kIndent, colour, paint); };
  Table table({figures("", 2), names("experiment", 0, 2), dispensable(figures("µs/operation", kLatencyWidth), 1),
               figures("latency  ", kChangeWidth), figures("throughput  ", kChangeWidth)},
              paint);
  table.add_rule();
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const Effect& effect = effects[i];
    table.add({std::to_string(i + 1),
               {effect.experiment, Colour::bold},
               figure(effect.latency.base) + " → " + figure(effect.latency.changed),
               change_cell(effect.latency, -1),
               change_cell(effect.throughput, 1)});
    table.add_text(below(effect.title, Colour::none));
    const std::string subsystems = subsystems_text(effect);
    if (!subsystems.empty()) table.add_text(below(subsystems, Colour::none));
    table.add_text(below(lines_text(effect), Colour::dim));
  }
  const std::string note =
      "±: the 95 % interval, of differences paired over seeds; *: it does not hold 0. Below each: the subsystems whose latency "
      "has "
      "changed by more than chance, and the lines that changed most, STRUCTURE.LINE, µs of latency for an operation";
  std::set<std::string> assumptions;
  for (const Effect& effect : effects) assumptions.insert(effect.assumptions.begin(), effect.assumptions.end());
  return table.text() + below(note, Colour::dim) + assumptions_text({assumptions.begin(), assumptions.end()}, paint);
}

}  // namespace linebounce::sim
