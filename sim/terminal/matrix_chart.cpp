// The core-to-core matrix for the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/terminal/charts.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kMostFigures = 16;  // the most CPUs for which figures fit side by side
constexpr std::size_t kUsualCellWidth = 5;
constexpr std::size_t kCpuLabelWidth = 8;
constexpr std::array kShades = {"·", "░", "▒", "▓", "█"};
constexpr std::array kCellColours = {Colour::cyan, Colour::green, Colour::yellow, Colour::magenta, Colour::red};

struct Mean {
  double sum = 0;
  int count = 0;
  void add(double value) {
    sum += value;
    ++count;
  }
  [[nodiscard]] double value() const { return sum / count; }
};

class MatrixChart {
 public:
  MatrixChart(const std::vector<MatrixRow>& rows, const std::vector<int>& node_of_cpu, const Painter& paint)
      : rows_(rows), node_of_cpu_(node_of_cpu), paint_(paint), order_(node_of_cpu.size()) {
    std::iota(order_.begin(), order_.end(), 0);
    std::ranges::stable_sort(order_, [&](int a, int b) { return node(a) < node(b); });
    for (const MatrixRow& row : rows) {
      if (std::ranges::find(states_, row.state) == states_.end()) states_.push_back(row.state);
      means_[row.state][{row.from_cpu, row.to_cpu}].add(row.latency_ns);
    }
    for (const auto& [state, cells] : means_) {
      for (const auto& [pair, mean] : cells) {
        lowest_ = lowest_ == 0 ? mean.value() : std::min(lowest_, mean.value());
        highest_ = std::max(highest_, mean.value());
      }
    }
    const std::size_t digits = fmt::format("{}", std::lround(highest_)).size();
    const std::size_t figure = fits(kUsualCellWidth) ? std::max(kUsualCellWidth, digits + 1) : digits + 1;
    as_figures_ = node_of_cpu.size() <= kMostFigures && fits(figure);
    cell_width_ = as_figures_ ? figure : fits(2) ? 2 : 1;
  }

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const std::string& state : states_) out += block(state) + "\n";
    if (!as_figures_) out += legend() + "\n";
    return out + by_home();
  }

 private:
  [[nodiscard]] int node(std::int64_t cpu) const { return node_of_cpu_[cpu]; }

  [[nodiscard]] bool fits(std::size_t cell_width) const {
    const std::size_t gaps = *std::ranges::max_element(node_of_cpu_);
    return kCpuLabelWidth + order_.size() * cell_width + gaps <= paint_.columns();
  }

  // A level's shade, repeated to the width of a cell.
  [[nodiscard]] std::string shade(std::size_t level) const { return repeated(kShades.at(level), cell_width_); }

  // A space before the first CPU of each node but the first, which makes the nodes' blocks visible.
  [[nodiscard]] std::string gap(std::size_t i) const { return i > 0 && node(order_[i - 1]) != node(order_[i]) ? " " : ""; }

  [[nodiscard]] std::size_t level(double ns) const {
    const double span = highest_ - lowest_;
    if (span <= 0) return 0;
    const auto step = static_cast<std::size_t>((ns - lowest_) / span * static_cast<double>(kShades.size()));
    return std::min(step, kShades.size() - 1);
  }

  [[nodiscard]] std::string block(const std::string& state) const {
    const std::string title = fmt::format("A line that is {} in the giver, ns", state);
    std::string out = "  " + paint_(Colour::bold, title) + paint_(Colour::dim, "   giver down, receiver across") + "\n";
    out += head();
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (!gap(i).empty()) out += "\n";
      std::string line = pad_left(fmt::format("cpu {}", order_[i]), kCpuLabelWidth);
      for (std::size_t j = 0; j < order_.size(); ++j) line += gap(j) + cell(state, order_[i], order_[j]);
      out += without_trailing_spaces(line) + "\n";
    }
    return out;
  }

  [[nodiscard]] std::string head() const {
    std::string line(kCpuLabelWidth, ' ');
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::string number = std::to_string(order_[i]);
      line += gap(i) + pad_left(number.size() <= cell_width_ ? number : "", cell_width_);
    }
    return paint_(Colour::dim, line) + "\n";
  }

  [[nodiscard]] std::string cell(const std::string& state, int from, int to) const {
    const auto& cells = means_.at(state);
    const auto found = cells.find({from, to});
    if (found == cells.end()) return std::string(cell_width_, ' ');
    const double ns = found->second.value();
    const std::string text = as_figures_ ? pad_left(fmt::format("{}", std::lround(ns)), cell_width_) : shade(level(ns));
    return paint_(kCellColours.at(level(ns)), text);
  }

  [[nodiscard]] std::string legend() const {
    std::string out = "  ";
    for (std::size_t i = 0; i < kShades.size(); ++i) {
      const double from = lowest_ + (highest_ - lowest_) * static_cast<double>(i) / static_cast<double>(kShades.size());
      out += fmt::format("{} from {} ns   ", paint_(kCellColours.at(i), shade(i)), std::lround(from));
    }
    return without_trailing_spaces(out) + "\n";
  }

  // Mean latencies of hand-offs between nodes, by where the line's home is: with the giver, with the receiver, or on a third
  // node.
  [[nodiscard]] std::string by_home() const {
    constexpr std::array kNames = {"giver's node", "receiver's node", "a third node"};
    std::map<std::string, std::array<Mean, kNames.size()>> means;
    for (const MatrixRow& row : rows_) {
      const int from = node(row.from_cpu);
      const int to = node(row.to_cpu);
      if (from == to) continue;
      means[row.state].at(row.home_node == from ? 0 : row.home_node == to ? 1 : 2).add(row.latency_ns);
    }
    if (means.empty()) return "";
    std::string out = "  " + paint_(Colour::bold, "Between nodes, by home") + "\n";
    for (const std::string& state : states_) {
      out += "  " + pad_right(state, 12);
      for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (means[state].at(i).count > 0)
          out += fmt::format("{} {} ns   ", kNames.at(i), std::lround(means[state].at(i).value()));
      }
      out = without_trailing_spaces(out) + "\n";
    }
    return out;
  }

  const std::vector<MatrixRow>& rows_;
  const std::vector<int>& node_of_cpu_;
  const Painter& paint_;
  std::vector<int> order_;  // CPUs, sorted by node
  std::vector<std::string> states_;
  std::map<std::string, std::map<std::pair<std::int64_t, std::int64_t>, Mean>> means_;
  double lowest_ = 0;
  double highest_ = 0;
  bool as_figures_ = true;
  std::size_t cell_width_ = 0;
};

}  // namespace

std::string matrix_chart(const std::vector<MatrixRow>& rows, const std::vector<int>& node_of_cpu, const Painter& paint) {
  return rows.empty() ? "" : MatrixChart(rows, node_of_cpu, paint).text();
}

}  // namespace linebounce::sim
