#include "commands/calibrate/probe_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/machine_spec.hpp"
#include "sim/config/table_reader.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/point/config_error.hpp"
#include "workloads/micro/contended_line.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kMark = "probe_format";
constexpr std::int64_t kFormat = 1;
constexpr double kMostNumber = 1e9;

class ProbeReader {
 public:
  ProbeReader(const std::string& text, const std::string& file) : file_(file), table_(parse_toml(text, file)) {}

  ProbeFile read() {
    TableReader top(table_, file_, "");
    const auto format = integer(top, std::string(kMark), 1);
    if (format != kFormat) {
      top.refuse(std::string(kMark), fmt::format("a file of format {}; this program reads {}: take the linebounce-probe that "
                                                 "comes with it",
                                                 format, kFormat));
    }
    read_host(top);
    read_topology(top);
    read_matrix(top);
    read_rows(top, "handover", [this](TableReader& row) { add_hand_off(row); });
    read_rows(top, "load_to_use", [this](TableReader& row) { add_ring(row); });
    read_rows(top, "atomic",
              [this](TableReader& row) { probe_.atomics[row.required_text("operation")] = quartiles(row, "ns"); });
    read_rows(top, "bandwidth", [this](TableReader& row) {
      probe_.bandwidths.push_back({integer(row, "cpus", 1), quartiles(row, "mb_per_s")});
    });
    read_rows(top, "lock_handover", [this](TableReader& row) {
      probe_.locks.push_back({integer(row, "cpus", 2), quartiles(row, "ns")});
    });
    if (const auto* lock = top.table("lock_handover")) {
      probe_.lock_kind = TableReader(*lock, file_, "lock_handover").text("kind").value_or("ticket");
    }
    read_rows(top, "contended_line", [this](TableReader& row) { add_waiting(row); });
    return std::move(probe_);
  }

 private:
  static int integer(TableReader& reader, const std::string& key, double minimum) {
    const auto value = reader.integer(key, minimum, kMostNumber);
    if (!value) reader.refuse(key, "this key is missing");
    return static_cast<int>(*value);
  }

  static double number(TableReader& reader, const std::string& key) {
    const auto value = reader.number(key, 0);
    if (!value) reader.refuse(key, "this key is missing");
    return *value;
  }

  static Quartiles quartiles(TableReader& row, const std::string& unit) {
    Quartiles values{number(row, "median_" + unit), number(row, "quartile1_" + unit), number(row, "quartile3_" + unit),
                     integer(row, "repeats", 0)};
    if (values.lower > values.median || values.upper < values.median) {
      row.refuse("median_" + unit,
                 fmt::format("{:g} is not between the quartiles {:g} and {:g}", values.median, values.lower, values.upper));
    }
    return values;
  }

  const toml::table& needed_table(TableReader& reader, const std::string& key) {
    const toml::table* table = reader.table(key);
    if (table == nullptr) reader.refuse(key, "this table is missing: the file is not complete");
    return *table;
  }

  const toml::array& needed_array(TableReader& reader, const std::string& key) {
    const toml::array* array = reader.array(key);
    if (array == nullptr) reader.refuse(key, "this list is missing: the file is not complete");
    return *array;
  }

  // Calls `add` for each row of a table, if the table exists.
  template <class Add>
  void read_rows(TableReader& top, const std::string& name, Add add) {
    const toml::table* table = top.table(name);
    if (table == nullptr) return;
    TableReader reader(*table, file_, name);
    each_table(needed_array(reader, "rows"), name + ".rows", add);
  }

  template <class Add>
  void each_table(const toml::array& rows, const std::string& path, Add add) {
    for (const toml::node& element : rows) {
      const toml::table* table = element.as_table();
      if (table == nullptr) refuse(element, path, "expected a table in braces, not " + describe_node(element));
      TableReader row(*table, file_, path);
      add(row);
    }
  }

  void read_host(TableReader& top) {
    TableReader host(needed_table(top, "host"), file_, "host");
    probe_.model = host.required_text("model");
    probe_.clock_mhz = number(host, "clock_median_mhz");
    if (const auto* warnings = host.array("warnings")) {
      for (const toml::node& warning : *warnings) probe_.warnings.push_back(warning.value_or(std::string()));
    }
  }

  std::vector<int> integers(TableReader& reader, const std::string& key) {
    std::vector<int> values;
    for (const toml::node& element : needed_array(reader, key)) {
      const auto value = element.value_exact<std::int64_t>();
      if (!value || *value < 0 || static_cast<double>(*value) > kMostNumber) {
        refuse(element, reader.path_of(key), "expected a whole number, 0 or more, not " + describe_node(element));
      }
      values.push_back(static_cast<int>(*value));
    }
    return values;
  }

  void read_topology(TableReader& top) {
    TableReader topology(needed_table(top, "topology"), file_, "topology");
    cpus_ = integers(topology, "cpus");
    probe_.cpus = cpus_;
    if (cpus_.size() < 2 || std::ssize(cpus_) > kMostCpus) {
      topology.refuse("cpus", fmt::format("{} CPUs; a machine has 2 to {}: measure some of them, linebounce-probe --cpus LIST",
                                          cpus_.size(), kMostCpus));
    }
    probe_.node = integers(topology, "node");
    if (probe_.node.size() != cpus_.size()) {
      topology.refuse("node", fmt::format("{} nodes for {} CPUs", probe_.node.size(), cpus_.size()));
    }
    if (const auto* caches = topology.array("cache")) {
      each_table(*caches, "topology.cache", [this](TableReader& row) {
        probe_.caches.push_back({integer(row, "level", 1), integer(row, "size_kib", 1), integer(row, "ways", 0),
                                 integer(row, "line_bytes", 0), integer(row, "shared_by", 1)});
      });
    }
  }

  void read_matrix(TableReader& top) {
    TableReader table(needed_table(top, "core_to_core"), file_, "core_to_core");
    probe_.pairs = integer(table, "pairs", 1);
    probe_.pairs_measured = integer(table, "pairs_measured", 1);
    const toml::array& rows = needed_array(table, "median_ns");
    const std::string path = "core_to_core.median_ns";
    check_count(rows, rows, path, "rows");
    const int cpus = static_cast<int>(cpus_.size());
    probe_.matrix = LatencyMatrix(cpus);
    for (int a = 0; a < cpus; ++a) {
      const toml::node& row = rows[a];
      if (row.as_array() == nullptr) refuse(row, path, "expected a row, not " + describe_node(row));
      check_count(*row.as_array(), row, path, "cells");
      for (int b = 0; b < a; ++b) probe_.matrix.set_both(a, b, cell(rows, a, b), cell(rows, b, a));
    }
    check_unit(probe_.matrix, file_);
  }

  void check_count(const toml::array& values, const toml::node& at, const std::string& path, const char* what) const {
    if (values.size() == cpus_.size()) return;
    refuse(at, path, fmt::format("{} {} for {} CPUs", values.size(), what, cpus_.size()));
  }

  double cell(const toml::array& rows, int a, int b) const {
    const std::string path = "core_to_core.median_ns";
    const toml::node& row = rows[a];
    if (row.as_array() == nullptr) refuse(row, path, "expected a row, not " + describe_node(row));
    check_count(*row.as_array(), row, path, "cells");
    const toml::node& node = (*row.as_array())[b];
    const auto ns = node.value<double>();
    if (!node.is_number() || !(*ns > 0) || *ns > kMostNumber) {
      refuse(node, path,
             fmt::format("CPUs {} and {}: expected a latency in ns, not {}", cpus_[a], cpus_[b], describe_node(node)));
    }
    return *ns;
  }

  int cpu(TableReader& row, const std::string& key) const { return cpu_of(row, key, integer(row, key, 0)); }

  int cpu_of(TableReader& row, const std::string& key, int number) const {
    const auto found = std::ranges::find(cpus_, number);
    if (found == cpus_.end()) row.refuse(key, fmt::format("CPU {} is none of topology.cpus", number));
    return static_cast<int>(found - cpus_.begin());
  }

  void add_hand_off(TableReader& row) {
    ProbedHandOff hand_off;
    hand_off.from = cpu(row, "from_cpu");
    hand_off.to = cpu(row, "to_cpu");
    hand_off.home_node = integer(row, "home_node", 0);
    hand_off.state = row.text("state", {"modified", "exclusive", "shared"}).value_or("modified");
    hand_off.access = row.text("access", {"load", "fetch_add"}).value_or("load");
    hand_off.ns = quartiles(row, "ns");
    probe_.hand_offs.push_back(hand_off);
  }

  void add_ring(TableReader& row) {
    ProbedRing ring;
    ring.level = row.text("level").value_or("");
    ring.size_kib = integer(row, "size_kib", 1);
    ring.cpu_node = integer(row, "cpu_node", 0);
    ring.memory_node = integer(row, "memory_node", 0);
    ring.ns = quartiles(row, "ns");
    probe_.rings.push_back(ring);
  }

  void add_waiting(TableReader& row) {
    ProbedWaiting waiting;
    waiting.operation = row.text("operation", workloads::contended_operations()).value_or("");
    if (waiting.operation.empty()) row.refuse("operation", "this key is missing");
    for (const int number : integers(row, "cpus")) {
      const int cpu = cpu_of(row, "cpus", number);
      if (std::ranges::find(waiting.cpus, cpu) != waiting.cpus.end())
        row.refuse("cpus", fmt::format("CPU {} is named twice", number));
      waiting.cpus.push_back(cpu);
    }
    const int least = workloads::least_cpus(waiting.operation);
    if (std::ssize(waiting.cpus) < least) {
      row.refuse("cpus", fmt::format("{} CPUs, but {} takes {} or more", waiting.cpus.size(), waiting.operation, least));
    }
    waiting.between_cycles = static_cast<int>(row.integer("between_cycles", 0, workloads::kMostBetweenCycles).value_or(0));
    waiting.ns = quartiles(row, "ns");
    probe_.waiting.push_back(waiting);
  }

  [[noreturn]] void refuse(const toml::node& node, const std::string& path, const std::string& text) const {
    fail({place_of(file_, node.source())}, path, text);
  }

  const std::string& file_;
  toml::table table_;
  std::vector<int> cpus_;  // the operating system's numbers
  ProbeFile probe_;
};

}  // namespace

Quartiles mean_quartiles(const std::vector<Quartiles>& all) {
  Quartiles mean;
  for (const Quartiles& one : all) {
    mean.median += one.median / static_cast<double>(all.size());
    mean.lower += one.lower / static_cast<double>(all.size());
    mean.upper += one.upper / static_cast<double>(all.size());
    mean.repeats += one.repeats;
  }
  return mean;
}

bool is_probe_file(const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    if (line.starts_with(kMark)) return true;
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
    begin = end + 1;
  }
  return false;
}

ProbeFile parse_probe_file(const std::string& text, const std::string& file) {
  return ProbeReader(text, file).read();
}

}  // namespace linebounce::sim
