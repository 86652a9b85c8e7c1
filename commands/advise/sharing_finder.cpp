#include "commands/advise/sharing_finder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "commands/advise/byte_use.hpp"
#include "commands/advise/count_use.hpp"
#include "sim/config/layout_file.hpp"
#include "sim/lines/rank_correlation.hpp"
#include "sim/replay/orders.hpp"
#include "sim/results/csv.hpp"
#include "sim/results/own_directory.hpp"
#include "sim/results/result_files.hpp"
#include "trace/error.hpp"
#include "workloads/replay/places.hpp"
#include "workloads/replay/replay.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

// Assigns a run's misses to the lines of each object. lines.csv identifies an object only by its name, and does not divide
// plain arrays into lines. So misses of one name are divided among its lines in memory, in proportion to the accesses to each.
class LineCosts {
 public:
  // `each`: the number of machine lines in a line of `places`; 2 if the machine fetches pairs of lines.
  LineCosts(const std::vector<LineRow>& rows, const std::vector<LineUsers>& used, const trace::Symbols& symbols,
            const ObjectPlaces& places, int each)
      : symbols_(symbols), places_(places) {
    // For each object's name, which of the `each` machine lines of a line of `places` the object begins in, counted from 0.
    std::map<std::string, std::uint64_t> before;
    for (std::size_t id = 0; id < symbols.objects.size(); ++id) {
      const auto line = places.begin[id] * static_cast<std::uint64_t>(each) / static_cast<std::uint64_t>(places.line_bytes);
      before.try_emplace(symbols.objects[id].name, line % static_cast<std::uint64_t>(each));
    }
    for (const LineRow& row : rows) {
      const auto object = before.find(row.object);
      const auto first = object == before.end() ? 0 : static_cast<std::int64_t>(object->second);
      Cost& cost = costs_[{row.object, (first + row.line) / each}];
      cost.misses += static_cast<double>(row.count);
      cost.latency_us += static_cast<double>(row.count) * row.latency_ns_mean / 1000;
    }
    for (const LineUsers& line : used) {
      for (const PieceUse& piece : line.pieces) {
        double& accesses = accesses_[{line.line, piece.object}];
        double& of_name = costs_[key_of(line.line, piece.object)].accesses;
        for (const ThreadUse& thread : piece.threads) {
          const auto times = static_cast<double>(thread.reads + thread.writes);
          accesses += times;
          of_name += times;
        }
      }
    }
  }

  [[nodiscard]] CostlyLine of(const FalselySharedLine& line) const {
    CostlyLine out{line};
    double misses = 0;
    std::uint32_t last = trace::kNone;
    for (const Piece& piece : line.pieces) {
      if (piece.object == last) continue;
      last = piece.object;
      const Cost& cost = costs_.at(key_of(line.line, piece.object));
      const double share = accesses_.at({line.line, piece.object}) / cost.accesses;
      misses += share * cost.misses;
      out.latency_us += share * cost.latency_us;
    }
    out.misses = std::llround(misses);
    return out;
  }

 private:
  using Key = std::pair<std::string, std::int64_t>;  // an object's name, and the index of one of its lines
  struct Cost {
    double misses = 0, latency_us = 0;
    double accesses = 0;  // accesses to all lines in memory that share this key
  };

  [[nodiscard]] Key key_of(std::uint64_t line, std::uint32_t id) const {
    const trace::Object& object = symbols_.objects[id];
    const std::uint64_t first = places_.begin[id] / static_cast<std::uint64_t>(places_.line_bytes);
    return {object.name, workloads::ReplayPlaces::tells_lines_apart(object) ? static_cast<std::int64_t>(line - first) : 0};
  }

  const trace::Symbols& symbols_;
  const ObjectPlaces& places_;
  std::map<Key, Cost> costs_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, double> accesses_;  // keys: a line in memory, and an object
};

class SharingFinder {
 public:
  SharingFinder(const SharingArguments& arguments, const trace::Reader& reader, const std::vector<std::string>& argv)
      : arguments_(arguments), reader_(reader), argv_(argv) {
    study_ = {.name = "recorded",
              .title = "The layouts as recorded",
              .machine = arguments.machine.empty() ? machines_for({}, reader, arguments.sets).front() : arguments.machine,
              .trace = arguments.trace,
              .sets = arguments.sets};
  }

  // None if nothing could be found or the study was interrupted; `code` tells which.
  std::optional<SharingReport> find(ExitCode& code) {
    SharingReport report;
    report.trace = arguments_.trace;
    report.missing = reader_.summary().missing;
    report.limits = trace::limits_of(reader_);
    const auto recorded = replay(report, code);
    if (!recorded) return std::nullopt;
    const Placements placements = all_placements(report, *recorded);
    const auto users = lines_of_several_threads(reader_, placements.places);
    const auto shared = falsely_shared(users.front(), reader_.symbols(), lines_shared_in_time(report, *recorded));
    refuse_unexplained(shared);
    find_lines(report, shared, placements.places.front(), users.front());
    find_elsewhere(report, shared, placements, users);
    if (report.lines.empty() && !report.elsewhere.empty()) {
      const std::int64_t shift = report.elsewhere.front().shifts.front();
      study_.sets.push_back(shift_set(shift));
      if (!replay(report, code)) return std::nullopt;
      const std::size_t shifted = placements.with_shift(shift);
      find_lines(report, falsely_shared(users[shifted], reader_.symbols()), placements.places[shifted], users[shifted]);
    }
    if (!report.lines.empty() && !report.limits.may_reverse()) find_proposals(report);
    if (arguments_.foretell) arguments_.foretell(replay_s_, replays_of_proposals(report));
    if (!report.tried.empty() && !try_proposals(report, code)) return std::nullopt;
    return report;
  }

 private:
  // Placements of the objects to try: as the trace or --set places them; with the heap shifted by each of these amounts; and
  // last, with pairs of lines as one.
  struct Placements {
    std::vector<ObjectPlaces> places;
    std::vector<std::int64_t> shifts;

    [[nodiscard]] std::size_t with_shift(std::int64_t shift) const {
      return 1 + (std::find(shifts.begin(), shifts.end(), shift) - shifts.begin());
    }
  };

  // Errors: TraceError if a shared line has an object with bytes that nothing explains: they may be of another member than is
  // told, so neither the blame nor a cure is certain.
  void refuse_unexplained(const std::vector<FalselySharedLine>& shared) const {
    for (const FalselySharedLine& line : shared) {
      for (const Piece& piece : line.pieces) {
        const std::uint32_t structure = reader_.symbols().objects[piece.object].structure;
        if (structure == trace::kNone) continue;
        const std::string text = unexplained_text(layout_of_recorded(reader_.symbols().structures[structure]));
        if (!text.empty())
          throw trace::TraceError(fmt::format("{}: {}; what threads share there is not certain", arguments_.trace, text));
      }
    }
  }

  static std::string shift_set(std::int64_t shift) { return fmt::format("workload.heap_shift={}", shift); }

  // Empty if the machine fetches pairs of lines, because a CPU may then lose a line through accesses to the line beside it.
  std::vector<FalseLine> lines_shared_in_time(SharingReport& report, const SimulationInput& recorded) const {
    if (report.pairs) return {};
    report.time = account_time(recorded, reader_.symbols());
    if (const auto range = pace_range(reader_.summary(), recorded.machine.cpu, study_.sets))
      add_pace_range(*report.time, recorded, reader_.symbols(), *range);
    name_roles(*report.time, reader_);
    report.time->machine = report.machine;
    return report.time->false_lines;
  }

  // Replays the trace and returns the run's input; none if the replay did not finish.
  std::optional<SimulationInput> replay(SharingReport& report, ExitCode& code) {
    const Plan recorded = plan_of(study_);
    SimulationInput input = recorded.make_point(0).input;
    report.machine = recorded.experiment.machine_name;
    report.basis = pace_sentence(reader_.summary(), pace_range(reader_.summary(), input.machine.cpu, study_.sets));
    report.assumptions = recorded.experiment.assumptions;
    report.heap_shift = heap_shift_of(input.parameters);
    report.directory = inner_path(arguments_.directory, report.machine);
    const auto begin = std::chrono::steady_clock::now();
    const auto points = run_study(recorded, run_options(arguments_, inner_path(report.directory, study_.name), argv_), code);
    if (!points) return std::nullopt;
    replay_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    report.throughput_per_s = metric_of(points->front(), kThroughput);
    report.tries_otherwise_pct = std::max(report.tries_otherwise_pct, metric_of(points->front(), kTriesOtherwise));
    run_us_ = run_us(points->front());
    lines_each_ = input.machine.cpu.pair_prefetch == PairPrefetch::none ? 1 : 2;
    report.pairs = lines_each_ == 2;
    return input;
  }

  [[nodiscard]] Placements all_placements(SharingReport& report, const SimulationInput& recorded) const {
    Placements all{{object_places(reader_, recorded)}, {}};
    all.places.front().line_bytes *= lines_each_;
    report.line_bytes = all.places.front().line_bytes;
    const auto& objects = reader_.symbols().objects;
    if (std::ranges::any_of(objects, [](const trace::Object& object) { return object.movable; })) {
      for (const std::int64_t shift : heap_shifts(report.line_bytes)) {
        if (static_cast<std::uint64_t>(shift) == report.heap_shift) continue;
        ReplayStudy shifted = study_;
        shifted.sets.push_back(shift_set(shift));
        all.places.push_back(object_places(reader_, plan_of(shifted).make_point(0).input));
        all.places.back().line_bytes *= lines_each_;
        all.shifts.push_back(shift);
      }
    }
    all.places.push_back(all.places.front());
    if (lines_each_ == 1) all.places.back().line_bytes *= 2;
    return all;
  }

  void find_lines(SharingReport& report, const std::vector<FalselySharedLine>& shared, const ObjectPlaces& places,
                  const std::vector<LineUsers>& used) const {
    auto rows = read_csv(report.directory / study_.name / "lines.csv", read_lines_csv);
    const LineCosts costs(rows[0], used, reader_.symbols(), places, lines_each_);
    for (const FalselySharedLine& line : shared) report.lines.push_back(costs.of(line));
    std::erase_if(report.lines, [](const CostlyLine& line) { return line.misses == 0; });
    std::ranges::stable_sort(report.lines, std::ranges::greater{}, &CostlyLine::latency_us);
  }

  void find_elsewhere(SharingReport& report, const std::vector<FalselySharedLine>& here, const Placements& placements,
                      const std::vector<std::vector<LineUsers>>& users) const {
    const trace::Symbols& symbols = reader_.symbols();
    for (const std::int64_t shift : placements.shifts)
      add_elsewhere(report.elsewhere, here, falsely_shared(users[placements.with_shift(shift)], symbols), shift, symbols);
    add_elsewhere(report.in_pairs, here, falsely_shared(users.back(), symbols), 0, symbols);
    for (std::vector<ElsewhereShared>* all : {&report.elsewhere, &report.in_pairs}) {
      std::stable_sort(all->begin(), all->end(),
                       [](const ElsewhereShared& a, const ElsewhereShared& b) { return a.line.disturbed > b.line.disturbed; });
    }
  }

  // Proposes changes for the costliest lines.
  void find_proposals(SharingReport& report) const {
    std::vector<FalselySharedLine> lines;
    for (const CostlyLine& line : report.lines) lines.push_back(line.line);
    std::vector<TriedProposal>& all = report.tried;
    std::set<std::size_t> changed;
    for (const Proposal& proposal : proposals(lines, reader_.symbols(), report.line_bytes, report.pairs)) {
      TriedProposal tried{proposal};
      for (const std::size_t line : proposal.lines) tried.latency_us += report.lines[line].latency_us;
      changed.insert(proposal.lines.begin(), proposal.lines.end());
      if (tried.latency_us > 0) all.push_back(std::move(tried));
    }
    std::ranges::stable_sort(all, [](const TriedProposal& a, const TriedProposal& b) { return a.latency_us > b.latency_us; });
    report.untried = all.size() - std::min(all.size(), arguments_.top);
    all.resize(all.size() - report.untried);
    leave_out_cheap_ones(report);
    std::size_t uncured = 0;
    while (changed.contains(uncured)) ++uncured;
    if (uncured < report.lines.size() && report.lines[uncured].latency_us >= kWorthIt / 100 * run_us_)
      report.uncured = UncuredLine{uncured, 100 * report.lines[uncured].latency_us / run_us_};
  }

  // Drops the cheapest proposals, up to kTooLittle percent of the run in total: a proposal saves at most the cost of its
  // lines' misses.
  void leave_out_cheap_ones(SharingReport& report) const {
    std::vector<TriedProposal>& all = report.tried;  // the costliest first
    double left_out_us = 0;
    while (!all.empty() && left_out_us + all.back().latency_us < kTooLittle / 100 * run_us_) {
      left_out_us += all.back().latency_us;
      all.pop_back();
      ++report.cheap;
    }
    if (report.cheap > 0) report.cheap_pct = 100 * left_out_us / run_us_;
  }

  // All proposals one at a time, all of them together, and the best of them again; each beside the recorded layout.
  [[nodiscard]] std::size_t replays_of_proposals(const SharingReport& report) const {
    constexpr std::size_t kOthers = 4;
    return report.tried.empty() ? 0 : (report.tried.size() + kOthers) * static_cast<std::size_t>(arguments_.orders);
  }

  bool try_proposals(SharingReport& report, ExitCode& code) {
    toml::array choices{"none"};
    for (const TriedProposal& tried : report.tried) {
      choices.push_back(tried.proposal.name);
      study_.layout_changes += tried.proposal.change;
    }
    if (report.tried.size() > 1) choices.push_back(kAllProposals);
    study_.name = "proposals";
    study_.title = "One proposal at a time, then all";
    const auto trials = in_orders(report, choices, {1, arguments_.orders}, code);
    if (!trials) return false;
    compare(*trials, report);
    return confirm(report, code);
  }

  bool confirm(SharingReport& report, ExitCode& code) {
    const std::string best = best_choice(report);
    if (best.empty()) return true;
    study_.title = "The best of them again, in other orders";
    for (const OrderRange& range : confirming_orders(change_of(report, best), arguments_.orders)) {
      study_.name = range.count == arguments_.orders ? "confirmed" : "confirmed_in_more";
      const auto others = in_orders(report, toml::array{"none", best}, range, code);
      if (!others) return false;
      report.again.reset();
      if (others->are_enough() && others->finished(1)) report.again = ConfirmedProposal{best, others->change(1)};
      if (!report.again || !report.again->change.is_undecided()) break;
    }
    return over_pace(report, code);
  }

  // Repeats a confirmed gain at both ends of the program's pace.
  bool over_pace(SharingReport& report, ExitCode& code) {
    if (!report.again || !report.again->change.is_gain()) return true;
    const auto range = pace_range(reader_.summary(), study_);
    if (!range) return true;
    study_.title = "The best of them at another pace of computation";
    const ReplayStudy usual = study_;
    std::vector<double> gains;
    for (const PaceEnd end : kPaceEnds) {
      study_ = at_end(usual, *range, end);
      const auto tried = in_orders(report, toml::array{"none", report.again->name}, {1 + arguments_.orders, 2}, code);
      study_ = usual;
      if (!tried) return false;
      if (tried->are_enough() && tried->finished(1)) gains.push_back(tried->change(1).median_pct);
    }
    if (gains.size() == 2) report.again->change.over_pace = GainOverPace{gains.front(), gains.back()};
    return true;
  }

  std::optional<TrialsInOrders> in_orders(const SharingReport& report, const toml::array& choices, const OrderRange& range,
                                          ExitCode& code) {
    study_.sweep = {{"layout.changes", choices}};
    repeat_in_orders(study_, range.first, range.count);
    const auto points =
        run_study(plan_of(study_), trial_options(arguments_, inner_path(report.directory, study_.name), argv_), code);
    if (!points) return std::nullopt;
    return TrialsInOrders(*points, range.count);
  }

  // Compares the trials. Trial 0 is the unchanged program. If there are several proposals, the last trial applies all of them.
  static void compare(const TrialsInOrders& trials, SharingReport& report) {
    report.orders = trials.count();
    report.tries_otherwise_pct = std::max(report.tries_otherwise_pct, trials.tries_otherwise_pct(0));
    std::vector<TriedProposal> ended;
    const std::size_t all = report.tried.size() + 1;
    for (std::size_t i = 1; i < all && trials.are_enough(); ++i) {
      if (!trials.finished(i)) continue;
      TriedProposal& tried = ended.emplace_back(std::move(report.tried[i - 1]));
      tried.change = trials.change(i);
      tried.misses_before = median(trials.figures(0, transfers_of));
      tried.misses_after = median(trials.figures(i, transfers_of));
    }
    if (all > 2 && trials.are_enough() && trials.finished(all)) {
      report.all = trials.change(all);
      report.all_misses_after = median(trials.figures(all, transfers_of));
    }
    report.tried = std::move(ended);
    std::ranges::stable_sort(report.tried, std::ranges::greater{},
                             [](const TriedProposal& it) { return it.change.median_pct; });
  }

  const SharingArguments& arguments_;
  const trace::Reader& reader_;
  const std::vector<std::string>& argv_;
  ReplayStudy study_;
  double run_us_ = 0;    // of the recorded run
  double replay_s_ = 0;  // how long its replay took on this computer
  int lines_each_ = 1;   // machine lines fetched together: 2 if the machine fetches pairs, else 1
};

}  // namespace

std::optional<SharingReport> find_sharing(const SharingArguments& arguments, const trace::Reader& reader,
                                          const std::vector<std::string>& argv, ExitCode& code) {
  return SharingFinder(arguments, reader, argv).find(code);
}

}  // namespace linebounce::sim
