#include "sim/results/seed_file.hpp"

#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sim/results/result_files.hpp"
#include "trace/fingerprint.hpp"

namespace linebounce::sim {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers go to files as they are in memory");

// ---- the fields of each kind of row, used for both writing and reading ----

template <class Row, class Of>
concept RowOf = std::same_as<std::remove_const_t<Row>, Of>;

auto row_members(RowOf<LatencyRow> auto& row) {
  return std::tie(row.kind, row.source, row.latency_cycles, row.latency_ns, row.count);
}
auto row_members(RowOf<LineRow> auto& row) {
  return std::tie(row.structure, row.object, row.line, row.offset, row.field, row.function, row.access, row.home, row.source,
                  row.count, row.remote_pct, row.latency_ns_mean, row.cpus, row.waits.value().ns);
}
auto row_members(RowOf<LockRow> auto& row) {
  return std::tie(row.lock, row.call_site, row.util_pct, row.con_pct, row.hold_mean_us, row.hold_max_us, row.wait_mean_us,
                  row.wait_max_us, row.cpu_pct, row.total, row.nowait, row.spin, row.rjct, row.misses, row.miss_ns_mean,
                  row.waits.ns);
}
auto row_members(RowOf<CpiRow> auto& row) {
  return std::tie(row.cpu, row.function, row.instructions, row.parts);
}
auto row_members(RowOf<MatrixRow> auto& row) {
  return std::tie(row.from_cpu, row.to_cpu, row.home_node, row.state, row.latency_ns);
}
auto row_members(RowOf<SeriesRow> auto& row) {
  return std::tie(row.time_us, row.name, row.value);
}
auto row_members(RowOf<TransitionRow> auto& row) {
  return std::tie(row.controller, row.state, row.event, row.count);
}
auto row_members(RowOf<Metric> auto& metric) {
  return std::tie(metric.value, metric.unit);
}
auto row_members(RowOf<PointData> auto& data) {
  return std::tie(data.metrics, data.latency, data.lines, data.locks, data.cpi, data.matrix, data.series, data.transitions,
                  data.references, data.simulated_ns);
}
auto row_members(RowOf<SeedFile> auto& file) {
  return std::tie(file.hash, file.wall_s, file.data, file.workload, file.cpus);
}

template <class T>
concept HasMembers = requires(T& row) {
  row_members(row);
};

// ---- writing ----

class SeedWriter {
 public:
  std::string text{kSeedFileHead};

  void put(std::int64_t value) { raw(value); }
  void put(double value) { raw(value); }
  void put(const std::string& value) {
    put_count(value.size());
    text += value;
  }
  void put(const CpuSet& cpus) { put(cpu_list(cpus)); }
  void put(const std::variant<std::int64_t, double>& value) {
    text += static_cast<char>(value.index());
    std::visit([this](auto number) { put(number); }, value);
  }
  template <class T, std::size_t N>
  void put(const std::array<T, N>& values) {
    for (const T& value : values) put(value);
  }
  template <class T>
  void put(const std::vector<T>& rows) {
    put_count(rows.size());
    for (const T& row : rows) put(row);
  }
  void put(const std::map<std::string, Metric>& metrics) {
    put_count(metrics.size());
    for (const auto& [name, metric] : metrics) {
      put(name);
      put(metric);
    }
  }
  template <HasMembers T>
  void put(const T& row) {
    std::apply([this](const auto&... member) { (this->put(member), ...); }, row_members(row));
  }

 private:
  void put_count(std::size_t count) { put(static_cast<std::int64_t>(count)); }
  template <class T>
  void raw(T value) {
    const std::size_t end = text.size();
    text.resize(end + sizeof value);
    std::memcpy(text.data() + end, &value, sizeof value);
  }
};

// ---- reading ----

class SeedReader {
 public:
  // Errors, here and in the functions below: InputError.
  explicit SeedReader(std::string_view text) : left_(text) {
    if (!text.starts_with(kSeedFileHead))
      throw InputError("not the results of a run with one seed, or those of another version");
    left_.remove_prefix(kSeedFileHead.size());
  }
  [[nodiscard]] bool at_end() const { return left_.empty(); }

  void take(std::int64_t& value) { raw(value); }
  void take(double& value) { raw(value); }
  void take(std::string& value) { value = bytes(count()); }
  void take(CpuSet& cpus) {
    std::string text;
    take(text);
    const std::optional<CpuSet> listed = read_cpu_list(text);
    if (!listed) throw InputError("the results of one seed have no list of CPUs");
    cpus = *listed;
  }
  void take(std::variant<std::int64_t, double>& value) {
    const char kind = bytes(1).front();
    if (kind == 0) {
      take(value.emplace<std::int64_t>());
    } else {
      take(value.emplace<double>());
    }
  }
  template <class T, std::size_t N>
  void take(std::array<T, N>& values) {
    for (T& value : values) take(value);
  }
  template <class T>
  void take(std::vector<T>& rows) {
    const std::size_t number = count();
    for (std::size_t i = 0; i < number; ++i) take(rows.emplace_back());
  }
  void take(std::map<std::string, Metric>& metrics) {
    const std::size_t number = count();
    for (std::size_t i = 0; i < number; ++i) {
      std::string name;
      take(name);
      take(metrics[name]);
    }
  }
  template <HasMembers T>
  void take(T& row) {
    std::apply([this](auto&... member) { (this->take(member), ...); }, row_members(row));
  }

 private:
  // Reads the number of items that follow, each at least one byte. A damaged file may contain any number, so it is compared
  // with the remaining bytes before memory is allocated.
  std::size_t count() {
    std::int64_t number = 0;
    take(number);
    if (number < 0 || static_cast<std::uint64_t>(number) > left_.size())
      throw InputError("the results of one seed are cut off");
    return static_cast<std::size_t>(number);
  }
  std::string_view bytes(std::size_t size) {
    if (size > left_.size()) throw InputError("the results of one seed are cut off");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  template <class T>
  void raw(T& value) {
    std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
  }

  std::string_view left_;
};

// The text without the last line, which holds its checksum. Errors: InputError if that does not match.
std::string_view without_checksum(std::string_view text) {
  constexpr std::size_t kLastLine = 16 + 1;
  if (text.size() < kLastLine) throw InputError("the results of one seed are cut off");
  const std::string_view content = text.substr(0, text.size() - kLastLine);
  if (text.substr(content.size()) != trace::fingerprint_of(content) + "\n")
    throw InputError("the results of one seed have changed since they were written");
  return content;
}

}  // namespace

std::string write_seed_file(const SeedFile& file) {
  SeedWriter writer;
  writer.put(file);
  writer.text += trace::fingerprint_of(writer.text) + "\n";
  return std::move(writer.text);
}

SeedFile read_seed_file(std::string_view text) {
  SeedReader reader(without_checksum(text));
  SeedFile file;
  reader.take(file);
  if (!reader.at_end()) throw InputError("the results of one seed have changed since they were written");
  return file;
}

}  // namespace linebounce::sim
