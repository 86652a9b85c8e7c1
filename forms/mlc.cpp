// Reads cache-to-cache latencies and idle latencies of memory from the output of Intel's Memory Latency Checker. The tables of
// remote HITM have a row for each writer's node and a column for each reader's. Their head is "Reader Numa Node", in older
// versions "Reader Socket". The table of idle latencies has a row for each CPU's node and a column for each memory's; its head
// is "Numa node", in older versions "Memory node". The table of loaded latencies has rows of a delay, a latency and a rate,
// " 00100  140.50  180000.0".
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "forms/lock_statistics.hpp"
#include "forms/machine_topology.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kC2cTitle = "L2->L2 HITM latency", kIdleTitle = "Measuring idle latencies",
                           kLoadedTitle = "Loaded Latencies";
constexpr std::array<std::string_view, 4> kTitles = {"Memory Latency Checker", kC2cTitle, kIdleTitle,
                                                     "Measuring Loaded Latencies"};

constexpr double kHomesDiffer = 10;  // percent

class MlcReader {
 public:
  MlcReader(const std::string& text, const std::string& file) : file_(file) {
    for (const std::string& one : unquoted_lines(text)) line(stripped(one));
  }

  MlcLatencies finished() {
    const bool has_idle = std::ranges::any_of(latencies_.idle_ns, [](const auto& row) { return row.size() >= 1; });
    if (latencies_.local_hitm_ns <= 0 && !has_idle)
      throw trace::TraceError(fmt::format(
          "{}: has no latency from cache to cache (Local Socket L2->L2 HITM latency), and no idle latencies of the nodes' "
          "memories{}: mlc --c2c_latency and mlc --latency_matrix measure them",
          file_, latencies_.loaded.empty() ? "" : "; loaded latencies alone are not enough for a machine"));
    const std::size_t nodes = tables_.empty() ? 1 : tables_.front().size();
    for (std::size_t writer = 0; writer < nodes && nodes > 1; ++writer) {
      std::vector<double> row;
      for (std::size_t reader = 0; reader < nodes; ++reader) row.push_back(mean(writer, reader));
      latencies_.remote_hitm_ns.push_back(std::move(row));
    }
    if (homes_differ_by() > kHomesDiffer)
      latencies_.losses.add(Loss::homes_averaged, "MLC", fmt::format("{:.0f}", homes_differ_by()));
    return std::move(latencies_);
  }

 private:
  void line(std::string_view text) {
    if (text.find(kLoadedTitle) != text.npos) {
      in_loaded_ = true;
      in_idle_ = in_table_ = false;
    } else if (text.starts_with("Measuring ")) {
      in_loaded_ = false;
    }
    if (in_loaded_) {
      loaded_row(words_of(text));
    } else if (text.find(kIdleTitle) != text.npos) {
      in_idle_ = latencies_.idle_ns.empty();
      in_table_ = false;
    } else if (in_idle_ && !text.empty()) {
      idle_row(words_of(text));
    } else if (text.find(kC2cTitle) != text.npos) {
      const std::vector<std::string_view> words = words_of(text);
      in_table_ = text.starts_with("Remote");
      if (in_table_) tables_.emplace_back();
      const auto ns = real(words.back());
      if (text.starts_with("Local") && ns) latencies_.local_hitm_ns = *ns;
    } else if (in_table_ && !text.empty()) {
      row(words_of(text));
    }
  }

  // Parses a row, "0  81.2  139.6". Only heads begin with a word.
  void idle_row(const std::vector<std::string_view>& words) {
    std::vector<double> figures;
    for (std::size_t i = 1; i < words.size(); ++i) figures.push_back(real(words[i]).value_or(0));
    const bool is_row = decimal(words.front()) && *decimal(words.front()) == latencies_.idle_ns.size() && !figures.empty();
    if (is_row) latencies_.idle_ns.push_back(std::move(figures));
    in_idle_ = is_row || latencies_.idle_ns.empty();
  }

  // Parses a row, "00100  140.50  180000.0".
  void loaded_row(const std::vector<std::string_view>& words) {
    if (words.size() != 3 || !decimal(words[0])) return;
    const auto ns = real(words[1]), mb_per_s = real(words[2]);
    if (!ns || !mb_per_s || *ns <= 0 || *mb_per_s <= 0)
      throw trace::TraceError(file_ + ": expected a delay, a latency and a bandwidth in a row of the loaded latencies");
    latencies_.loaded.push_back({*ns, *mb_per_s});
  }

  // By how many percent a pair of nodes differs, if the line is in the reader's memory and not in the writer's.
  [[nodiscard]] double homes_differ_by() const {
    double most = 0;
    for (std::size_t writer = 0; tables_.size() == 2 && writer < tables_[0].size(); ++writer) {
      for (std::size_t reader = 0; reader < tables_[0][writer].size(); ++reader) {
        const double a = tables_[0][writer][reader], b = tables_[1][writer][reader];
        if (a > 0 && b > 0) most = std::max(most, 100 * std::abs(a - b) / std::min(a, b));
      }
    }
    return most;
  }

  // Parses a row, "0  -  113.9". Only heads begin with a word.
  void row(const std::vector<std::string_view>& words) {
    if (!decimal(words.front())) {
      if (!tables_.back().empty()) in_table_ = false;
      return;
    }
    if (*decimal(words.front()) != tables_.back().size() || words.size() < 2)
      throw trace::TraceError(
          fmt::format("{}: expected the row of node {} of a table of remote HITM", file_, tables_.back().size()));
    std::vector<double> figures;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto ns = real(words[i]);
      if (!ns && words[i] != "-") throw trace::TraceError(fmt::format("{}: \"{}\" is not a latency", file_, words[i]));
      figures.push_back(ns.value_or(0));
    }
    tables_.back().push_back(std::move(figures));
  }

  [[nodiscard]] double mean(std::size_t writer, std::size_t reader) const {
    double sum = 0;
    for (const auto& table : tables_) {
      if (table.size() != tables_.front().size() || writer >= table.size() || reader >= table[writer].size())
        throw trace::TraceError(file_ + ": the tables of remote HITM have different nodes");
      sum += table[writer][reader];
    }
    return sum / static_cast<double>(tables_.size());
  }

  std::string file_;
  MlcLatencies latencies_;
  std::vector<std::vector<std::vector<double>>> tables_;
  bool in_table_ = false, in_idle_ = false, in_loaded_ = false;
};

}  // namespace

MlcLatencies read_mlc(const std::string& text, const std::string& file) {
  return MlcReader(text, file).finished();
}

std::string loaded_latencies_csv(const std::vector<LoadedLatency>& loaded) {
  std::string text = std::string(kLoadedLatenciesTitle) +
                     ": CPU 0 loads its node's memory while all other CPUs read theirs at the rate in the first "
                     "column.\n"
                     "workload.background_mb_per_s,metric,measured,unit\n";
  for (const LoadedLatency& one : loaded) {
    text += fmt::format("{0:g},load_to_use.memory_of_node_0,{1:g},ns\n{0:g},load_to_use.background_mb_per_s,{0:g},MB/s\n",
                        one.mb_per_s, one.ns);
  }
  return text;
}

Form mlc_form() {
  return {.name = "mlc",
          .kind = FormKind::machine,
          .what = "Intel Memory Latency Checker's output",
          .marks = "\"Intel(R) Memory Latency Checker\", \"Measuring idle latencies\" or \"L2->L2 HITM latency\"",
          .likeness = [](const Excerpt& excerpt) {
            const auto has = [&](std::string_view title) { return excerpt.has(title); };
            return certain_if(excerpt.is_text && std::ranges::any_of(kTitles, has), "it has the tool's titles");
          }};
}

}  // namespace linebounce::sim
