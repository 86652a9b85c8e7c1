#include "commands/compare_locks/lock_report_table.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "models/text/visible.hpp"
#include "sim/answer/quantity.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kMailColumns = 80;
constexpr std::size_t kReportIndent = 2;
constexpr double kReportPercent = 100;

// Wraps the prose between the tables. REQUIRES: ASCII, because mail may garble other characters.
std::string mail_paragraph(const std::string& text, std::size_t indent = 0) {
  std::string out;
  for (const std::string& line : wrapped(text, kMailColumns - indent)) out += std::string(indent, ' ') + line + "\n";
  return out;
}

std::string mail_row(const std::vector<std::string>& cells) {
  constexpr std::array<std::size_t, 7> kWidths = {6, 5, 23, 11, 10, 10, 12};
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i)
    out += i == 1 ? " " + pad_right(cells[i], kWidths[i] - 1) : pad_left(cells[i], kWidths[i]);
  return out.substr(0, out.find_last_not_of(' ') + 1) + "\n";
}

std::string figure_cell(const LockFigure& it, const char* format) {
  return it.value ? fmt::format(fmt::runtime(format), *it.value) : "-";
}

std::string rate_cell(const LockFigure& rate) {
  return rate.value ? figure(*rate.value) : "-";
}

// B's change against A in percent. Its 95 % interval is that of a quotient of two independent means.
std::string change_cell(const LockFigure& a, const LockFigure& b) {
  if (!a.value || !b.value || *a.value == 0) return "-";
  const double factor = *b.value / *a.value;
  const std::string change = fmt::format("{:+.1f}", kReportPercent * (factor - 1));
  if (!a.ci95 || !b.ci95 || *b.value == 0) return change + " %";
  const double share_a = *a.ci95 / *a.value, share_b = *b.ci95 / *b.value;
  const double ci95 = factor * std::sqrt(share_a * share_a + share_b * share_b);
  return fmt::format("{} +/-{:.1f} %", change, kReportPercent * ci95);
}

std::string plain_change_cell(LockFigure a, LockFigure b) {
  a.ci95 = b.ci95 = std::nullopt;
  return change_cell(a, b);
}

std::string measured_row(const std::string& cpus, const std::string& lock, const LockMeasured& it) {
  return mail_row({cpus, lock, rate_cell(it.acquisitions_per_s), figure_cell(it.fairness_pct, "{:.1f} %"),
                   figure_cell(it.local_handoff_ns, "{:.0f}"), figure_cell(it.remote_handoff_ns, "{:.0f}"),
                   figure_cell(it.lines_moved, "{:.2f}")});
}

std::string pair_rows(const LockPair& pair) {
  const auto change = [&pair](LockFigure LockMeasured::*it) { return plain_change_cell(pair.a.*it, pair.b.*it); };
  return measured_row(std::to_string(pair.cpus), "A", pair.a) + measured_row("", "B", pair.b) +
         mail_row({"", "B/A", change_cell(pair.a.acquisitions_per_s, pair.b.acquisitions_per_s),
                   change(&LockMeasured::fairness_pct), change(&LockMeasured::local_handoff_ns),
                   change(&LockMeasured::remote_handoff_ns), change(&LockMeasured::lines_moved)});
}

// B/A under each family, a column for each number of CPUs, or for the last ones.
std::string under_each_family(const LocksOnMachine& machine) {
  if (machine.families.empty()) return "";
  constexpr std::size_t kNameWidth = 16, kCellWidth = 20, kMostCells = 3;
  std::string out = "\n" + mail_paragraph(fmt::format("The contention family decides verdicts on locks, and this machine's is "
                                                      "assumed ({}). B/A in acquisitions/s under each that it could be:",
                                                      visible_name(machine.family_source)));
  std::string head = pad_right("  family", kNameWidth);
  const std::vector<LockPair>& all = machine.families.front().pairs;
  const std::size_t first = all.size() > kMostCells ? all.size() - kMostCells : 0;
  for (std::size_t i = first; i < all.size(); ++i)
    head += pad_left(fmt::format("{} CPU{}", all[i].cpus, all[i].cpus == 1 ? "" : "s"), kCellWidth);
  out += head + "\n";
  for (const LocksOfFamily& family : machine.families) {
    out += pad_right("  " + family.family, kNameWidth);
    for (std::size_t i = first; i < family.pairs.size(); ++i)
      out += pad_left(change_cell(family.pairs[i].a.acquisitions_per_s, family.pairs[i].b.acquisitions_per_s), kCellWidth);
    out += "\n";
  }
  return out;
}

std::string machine_table(const LocksOnMachine& machine) {
  std::string out = "\n" + mail_paragraph(machine.name + ": " + visible_name(machine.title)) +
                    mail_paragraph("The operating system has " + machine.os_nodes + ".") + "\n";
  out += mail_row({"", "", "", "", "hand-off", "in ns", "lines per"});
  out += mail_row({"CPUs", "lock", "acquisitions/s", "fairness", "local", "remote", "acquisition"});
  for (const LockPair& pair : machine.pairs) out += pair_rows(pair);
  return out + under_each_family(machine);
}

std::string tally_words(const Tally& tally) {
  return fmt::format("{} of {}", tally.right, tally.of);
}

// "12 predicted, 3 within tolerance, signs of changes right 4 of 6, half of the 8 sizes within 51 %".
std::string held_text(const ValidationScore& score) {
  if (score.rows == 0) return "none predicted";
  std::string out = fmt::format("{} predicted, {} within tolerance", score.rows, score.within_tolerance.right);
  if (score.signs.of > 0) out += fmt::format(", signs of changes right {}", tally_words(score.signs));
  if (score.orders.of > 0) out += fmt::format(", orders and shapes right {}", tally_words(score.orders));
  if (const auto error = score.median_error(); error && std::isfinite(*error))
    out += fmt::format(", half of the {} sizes within {:.0f} %", score.errors.size(), kReportPercent * *error);
  return out;
}

std::string accuracy_text(const LockReport& report) {
  std::string out = "\n" + mail_paragraph(
                               "How the simulator's predictions of published figures have held, each at its first run, with "
                               "nothing fitted to it (tolerance: mostly 10 %):");
  for (const LocksOnMachine& machine : report.machines) {
    out += mail_paragraph(machine.name + ": " + held_text(machine.predicted), kReportIndent);
    if (machine.predicted_locks.rows > 0 && machine.predicted_locks.rows < machine.predicted.rows)
      out += mail_paragraph("of locks: " + held_text(machine.predicted_locks), 2 * kReportIndent);
  }
  return out + mail_paragraph("all machines: " + held_text(report.predicted), kReportIndent);
}

}  // namespace

std::string lock_report_text(const LockReport& report) {
  std::string out = mail_paragraph("A: " + report.a) + mail_paragraph("B: " + report.b);
  out += mail_paragraph(report.load + " Simulated by " + report.program + ".");
  for (const LocksOnMachine& machine : report.machines) out += machine_table(machine);
  out +=
      "\n" + mail_paragraph(
                 "fairness: Jain's index, 100 % if all CPUs got the lock as often. hand-off: from the beginning of a release "
                 "to a waiter's hold, within a node of the operating system and between two. lines: what other caches and "
                 "memory supplied, per acquisition. +/-: 95 % interval over seeds.");
  return out + accuracy_text(report);
}

}  // namespace linebounce::sim
