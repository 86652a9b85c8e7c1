#include "sim/commands/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/commands/terminal.hpp"

namespace linebounce {
namespace {

constexpr std::size_t kIndent = 2;
constexpr const char* kGap = " ";
constexpr std::size_t kEllipsisWidth = 7;

// Sections of centred lines, divided by rules.
using Box = std::vector<std::vector<std::string>>;

std::size_t inner_width(const Box& box) {
  std::size_t width = 0;
  for (const auto& section : box) {
    for (const std::string& line : section) width = std::max(width, width_of(line));
  }
  return width + 2;
}

// A border with `mark` in its middle.
std::string border(const char* left, const char* line, const char* mark, const char* right, std::size_t inner) {
  return left + repeated(line, inner / 2) + mark + repeated(line, inner - inner / 2 - 1) + right;
}

std::vector<std::string> drawn(const Box& box, std::size_t inner, const char* top_mark, const char* bottom_mark) {
  std::vector<std::string> lines = {border("┌", "─", top_mark, "┐", inner)};
  for (std::size_t i = 0; i < box.size(); ++i) {
    if (i > 0) lines.push_back("├" + repeated("─", inner) + "┤");
    for (const std::string& line : box[i]) lines.push_back("│" + centred(line, inner) + "│");
  }
  lines.push_back(border("└", "─", bottom_mark, "┘", inner));
  return lines;
}

Box core_box(const MachineSpec& machine, int core) {
  const int threads = std::max(1, machine.cpu.threads_per_core);
  std::string name = fmt::format("CPU {}", core * threads);
  for (int thread = 1; thread < threads; ++thread) name += fmt::format(", {}", core * threads + thread);
  Box box = {{name, frequency_text(machine.cpu.clock)}};
  for (const CacheSpec& cache : machine.caches) {
    box.push_back({cache.name + "  " + size_text(cache.size_kib),
                   fmt::format("{}-way, {} cycles", cache.ways, cache.hit_latency_cycles)});
  }
  return box;
}

Box memory_box(const MemorySpec& memory) {
  Box box = {{"memory", readable(memory.latency_ns) + " ns"}};
  std::string banks = fmt::format("{} bank{}", memory.banks, memory.banks == 1 ? "" : "s");
  if (memory.bank_busy_ns > 0) banks += fmt::format(", busy {:g} ns each", memory.bank_busy_ns);
  box.front().push_back(banks);
  if (memory.bandwidth_mb_per_s > 0) box.front().push_back(fmt::format("{:g} MB/s", memory.bandwidth_mb_per_s));
  return box;
}

std::string bus_text(const BusSpec& bus) {
  const double mhz = static_cast<double>(bus.clock.numerator_mhz) / static_cast<double>(bus.clock.denominator);
  return fmt::format("bus  {}  {} x {} bytes = {:.0f} MB/s", bus.protocol, frequency_text(bus.clock), bus.width_bytes,
                     mhz * bus.width_bytes);
}

// The cores to draw: all, or the first ones, a gap (-1) and the last.
std::vector<int> cores_to_draw(int cores, std::size_t box_width) {
  constexpr std::size_t kRoom = kTerminalWidth - kIndent;
  std::size_t count = (kRoom + 1) / (box_width + 1);
  const bool all = static_cast<std::size_t>(cores) <= count;
  if (!all) count = (kRoom - kEllipsisWidth - box_width) / (box_width + 1);
  std::vector<int> chosen;
  for (int core = 0; core < (all ? cores : static_cast<int>(count)); ++core) chosen.push_back(core);
  if (!all) chosen.insert(chosen.end(), {-1, cores - 1});
  return chosen;
}

// Boxes side by side, and in which columns they end in a line downwards.
struct Row {
  std::vector<std::string> lines;
  std::vector<std::size_t> feet;
};

Row core_row(const MachineSpec& machine) {
  const int cores = machine.cpus / std::max(1, machine.cpu.threads_per_core);
  const std::size_t inner = inner_width(core_box(machine, std::max(0, cores - 1)));
  Row row;
  std::size_t column = 0;
  for (const int core : cores_to_draw(cores, inner + 2)) {
    if (core < 0) {
      for (std::size_t i = 0; i < row.lines.size(); ++i) {
        row.lines[i] += centred(i == row.lines.size() / 2 ? "..." : "", kEllipsisWidth);
      }
      column += kEllipsisWidth;
      continue;
    }
    const std::vector<std::string> box = drawn(core_box(machine, core), inner, "─", "┬");
    row.lines.resize(box.size());
    const bool first = column == 0 || row.lines.front().ends_with(std::string(kEllipsisWidth, ' '));
    for (std::size_t i = 0; i < box.size(); ++i) row.lines[i] += (first ? "" : kGap) + box[i];
    column += first ? 0 : 1;
    row.feet.push_back(column + 1 + inner / 2);
    column += inner + 2;
  }
  return row;
}

std::string bus_top(const Row& cores, std::size_t inner) {
  std::string line;
  for (std::size_t column = 1; column <= inner; ++column) {
    const bool foot = std::find(cores.feet.begin(), cores.feet.end(), column) != cores.feet.end();
    line += foot ? "╧" : "═";
  }
  return "╔" + line + "╗";
}

}  // namespace

std::string frequency_text(const Frequency& frequency) {
  const double mhz = static_cast<double>(frequency.numerator_mhz) / static_cast<double>(frequency.denominator);
  return fmt::format("{:.4g} MHz", mhz);
}

std::string size_text(int kib) {
  return kib >= 1024 && kib % 1024 == 0 ? fmt::format("{} MiB", kib / 1024) : fmt::format("{} KiB", kib);
}

std::string draw_topology(const MachineSpec& machine) {
  Row cores = core_row(machine);
  const std::string bus = bus_text(machine.bus);
  const std::size_t inner = std::max(width_of(cores.lines.front()) - 2, width_of(bus) + 2);
  std::vector<std::string> lines = cores.lines;
  lines.push_back(bus_top(cores, inner));
  lines.push_back("║" + centred(bus, inner) + "║");
  lines.push_back(border("╚", "═", "╤", "╝", inner));
  const Box memory = memory_box(machine.memory);
  const std::size_t memory_inner = inner_width(memory);
  const std::size_t foot = 1 + inner / 2;
  const std::size_t shift = foot > 1 + memory_inner / 2 ? foot - 1 - memory_inner / 2 : 0;
  for (const std::string& line : drawn(memory, memory_inner, "┴", "─")) lines.push_back(std::string(shift, ' ') + line);
  std::string out;
  for (const std::string& line : lines) out += std::string(kIndent, ' ') + line + "\n";
  return out;
}

}  // namespace linebounce
