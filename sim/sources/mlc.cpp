// Reads cache-to-cache latencies from the output of Intel's Memory Latency Checker. Their table has a row for each writer's
// node and a column for each reader's. Its head is "Reader Numa Node", in older versions "Reader Socket".
#include <fmt/format.h>

#include <algorithm>

#include "sim/sources/forms.hpp"
#include "sim/sources/line_file.hpp"
#include "sim/sources/lock_statistics.hpp"
#include "sim/sources/machine_topology.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kC2cTitle = "L2->L2 HITM latency";

class MlcReader {
 public:
  MlcReader(const std::string& text, const std::string& file) : file_(file) {
    for (const std::string& one : unquoted_lines(text)) line(stripped(one));
  }

  MlcLatencies finished() {
    if (latencies_.local_hitm_ns <= 0)
      throw trace::TraceError(file_ +
                              ": has no latency from cache to cache (Local Socket L2->L2 HITM latency): mlc --c2c_latency");
    const std::size_t nodes = tables_.empty() ? 1 : tables_.front().size();
    for (std::size_t writer = 0; writer < nodes && nodes > 1; ++writer) {
      std::vector<double> row;
      for (std::size_t reader = 0; reader < nodes; ++reader) row.push_back(mean(writer, reader));
      latencies_.remote_hitm_ns.push_back(std::move(row));
    }
    if (idle_) latencies_.losses.add(Loss::not_fitted, "MLC", "idle latencies of memory");
    if (loaded_) latencies_.losses.add(Loss::not_fitted, "MLC", "loaded latencies");
    return std::move(latencies_);
  }

 private:
  void line(std::string_view text) {
    if (text.find("Measuring idle latencies") != text.npos) idle_ = true;
    if (text.find("Loaded Latencies") != text.npos) loaded_ = true;
    if (text.find(kC2cTitle) != text.npos) {
      const std::vector<std::string_view> words = words_of(text);
      in_table_ = text.starts_with("Remote");
      if (in_table_) tables_.emplace_back();
      const auto ns = real(words.back());
      if (text.starts_with("Local") && ns) latencies_.local_hitm_ns = *ns;
    } else if (in_table_ && !text.empty()) {
      row(words_of(text));
    }
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
  bool in_table_ = false, idle_ = false, loaded_ = false;
};

}  // namespace

MlcLatencies read_mlc(const std::string& text, const std::string& file) {
  return MlcReader(text, file).finished();
}

Form mlc_form() {
  return {.name = "mlc",
          .kind = FormKind::machine,
          .what = "Intel Memory Latency Checker's output",
          .marks = "\"Intel(R) Memory Latency Checker\", or \"L2->L2 HITM latency\"",
          .likeness = [](const Excerpt& excerpt) {
            return certain_if(excerpt.is_text && (excerpt.has("Memory Latency Checker") || excerpt.has(kC2cTitle)),
                              "it has the tool's titles");
          }};
}

}  // namespace linebounce::sim
