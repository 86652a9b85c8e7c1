#include "commands/calibrate/waiting_costs.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "sim/config/contention.hpp"
#include "sim/config/schema.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kInvalidation = "machine.bus.invalidation_clocks";
constexpr const char* kHold = "machine.cpu.hold_ns";
constexpr const char* kHoldAfter = "machine.cpu.hold_after";
constexpr const char* kIntervention = "machine.bus.intervention_clocks";
constexpr const char* kModifiedLoad = "modified_load";
constexpr const char* kBusy = "machine.directory.line_busy_ns";

constexpr double kFitsWell = 0.01;  // RMS deviation as a share; with less, alternatives are not tried
constexpr double kTold = 0.2;       // as a share of the value; a less certain value counts as unknown
constexpr int kStepsOfNs = 10, kStepsOfClock = 1;
constexpr double kMostHoldNs = 500, kMostBusyNs = 3000;
constexpr double kOperations = 150;  // the number of operations that a simulated window lasts
constexpr double kLeastWindowUs = 20, kMostWindowUs = 1000;
constexpr std::size_t kFewContending = 4;

bool contends(const ProbedWaiting& row) {
  return row.operation == "fetch_add" || row.operation == "increment";
}

double rms(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares / static_cast<double>(values.size()));
}

}  // namespace

WaitingCosts::WaitingCosts(const ProbeFile& probe, MachineTables& machine, const std::vector<int>& file_cpu, std::string source,
                           int at_once, std::function<void(int)> simulated)
    : probe_(probe), machine_(machine, std::move(source)), at_once_(at_once), tick_(std::move(simulated)) {
  if (probe.waiting.empty()) return;
  const MachineLayout layout = lay_out(machine_.typed());
  std::vector<int> machine_cpu(file_cpu.size());
  for (std::size_t cpu = 0; cpu < file_cpu.size(); ++cpu) machine_cpu[file_cpu[cpu]] = static_cast<int>(cpu);
  for (const ProbedHandOff& hand_off : probe.hand_offs) {
    const bool at_home = hand_off.home_node == probe.node[hand_off.to];
    if (!at_home || hand_off.state != "modified" || hand_off.access != "load") continue;
    loads_.push_back({kModifiedLoad, {hand_off.to, hand_off.from}, 0, hand_off.ns});
  }
  for (const ProbedWaiting& measured : loads_) add_row(measured, layout, machine_cpu);
  for (const ProbedWaiting& measured : probe.waiting) add_row(measured, layout, machine_cpu);
}

void WaitingCosts::add_row(const ProbedWaiting& measured, const MachineLayout& layout, const std::vector<int>& machine_cpu) {
  if (measured.ns.repeats == 0 || measured.ns.median <= 0) return;
  Row row{&measured, {}};
  std::set<int> buses;
  std::set<int> nodes;
  for (const int cpu : measured.cpus) {
    row.cpus.push_back(machine_cpu[cpu]);
    buses.insert(layout.cpus[row.cpus.back()].bus);
    nodes.insert(layout.cpus[row.cpus.back()].node);
  }
  row.buses = static_cast<int>(buses.size());
  row.nodes = static_cast<int>(nodes.size());
  rows_.push_back(row);
}

WaitingCosts::Rows WaitingCosts::rows_of(const std::function<bool(const Row&)>& wanted) {
  Rows found;
  for (Row& row : rows_) {
    if (wanted(row)) found.push_back(&row);
  }
  return found;
}

std::string WaitingCosts::family_text() const {
  return std::get<std::string>(machine_.tables().settings.at(kContention).value);
}

void WaitingCosts::fit_contended() {
  if (probe_.waiting.empty()) return;
  fit_siblings();
  fit_held_and_busy();
  compare();
}

std::vector<std::string> WaitingCosts::said() const {
  if (probe_.waiting.empty()) {
    return {fmt::format(
        "The file has no contended lines, for an older linebounce-probe wrote it: cpu.hold_ns, bus.invalidation_clocks, "
        "directory.line_busy_ns and siblings' shares stay as in {}. Measure again to have them fitted.",
        family_text())};
  }
  std::vector<std::string> texts;
  for (const auto& [path, text] : by_path_) texts.push_back(text);
  return texts;
}

// By candidate: the simulated time of each row, in ns.
std::vector<std::vector<double>> WaitingCosts::simulated(const Rows& rows, const std::vector<Changes>& candidates) const {
  double slowest = 0;
  for (const Row* row : rows) slowest = std::max(slowest, row->measured->ns.median);
  const double window_us = std::clamp(kOperations * slowest / 1000, kLeastWindowUs, kMostWindowUs);
  tick_(static_cast<int>(candidates.size()));
  return simulate_contended(machine_.tables(), candidates, {measurements_text(rows), rows.size(), window_us}, at_once_);
}

std::string WaitingCosts::measurements_text(const Rows& rows) {
  std::vector<std::string> parts;
  for (const Row* row : rows) {
    parts.push_back(
        fmt::format("{} {}: {}", row->measured->operation, row->measured->between_cycles, fmt::join(row->cpus, " ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<double> WaitingCosts::off(const Rows& rows, const std::vector<Changes>& candidates) const {
  std::vector<double> off;
  for (const std::vector<double>& ns : simulated(rows, candidates)) {
    std::vector<double> shares;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double measured = rows[i]->measured->ns.median;
      shares.push_back((ns[i] - measured) / ((ns[i] + measured) / 2));
    }
    off.push_back(rms(shares));
  }
  return off;
}

FoundValue WaitingCosts::find(const std::string& path, const std::vector<double>& values, int steps_per_unit, const Rows& rows,
                              const Changes& fixed) const {
  return find_value(values, steps_per_unit, [&](const std::vector<double>& tried) {
    std::vector<Changes> candidates(tried.size(), fixed);
    for (std::size_t i = 0; i < tried.size(); ++i) candidates[i][path] = canonical(tried[i]);
    return off(rows, candidates);
  });
}

void WaitingCosts::say(const std::string& path, const std::string& text) {
  std::erase_if(by_path_, [&path](const auto& said) { return said.first == path; });
  by_path_.emplace_back(path, text);
}

bool WaitingCosts::stays(const std::string& path, const std::string& why) {
  say(path, fmt::format("{} was not fitted, and stays as in {}: {}.", short_path(path), family_text(), why));
  return false;
}

bool WaitingCosts::take(const std::string& path, const FoundValue& found, const std::vector<double>& tried, const Rows& rows,
                        const std::string& fitted_to) {
  machine_.restore(path);
  const std::string unit = machine_.tables().keys.find(path)->unit;
  const std::string range = fmt::format("{:g} to {:g} {}", found.low, found.high, unit);
  if (found.low <= tried.front() && found.high >= tried.back()) {
    return stays(path, "it makes no difference to " + fitted_to);
  }
  const bool told = found.high - found.low <= kTold * std::max(1.0, found.value);
  if (!told && off(rows, {Changes{}}).front() <= found.off + kAsGoodShare) {
    return stays(path, fmt::format("{} cannot be told apart by {}, and what it has there is among them", range, fitted_to));
  }
  machine_.set(path, found.value);
  for (Row* row : rows) row->fitted = true;
  std::string text = fmt::format("{} = {:g} {} was fitted to {}, {:.1f} % off (RMS)", short_path(path), found.value, unit,
                                 fitted_to, 100 * found.off);
  if (found.low < found.high) text += fmt::format("; {} do as well", range);
  say(path, text + ".");
  return true;
}

// Sets the share of its speed that a thread keeps beside a busy sibling, which was measured directly. Needs no simulation.
void WaitingCosts::fit_siblings() {
  if (machine_.typed().cpu.threads_per_core < 2) return;
  fit_share("machine.cpu.shared_issue_pct", "beside_computing", "computes");
  fit_share("machine.cpu.spinning_sibling_pct", "beside_spinning", "spins");
  fit_share("machine.cpu.pausing_sibling_pct", "beside_pausing", "pauses");
}

void WaitingCosts::fit_share(const std::string& path, const char* operation, const char* what) {
  const Rows alone = rows_of([](const Row& row) { return row.measured->operation == "alone"; });
  const Rows beside = rows_of([operation](const Row& row) { return row.measured->operation == operation; });
  if (alone.empty() || beside.empty()) {
    stays(path, fmt::format("the file has no thread beside a sibling that {}", what));
    return;
  }
  const double share = 100 * alone.front()->measured->ns.median / beside.front()->measured->ns.median;
  machine_.set(path, std::round(share));
  alone.front()->fitted = beside.front()->fitted = true;
  say(path, fmt::format("{} = {:g} %: what a thread keeps of its speed while its sibling {}, {:.1f} % measured.",
                        short_path(path), machine_.number(path), what, share));
}

bool WaitingCosts::fit_invalidation() {
  if (probe_.waiting.empty()) return false;
  const Rows rows = rows_of([](const Row& row) { return row.measured->operation == "shared_store"; });
  if (rows.empty()) return stays(kInvalidation, "the file has no store to a shared line");
  double slowest = 0;
  for (const Row* row : rows) slowest = std::max(slowest, row->measured->ns.median);
  const double clocks = slowest * machine_.number("machine.bus.clock_mhz") / 1000;
  const std::vector<double> values = values_to_try(1, clocks, 1.6, kStepsOfClock);
  const std::string what = fmt::format("{} of stores to shared lines", rows.size() == 1 ? "the cost" : "the costs");
  if (!take(kInvalidation, find(kInvalidation, values, kStepsOfClock, rows), values, rows, what)) return false;
  by_path_.back().second += " They show its sum with bus.arbitration_clocks and bus.snoop_clocks: it is right where those are.";
  return true;
}

bool WaitingCosts::invalidate_sooner(double ns) {
  const double before = machine_.number(kInvalidation);
  const double clocks = std::ceil(ns * machine_.number("machine.bus.clock_mhz") / 1000);
  if (clocks <= 0 || before <= 0) return false;
  machine_.set(kInvalidation, std::max(0.0, before - clocks));
  const Rows stores = rows_of([](const Row& row) { return row.measured->operation == "shared_store"; });
  say(kInvalidation,
      fmt::format(
          "bus.invalidation_clocks = {:g} clocks, as much as the matrix leaves to it: with {:g}, which the file's stores "
          "to shared lines would show, hand-offs took longer than they were measured. Those stores are {:.1f} % off "
          "(RMS) now.",
          machine_.number(kInvalidation), before, 100 * off(stores, {Changes{}}).front()));
  return true;
}

// The matrix was measured with atomic operations, which wait for the data and for the giver's answer, so it shows the longer
// of the two. A load only waits for the data. Loads of the same lines therefore show which of the two was longer.
bool WaitingCosts::fit_intervention() {
  const Rows rows = rows_of([](const Row& row) { return row.measured->operation == kModifiedLoad; });
  if (rows.empty()) return false;
  const double data = machine_.number(kIntervention) + machine_.number("machine.bus.latch_clocks");
  const double answer = machine_.number(kInvalidation) < 0 ? data : machine_.number(kInvalidation);
  if (answer < data) return false;
  const Changes as_answered = {{kInvalidation, canonical(answer)}};
  const std::vector<double> values = values_to_try(1, machine_.number(kIntervention), 1.6, kStepsOfClock);
  const FoundValue found = find(kIntervention, values, kStepsOfClock, rows, as_answered);
  if (found.value >= machine_.number(kIntervention) || off(rows, {Changes{}}).front() < found.off + kTold / 10) return false;
  machine_.set(kIntervention, found.value);
  machine_.set(kInvalidation, answer);
  say(kInvalidation,
      fmt::format("bus.invalidation_clocks = {:g} clocks and bus.intervention_clocks = {:g}: atomic operations wait "
                  "longer for a line of another cache than loads do, which are {:.1f} % off (RMS).",
                  answer, found.value, 100 * found.off));
  return true;
}

void WaitingCosts::fit_hold(const Rows& rows) {
  machine_.restore(kHoldAfter);
  const std::string before = plain_text(machine_.tables().settings.at(kHoldAfter).value);
  const std::vector<double> values = values_to_try(1, kMostHoldNs, 1.2, kStepsOfNs);
  std::string best_word;
  FoundValue best;
  std::vector<double> offs;
  for (const std::string word : {"writes", "compare_exchange"}) {
    if (!offs.empty() && offs.front() < kFitsWell) break;
    const FoundValue found = find(kHold, values, kStepsOfNs, rows, {{kHoldAfter, ConfigValue{word}}});
    offs.push_back(found.off);
    if (best_word.empty() || found.off < best.off) best_word = word, best = found;
  }
  const bool same = offs.size() > 1 && std::fabs(offs[0] - offs[1]) < kAsGoodShare;
  machine_.set(kHoldAfter, same ? before : best_word);
  if (same && before != best_word) best = find(kHold, values, kStepsOfNs, rows);
  if (!take(kHold, best, values, rows, fmt::format("{} rates of additions and increments", rows.size()))) {
    machine_.restore(kHoldAfter);
    return;
  }
  if (best.value > 0) {
    by_path_.back().second +=
        fmt::format(" It follows {} (cpu.hold_after){}.", same ? before : best_word, same ? ", which these do not show" : "");
  }
}

void WaitingCosts::fit_busy(const Rows& rows) {
  const std::vector<double> values = values_to_try(5, kMostBusyNs, 1.25, kStepsOfNs);
  take(kBusy, find(kBusy, values, kStepsOfNs, rows), values, rows,
       fmt::format("{} rates of additions and increments by CPUs of several buses", rows.size()));
}

// Chooses the two CPUs whose rows depend least on the home. On a machine with groups these are the nearest ones, whose
// transfers bypass the home. Otherwise they are the farthest: by the time the line has moved, the home is free again.
WaitingCosts::Rows WaitingCosts::apart_from_home(const Rows& rows) const {
  std::map<std::vector<int>, double> ns;
  for (const Row* row : rows) ns[row->cpus] += row->measured->ns.median;
  const auto [nearest, farthest] = std::ranges::minmax_element(ns, {}, [](const auto& pair) { return pair.second; });
  const auto chosen = machine_.typed().groups.empty() ? farthest : nearest;
  Rows found;
  std::ranges::copy_if(rows, std::back_inserter(found), [&](const Row* row) { return row->cpus == chosen->first; });
  return found;
}

// On one bus no home is involved, so the rates only show how long a line is held. Uses rows of two CPUs, which always take
// turns; with more, chance may decide, and simulations take longer.
void WaitingCosts::fit_held_and_busy() {
  const Rows near = rows_of([](const Row& row) { return contends(*row.measured) && row.buses == 1 && row.cpus.size() == 2; });
  const Rows apart =
      rows_of([](const Row& row) { return contends(*row.measured) && row.buses > 1 && row.cpus.size() <= kFewContending; });
  const Rows two_apart =
      rows_of([](const Row& row) { return contends(*row.measured) && row.buses > 1 && row.cpus.size() == 2; });
  const Rows of_hold = near.empty() ? apart_from_home(two_apart) : near;
  if (of_hold.empty()) {
    stays(kHold, "the file has no additions or increments by two CPUs");
  } else {
    fit_hold(of_hold);
  }
  if (!machine_.typed().has_nodes()) return;
  if (apart.empty()) {
    stays(kBusy, fmt::format("the file has no additions or increments by 2 to {} CPUs on several buses", kFewContending));
    return;
  }
  fit_busy(apart);
  if (!near.empty() || of_hold.empty()) return;
  fit_hold(of_hold);
  fit_busy(apart);
}

// Compares all rows on the fitted machine. Rows with the same operation and CPUs are combined into one line, whatever cycles
// they compute in between.
void WaitingCosts::compare() {
  struct Line {
    std::string what;
    std::vector<Quartiles> measured;
    double simulated = 0;
    bool fitted = false;
  };
  const Rows all = rows_of([](const Row& row) { return row.measured->operation != kModifiedLoad; });
  if (all.empty()) return;
  const std::vector<double> ns = simulated(all, {Changes{}}).front();
  std::vector<Line> lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string what = name_of(*all[i]);
    auto line = std::ranges::find(lines, what, &Line::what);
    if (line == lines.end()) line = lines.insert(line, Line{what, {}});
    line->measured.push_back(all[i]->measured->ns);
    line->simulated += ns[i];
    line->fitted = line->fitted || all[i]->fitted;
  }
  for (const Line& line : lines) {
    const auto rows = static_cast<double>(line.measured.size());
    (line.fitted ? fitted_ : predictions_).push_back({line.what, "ns", mean_quartiles(line.measured), line.simulated / rows});
  }
}

std::string WaitingCosts::name_of(const Row& row) {
  std::string name = row.measured->operation;
  if (row.cpus.size() > 1) name += fmt::format(" by {} CPUs", row.cpus.size());
  if (name.starts_with("shared_store")) name = fmt::format("store to a line of {} CPUs", row.cpus.size());
  if (row.buses > 1) name += row.nodes > 1 ? fmt::format(", {} nodes", row.nodes) : fmt::format(", {} buses", row.buses);
  return name;
}

}  // namespace linebounce::sim
