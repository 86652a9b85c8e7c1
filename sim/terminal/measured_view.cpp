#include "sim/terminal/measured_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/results/numbers.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kNote =
    "Samples: loads and atomics that a cache served, on the hottest line of its kind; the simulated ones are scaled so that "
    "each "
    "line has as many as were measured. Remote %: the requester's node is not the line's home. ✓ within tolerance, ✗ not; c "
    "calibrated, s in sight. Rows with fewer than 10 measured samples are left out.";

class View {
 public:
  View(const MeasuredTable& table, const ReportedPoint& point, const std::vector<PaperResult>& paper, const Painter& paint)
      : table_(table), point_(point), paper_(paper), paint_(paint) {}

  [[nodiscard]] std::string text() const {
    if (!metric("samples")) return not_measurable();
    Table table({figures("", 3), names("", 27, 2), names("", 22, 1), words("", 6, 1), figures("samples", 9), figures("sim.", 7),
                 figures("remote %", 9), figures("sim.", 7), words("", 0, 2)},
                paint_);
    for (const MeasuredRow& row : table_.rows) {
      if (row.samples >= kLeastRankedSamples || table_.is_scored(row)) table.add(cells_of(row));
    }
    return title() + table.text() + rest();
  }

 private:
  [[nodiscard]] std::optional<double> metric(const std::string& name) const {
    const auto found = point_.metrics.find(table_.metric() + "." + name);
    if (found == point_.metrics.end()) return std::nullopt;
    return as_double(found->second.value);
  }

  [[nodiscard]] double measured_samples() const {
    double sum = 0;
    for (const MeasuredRow& row : table_.rows) sum += static_cast<double>(row.samples);
    return sum;
  }

  // The factor by which simulated samples are multiplied so that their sum equals the measured one.
  [[nodiscard]] double scale() const {
    const double simulated = metric("samples").value_or(0);
    return simulated > 0 ? measured_samples() / simulated : 0;
  }

  // States that the table can't be compared, because this variant of the workload does not use the table's structure.
  [[nodiscard]] std::string not_measurable() const {
    const std::string home = table_.home ? fmt::format(" whose home is node {}", *table_.home) : "";
    return fmt::format("  {}  not measurable: no {}.{}{} in this run\n", paint_(Colour::bold, table_.id), table_.structure,
                       table_.field, home);
  }

  [[nodiscard]] std::string title() const {
    const auto order = metric("rank_correlation");
    std::string facts = fmt::format("{}, line of {}: {:.0f} samples, simulated {:.0f}", table_.structure, table_.field,
                                    measured_samples(), metric("samples").value_or(0));
    if (order) facts += fmt::format("; rank correlation {:.2f}", *order);
    return "  " + paint_(Colour::bold, table_.id) + "  " + facts + "\n";
  }

  [[nodiscard]] Cell mark(const MeasuredRow& row) const {
    const std::string id = table_.id + "." + row.key;
    const auto result = std::ranges::find_if(paper_, [&](const PaperResult& r) { return r.row.id == id; });
    if (result == paper_.end() || !result->ok) return "";
    const std::string kind = row.kind == PaperKind::calibrated ? "c" : row.kind == PaperKind::in_sight ? "s" : "";
    return *result->ok ? Cell{"✓" + kind, Colour::green} : Cell{"✗" + kind, Colour::red};
  }

  [[nodiscard]] std::vector<Cell> cells_of(const MeasuredRow& row) const {
    const auto remote = metric(row.key + ".remote_pct");
    return {std::to_string(row.offset),
            row.function,
            row.structure == table_.structure ? row.field : row.structure + "." + row.field,
            row.access,
            std::to_string(row.samples),
            fmt::format("{:.0f}", scale() * metric(row.key + ".samples").value_or(0)),
            fmt::format("{:.1f}", row.remote_pct),
            remote ? fmt::format("{:.1f}", *remote) : "-",
            mark(row)};
  }

  // Simulated accesses to the line for which the table has no row.
  [[nodiscard]] std::string rest() const {
    double named = 0;
    for (const MeasuredRow& row : table_.rows) named += metric(row.key + ".samples").value_or(0);
    const double others = metric("samples").value_or(0) - named;
    if (others < 0.5) return "";
    return paint_(Colour::dim,
                  fmt::format("       and {:.0f} simulated samples of rows that were not measured", scale() * others)) +
           "\n";
  }

  const MeasuredTable& table_;
  const ReportedPoint& point_;
  const std::vector<PaperResult>& paper_;
  const Painter& paint_;
};

const ReportedPoint* point_of(const MeasuredTable& table, const Plan& plan, const Results& results) {
  for (const PointPlace& point : plan.points) {
    if (lies_at(point, table.at)) return &results.points[point.number];
  }
  return nullptr;
}

}  // namespace

std::string measured_tables(const Plan& plan, const Results& results, const std::function<bool(const std::string&)>& wanted,
                            const Painter& paint) {
  std::string out;
  for (const MeasuredTable& table : plan.experiment.measured) {
    const ReportedPoint* point = point_of(table, plan, results);
    if (!wanted(table.id) || point == nullptr || !point->finished) continue;
    out += View(table, *point, results.paper, paint).text() + "\n";
  }
  return out.empty() ? out : out + paragraph(kNote, 2, Colour::dim, paint);
}

}  // namespace linebounce::sim
