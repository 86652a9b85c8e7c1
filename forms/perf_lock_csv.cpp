// Reads the output of perf lock contention -x SEPARATOR (since Linux 6.6): a comment with the columns' names, then a line per
// lock. Times are nanoseconds without a unit.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kCsvTitle = "# output: ";
constexpr double kNsPerUs = 1000;

std::vector<std::string_view> cells_of_csv(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> cells;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    cells.push_back(stripped(text.substr(begin, end - begin)));
    begin = end + separator.size();
  }
  return cells;
}

struct CsvTitles {
  std::string separator;
  std::vector<std::string> columns;

  [[nodiscard]] std::optional<std::size_t> place(std::string_view column) const {
    const auto found = std::ranges::find(columns, column);
    return found == columns.end() ? std::nullopt : std::optional<std::size_t>(found - columns.begin());
  }
};

// Finds the separator: it stands between the names of the first two columns, which are two of these.
std::optional<CsvTitles> csv_titles(std::string_view text) {
  constexpr std::array<std::string_view, 5> kFigures = {"contended", "total wait", "max wait", "min wait", "avg wait"};
  if (!text.starts_with(kCsvTitle)) return std::nullopt;
  text = stripped(text.substr(kCsvTitle.size()));
  const auto* const first = std::ranges::find_if(kFigures, [&](std::string_view one) { return text.starts_with(one); });
  if (first == kFigures.end()) return std::nullopt;
  const std::string_view behind = text.substr(first->size());
  std::size_t end = std::string_view::npos;  // where the name of the second column begins
  for (const std::string_view figure : kFigures) end = std::min(end, behind.find(figure));
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  std::string_view separator = behind.substr(0, end);
  separator = separator.substr(0, separator.find_last_not_of(' ') + 1);
  CsvTitles titles{separator.empty() ? " " : std::string(separator), {}};
  for (const std::string_view cell : cells_of_csv(text, titles.separator)) titles.columns.emplace_back(cell);
  return titles;
}

class PerfLockCsv {
 public:
  PerfLockCsv(LineFile& in, CsvTitles titles) : in_(&in), titles_(std::move(titles)) {}

  LockStatisticsFile read() {
    constexpr std::array<std::string_view, 5> kNames = {"caller", "comm", "owner", "symbol", "cgroup"};
    const auto* const name = std::ranges::find_if(kNames, [&](std::string_view one) { return titles_.place(one).has_value(); });
    if (name == kNames.end()) in_->refuse("the columns have no name: caller, comm, owner, symbol or cgroup");
    if (!titles_.place("contended")) in_->refuse("the column contended is missing");
    LockStatisticsFile file;
    file.tool = "perf lock contention";
    file.what = *name;
    while (const auto line = in_->next()) {
      const std::string_view text = stripped(*line);
      if (!text.empty() && !text.starts_with('#')) file.locks.push_back(row(text, *titles_.place(*name)));
    }
    file.locks = of_one_name_together(file.locks);
    sort_hottest_first(file.locks);
    file.losses.add(Loss::no_holds, file.tool);
    file.losses.add_count(Loss::quotes_removed, file.tool, in_->quoted());
    file.why_no_trace = "does not say how long a lock was held";
    return file;
  }

 private:
  LockStatistics row(std::string_view text, std::size_t name) const {
    const std::vector<std::string_view> cells = cells_of_csv(text, titles_.separator);
    if (cells.size() < titles_.columns.size())
      in_->refuse(fmt::format("expected {} columns, as the line `{}...` names them", titles_.columns.size(), kCsvTitle));
    if (cells.size() > titles_.columns.size() && titles_.columns.back() != "stacktrace")
      in_->refuse(fmt::format("more than {} columns: the separator \"{}\" also occurs inside one; choose another with -x",
                              titles_.columns.size(), titles_.separator));
    const auto figure = [&](std::string_view column) -> std::optional<std::uint64_t> {
      const auto place = titles_.place(column);
      if (!place) return std::nullopt;
      const auto value = decimal(cells[*place]);
      if (!value) in_->refuse(fmt::format("expected a whole number in column {}", column));
      return value;
    };
    LockStatistics lock;
    lock.name = cells[name];
    if (lock.name.empty()) {
      const auto address = titles_.place("address");
      lock.name = address ? std::string(cells[*address]) : "(no name)";
    }
    if (const auto type = titles_.place("type")) lock.kind = cells[*type];
    if (const auto pid = titles_.place("pid")) lock.name += "/" + std::string(cells[*pid]);
    lock.waits = *figure("contended");
    const auto total = figure("total wait"), mean = figure("avg wait"), longest = figure("max wait");
    const auto count = static_cast<double>(lock.waits);
    lock.wait.total_us =
        total ? static_cast<double>(*total) / kNsPerUs : count * static_cast<double>(mean.value_or(0)) / kNsPerUs;
    if (longest) lock.wait.longest_us = static_cast<double>(*longest) / kNsPerUs;
    return lock;
  }

  LineFile* in_;
  CsvTitles titles_;
};

LockStatisticsFile read_perf_lock_csv(const std::filesystem::path& path) {
  LineFile in(path);
  while (const auto line = in.next()) {
    if (const auto titles = csv_titles(stripped(*line))) return PerfLockCsv(in, *titles).read();
  }
  in.refuse("expected a line `# output: contended, total wait, ...` with the columns' names");
}

Likeness perf_lock_csv_likeness(const Excerpt& excerpt) {
  const bool found =
      std::ranges::any_of(excerpt.lines, [](const Excerpt::Line& line) { return csv_titles(line.text).has_value(); });
  return certain_if(found, "a comment names the columns of perf lock contention -x");
}

}  // namespace

Form perf_lock_csv_form() {
  return {.name = "perf-lock-csv",
          .kind = FormKind::locks,
          .what = "perf lock contention -x",
          .marks = "# output: contended, total wait, ...",
          .likeness = perf_lock_csv_likeness,
          .read_locks = read_perf_lock_csv};
}

}  // namespace linebounce::sim
