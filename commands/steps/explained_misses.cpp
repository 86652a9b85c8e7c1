#include "commands/steps/explained_misses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "models/machine/machine.hpp"
#include "models/ordinal.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/point/config_error.hpp"
#include "sim/simulation/idle_listener.hpp"
#include "sim/statistics/source_names.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::sim {
namespace {

using namespace workloads;

// All misses of one latency: their number, and the earliest as their representative, whatever the order of the engine's
// reports.
struct Exemplar {
  std::int64_t count = 0;
  Miss miss = {};
};

bool is_earlier(const Miss& a, const Miss& b) {
  return std::tie(a.issued, a.cpu, a.latency) < std::tie(b.issued, b.cpu, b.latency);
}

// First run: counts the misses in the measured time by source and latency in cycles, as latency.csv does.
class MissSurvey final : public IdleListener {
 public:
  MissSurvey(const SimulationInput& input, std::string line) : input_(input), line_(std::move(line)) {}

  ProgramTap& begin(Machine& machine, const AddressSpace& memory, const LockSet& locks) override {
    memory_ = &memory;
    const Timebase& timebase = machine.timebase();
    begin_ = timebase.from_us(warmup_us(input_));
    end_ = input_.run.measure_us > 0 ? begin_ + timebase.from_us(input_.run.measure_us) : kNever;
    cycle_ = timebase.period(input_.machine.cpu.clock);
    return IdleListener::begin(machine, memory, locks);
  }
  StepListener* listener() override { return nullptr; }
  void miss(const Miss& miss) override {
    if (miss.issued < begin_ || miss.issued >= end_) return;
    if (!line_.empty() && !is_wanted(miss.address)) return;
    Exemplar& of = kinds_[ordinal(miss.source)][miss.latency / cycle_];
    if (of.count++ == 0 || is_earlier(miss, of.miss)) of.miss = miss;
    ticks_[ordinal(miss.source)] += miss.latency;
  }

  [[nodiscard]] std::array<std::int64_t, kSources> counts() const {
    std::array<std::int64_t, kSources> counts{};
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      for (const auto& [cycles, of] : kinds_[kind]) counts[kind] += of.count;
    }
    return counts;
  }
  [[nodiscard]] Source costliest() const { return static_cast<Source>(std::ranges::max_element(ticks_) - ticks_.begin()); }
  // The percentile by nearest rank: a miss with the smallest latency that at least this percentage of misses do not exceed.
  [[nodiscard]] const Miss& at_percentile(Source kind, int percentile) const {
    const auto& latencies = kinds_[ordinal(kind)];
    const std::int64_t all = counts()[ordinal(kind)];
    std::int64_t rank = (all * percentile + 99) / 100;
    for (const auto& [cycles, of] : latencies) {
      rank -= of.count;
      if (rank <= 0) return of.miss;
    }
    return latencies.rbegin()->second.miss;
  }
  // Objects and fields with misses, most first, as the option that chooses a line takes them.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::pair<std::int64_t, std::string>> sorted;
    for (const auto& [name, count] : others_) sorted.emplace_back(-count, name);
    std::ranges::sort(sorted);
    std::vector<std::string> names;
    for (const auto& [count, name] : sorted) names.push_back(name);
    return names;
  }

 private:
  bool is_wanted(Address address) {
    const auto [found, fresh] = wanted_.try_emplace(address);
    if (fresh) {
      const AddressSpace::Place place = memory_->find(address);
      if (place.object != AddressSpace::kNoObject) {
        const Symbol symbol = memory_->symbol(place);
        const std::string field = symbol.field.empty() ? "" : "." + symbol.field;
        found->second.name = symbol.object + field;
        const std::array<std::string, 4> names = {symbol.object, symbol.object + field, symbol.structure,
                                                  symbol.structure + field};
        found->second.wanted = std::ranges::find(names, line_) != names.end();
      }
    }
    if (!found->second.wanted && !found->second.name.empty()) ++others_[found->second.name];
    return found->second.wanted;
  }

  struct Known {
    bool wanted = false;
    std::string name;
  };
  const SimulationInput& input_;
  const std::string line_;
  const AddressSpace* memory_ = nullptr;
  Tick begin_ = 0, end_ = kNever, cycle_ = 1;
  std::array<std::map<std::int64_t, Exemplar>, kSources> kinds_;
  std::array<Tick, kSources> ticks_{};
  std::unordered_map<Address, Known> wanted_;
  std::map<std::string, std::int64_t> others_;
};

// Second run: records the stages of all transactions while a chosen miss is in flight, and divides the chosen misses into
// stages.
class StageRecorder final : public IdleListener {
 public:
  StageRecorder(const SimulationInput& input, ExplainedMisses& explained)
      : explained_(explained), misses_(explained.misses), cpus_(lay_out(input.machine).cpus) {}

  ProgramTap& begin(Machine& machine, const AddressSpace& memory, const LockSet& locks) override {
    memory_ = &memory;
    const Timebase& timebase = machine.timebase();
    constexpr Tick kManyTicks = 1'000'000;
    explained_.tick_ns = fmt::format("{}/{}", timebase.to_ns(kManyTicks), kManyTicks);
    explained_.ns_per_tick = timebase.to_ns(kManyTicks) / static_cast<double>(kManyTicks);
    return IdleListener::begin(machine, memory, locks);
  }
  StageId stage(const Stage& stage) override {
    ++latest_;
    const Tick until = std::max(stage.to, stage.held_until);
    const bool wanted = std::ranges::any_of(misses_, [&](const ExplainedMiss& it) {
      return until >= it.miss.issued && stage.from <= it.miss.issued + it.miss.latency;
    });
    if (wanted) told_.emplace_back(latest_, stage);
    return latest_;
  }
  void end(const PointData&) override {
    for (ExplainedMiss& miss : misses_) take_apart(miss);
  }

 private:
  [[nodiscard]] const Stage* find(StageId id) const {
    const auto found = std::ranges::lower_bound(told_, id, {}, [](const auto& told) { return told.first; });
    return found != told_.end() && found->first == id ? &found->second : nullptr;
  }
  [[nodiscard]] const Stage* last_of(const Miss& miss, LineAddr line) const;
  void take_apart(ExplainedMiss& explained) const;
  Tick add_chain(const Stage* last, Tick issued, ExplainedMiss& explained) const;
  [[nodiscard]] const Stage* fill_waited_for(const Stage& wait) const;
  void count_behind(TakenStage& taken) const;

  ExplainedMisses& explained_;
  std::vector<ExplainedMiss>& misses_;
  const std::vector<CpuPlace> cpus_;
  const AddressSpace* memory_ = nullptr;
  StageId latest_ = kNoStage;
  std::vector<std::pair<StageId, Stage>> told_;  // by number
};

// The last stage of a miss: its own fill, or its wait for the fill of an earlier miss from the same core.
const Stage* StageRecorder::last_of(const Miss& miss, LineAddr line) const {
  const int core = cpus_[miss.cpu.value].core;
  for (auto told = told_.rbegin(); told != told_.rend(); ++told) {
    const Stage& stage = told->second;
    const bool ends = stage.what == Stage::What::fill || stage.what == Stage::What::core;
    const bool same = stage.at.kind == Endpoint::Kind::cache && stage.at.number == core && stage.line == line;
    if (!ends || !same || stage.to != miss.issued + miss.latency) continue;
    if (stage.what == Stage::What::fill || stage.from == miss.issued) return &stage;
  }
  return nullptr;
}

void StageRecorder::take_apart(ExplainedMiss& explained) const {
  const Miss& miss = explained.miss;
  const AddressSpace::Place place = memory_->find(miss.address);
  if (place.object != AddressSpace::kNoObject) {
    const Symbol symbol = memory_->symbol(place);
    explained.object = symbol.object;
    explained.field = symbol.field;
  }
  explained.function = memory_->functions()[miss.function].name;
  explained.node = cpus_[miss.cpu.value].node;
  const LineAddr line(miss.address / static_cast<Address>(memory_->line_bytes()));
  const Tick begins = add_chain(last_of(miss, line), miss.issued, explained);
  std::ranges::reverse(explained.stages);
  if (begins != miss.issued) {
    const int last = explained.stages.empty() ? -1 : static_cast<int>(explained.stages.front().stage.what);
    throw std::logic_error(fmt::format("CPU {}'s miss at tick {} has no stage that ends at tick {}, before one of kind {}",
                                       miss.cpu.value, miss.issued, begins, last));
  }
  for (TakenStage& taken : explained.stages) {
    if (taken.stage.queued > 0) count_behind(taken);
  }
}

// Adds the stages of a transaction that end after `issued`, backwards from `last`. Returns where the first one begins. If the
// miss waited for another transaction of its core for the same line, that transaction's stages replace the wait.
Tick StageRecorder::add_chain(const Stage* last, Tick issued, ExplainedMiss& explained) const {
  Tick begins = last == nullptr ? kNever : last->to;
  for (const Stage* stage = last; stage != nullptr && stage->to == begins && begins > issued; stage = find(stage->after)) {
    if (stage->queued < 0 || stage->from + stage->queued > stage->to) break;
    Stage own = *stage;
    if (const Stage* fill = own.what == Stage::What::core && own.queued > 0 ? fill_waited_for(own) : nullptr) {
      const Tick waits_until = own.from + own.queued;
      const Tick waits_from = std::exchange(own.from, fill->to);
      own.queued = waits_until - own.from;
      if (own.to > own.from) explained.stages.push_back({own});
      const Tick other_begins = add_chain(fill, waits_from, explained);
      if (other_begins == waits_from || explained.stages.back().stage.what != Stage::What::core) return other_begins;
      own.from = waits_from;
      own.to = other_begins;
      own.queued = own.to - own.from;
      explained.stages.push_back({own});
      return waits_from;
    }
    if (own.from < issued) {
      explained.joined = true;
      own.queued = std::max<Tick>(0, own.queued - (issued - own.from));
      own.from = issued;
    }
    explained.stages.push_back({own});
    begins = own.from;
  }
  return begins;
}

// The last fill of the line into this core that ended the wait.
const Stage* StageRecorder::fill_waited_for(const Stage& wait) const {
  for (auto told = told_.rbegin(); told != told_.rend(); ++told) {
    const Stage& stage = told->second;
    if (stage.what != Stage::What::fill || stage.at != wait.at || stage.line != wait.line) continue;
    if (stage.to > wait.from && stage.to <= wait.from + wait.queued) return &stage;
  }
  return nullptr;
}

// Counts the uses of the same resource that began before this one and ended during its wait.
void StageRecorder::count_behind(TakenStage& taken) const {
  using What = Stage::What;
  const Stage& wait = taken.stage;
  switch (wait.what) {
    case What::core:
    case What::supply:
    case What::outlet:
    case What::deferred:
    case What::stalled: return;
    default: break;
  }
  const bool of_line = wait.what == What::line || wait.what == What::turn;
  const Tick own = wait.held_until > wait.held_from ? wait.held_from : wait.to;
  taken.behind = 0;
  for (const auto& [id, use] : told_) {
    const bool same = use.what == wait.what && use.at == wait.at && use.peer == wait.peer && use.held_until > use.held_from;
    if (!same || use.held_from >= own || use.held_until <= wait.from) continue;
    if (of_line && use.line != wait.line) continue;
    ++taken.behind;
    if (use.line == wait.line) ++taken.same_line;
  }
  // If no other use explains the wait, the address phase waited for an earlier transaction on the same line to be ordered.
  if (wait.what == What::bus && taken.behind == 0) {
    TakenStage of_line_alone{wait};
    of_line_alone.stage.what = What::line;
    count_behind(of_line_alone);
    taken.behind = of_line_alone.behind;
    taken.same_line = of_line_alone.same_line;
  }
}

std::string legal_kinds(const std::array<std::int64_t, kSources>& counts) {
  std::vector<std::string> kinds;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    if (counts[kind] > 0) kinds.push_back(fmt::format("{} ({})", kSourceNames[kind], counts[kind]));
  }
  return kinds.empty() ? "none" : fmt::format("{}", fmt::join(kinds, ", "));
}

// Errors: ConfigError.
Source kind_of(const MissChoice& choice, const MissSurvey& survey) {
  const std::array<std::int64_t, kSources> counts = survey.counts();
  const std::string where = choice.line.empty() ? "" : " on " + choice.line;
  if (std::ranges::all_of(counts, [](std::int64_t count) { return count == 0; })) {
    if (choice.line.empty()) throw ConfigError("no access has missed in the measured time");
    constexpr std::size_t kNamed = 12;
    std::vector<std::string> lines = survey.lines();
    const std::string meant = did_you_mean(choice.line, lines);
    const std::size_t more = lines.size() - std::min(lines.size(), kNamed);
    lines.resize(std::min(lines.size(), kNamed));
    throw ConfigError(fmt::format("--line {}: no access to it has missed in the measured time; lines that have: {}{}{}",
                                  choice.line, fmt::join(lines, ", "), more > 0 ? fmt::format(" and {} more", more) : "",
                                  meant));
  }
  if (!choice.kind) return survey.costliest();
  if (counts[ordinal(*choice.kind)] > 0) return *choice.kind;
  throw ConfigError(fmt::format("--miss {}: no miss of this kind{} in the measured time; there are: {}",
                                kSourceNames[ordinal(*choice.kind)], where, legal_kinds(counts)));
}

std::string time_text(Tick ticks, double ns_per_tick) {
  const double ns = static_cast<double>(ticks) * ns_per_tick;
  return ns < 10'000 ? fmt::format("{:.1f} ns", ns) : fmt::format("{:.2f} us", ns / 1000);
}

std::string plural(int count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "14 requests, 3 of them for the same line,"
std::string behind_text(const TakenStage& taken, std::string_view noun) {
  const int n = taken.behind;
  const std::string count = plural(n, noun);
  if (taken.same_line == n) return count + " for the same line";
  if (taken.same_line == 0) return count + (n == 1 ? " for another line" : " for other lines");
  return fmt::format("{}, {} of them for the same line,", count, taken.same_line);
}

std::string name_of(const Stage& stage, bool waits) {
  using What = Stage::What;
  using Kind = Endpoint::Kind;
  switch (stage.what) {
    case What::core: return waits ? "MSHR" : "look-up";
    case What::bus: return "bus arbitration";
    case What::snoop: return "snoop";
    case What::line:
    case What::stalled: return "line in use";
    case What::supply:
      if (stage.at.kind == Kind::cache) return "owner's response";
      return stage.at.kind == Kind::controller || stage.at.kind == Kind::group ? "controller's cache" : "memory";
    case What::data_bus:
    case What::transfer: return "data transfer";
    case What::response: return "response";
    case What::given_up: return "invalidations";
    case What::fill: return "fill";
    case What::pass: return stage.at.kind == Kind::directory ? "directory" : "controller";
    case What::deferred:
    case What::inbox: return "controller";
    case What::answers: return "all answers";
    case What::outlet: return "way in the group";
    case What::crossing: return "node's exit";
    case What::link: return "link";
    case What::turn: return "directory";
  }
  return "";
}

// "node 3". A crossbar's links end in its switch, which is not a node.
std::string node_name(int number, const Endpoints& endpoints) {
  return endpoints.has({Endpoint::Kind::directory, number}) ? fmt::format("node {}", number) : "the switch";
}

std::string resource_of(const Stage& stage, const Endpoints& endpoints) {
  if (stage.at.kind != Endpoint::Kind::directory) return endpoints.label(stage.at);
  const int node = stage.at.number;
  switch (stage.what) {
    case Stage::What::link:
      return fmt::format("the link from {} to {}", node_name(node, endpoints), node_name(stage.peer, endpoints));
    case Stage::What::crossing: return fmt::format("node {}'s exit", node);
    case Stage::What::inbox: return fmt::format("node {}'s controllers", node);
    case Stage::What::supply: return fmt::format("node {}'s memory", node);
    default: return fmt::format("node {}'s directory", node);
  }
}

// The reason that follows "waits 640 ns".
std::string wait_reason(const TakenStage& taken, const std::string& at) {
  using What = Stage::What;
  switch (taken.stage.what) {
    case What::core: return "for a free MSHR, or for an earlier access of the core, in " + at;
    case What::bus: return "behind " + behind_text(taken, "request") + " for the address phase of " + at;
    case What::snoop: return "behind the snoop of " + behind_text(taken, "request") + " on " + at;
    case What::line:
      if (taken.behind == 0) return "until the cache on " + at + " that has the line ends its own access";
      return "until " + behind_text(taken, "earlier request") + " on " + at + (taken.behind == 1 ? " has" : " have") +
             " had it";
    case What::supply: return "for a bank or channel of " + at;
    case What::data_bus:
      if (taken.behind == 0) return "for the turnaround of the data lines of " + at;
      return "behind " + behind_text(taken, "transfer") + " on the data lines of " + at;
    case What::turn: return "behind " + behind_text(taken, "request") + " at " + at;
    case What::outlet: return "because messages from " + at + " keep their order";
    case What::deferred: return "while " + at + " works on another request of its bus for the line";
    case What::stalled: return "until an earlier transaction of the line is over at " + at;
    default: return "behind " + behind_text(taken, "message") + " at " + at;
  }
}

}  // namespace

std::optional<Source> source_called(std::string_view name) {
  std::string plain(name);
  std::ranges::transform(plain, plain.begin(), [](unsigned char c) { return c == ' ' || c == '-' ? '_' : std::tolower(c); });
  if (plain == "local_hitm") return Source::local_c2c;
  if (plain == "remote_hitm") return Source::remote_c2c;
  for (std::size_t kind = 0; kind < kSourceNames.size(); ++kind) {
    if (plain == kSourceNames[kind]) return static_cast<Source>(kind);
  }
  return std::nullopt;
}

std::string title_of(Source source) {
  switch (source) {
    case Source::local_c2c: return "local HITM (local_c2c: another cache of the node)";
    case Source::remote_c2c: return "remote HITM (remote_c2c: a cache of another node)";
    case Source::local_memory: return "local memory (of the requester's node)";
    case Source::remote_memory: return "remote memory (of another node)";
    case Source::node_cache: return "node cache (what the bus's controller keeps)";
    case Source::upgrade: return "upgrade (only the right to write was missing)";
  }
  return "";
}

Tick ExplainedMiss::queued() const {
  Tick sum = 0;
  for (const TakenStage& taken : stages) sum += taken.stage.queued;
  return sum;
}

ExplainedMisses explain_misses(const SimulationInput& input, const MissChoice& choice,
                               const std::function<void(double)>& progress) {
  const auto pass = [&progress](int number) -> std::function<void(double)> {
    if (!progress) return {};
    return [&progress, number](double share) { progress((number + share) / 2); };
  };
  MissSurvey survey(input, choice.line);
  simulate_with(survey, input, pass(0));
  ExplainedMisses out{.kind = kind_of(choice, survey), .counts = survey.counts()};
  for (const int percentile : choice.percentiles)
    out.misses.push_back({.percentile = percentile, .miss = survey.at_percentile(out.kind, percentile)});
  StageRecorder recorder(input, out);
  simulate_with(recorder, input, pass(1));
  return out;
}

std::vector<WaterfallRow> waterfall(const ExplainedMiss& miss, const Endpoints& endpoints, double ns_per_tick) {
  std::vector<WaterfallRow> rows;
  for (const TakenStage& taken : miss.stages) {
    const Stage& stage = taken.stage;
    const std::string at = resource_of(stage, endpoints);
    const Tick start = stage.from - miss.miss.issued;
    const Tick travel = stage.to - stage.from - stage.queued;
    if (stage.queued > 0) {
      rows.push_back({.name = name_of(stage, true),
                      .at = at,
                      .waits = true,
                      .start = start,
                      .ticks = stage.queued,
                      .behind = taken.behind,
                      .same_line = taken.same_line,
                      .asks_again = stage.what == Stage::What::deferred,
                      .text = fmt::format("waits {} {}", time_text(stage.queued, ns_per_tick), wait_reason(taken, at))});
    }
    if (travel > 0) rows.push_back({.name = name_of(stage, false), .at = at, .start = start + stage.queued, .ticks = travel});
  }
  return rows;
}

std::vector<WaterfallRow> folded(const std::vector<WaterfallRow>& rows) {
  constexpr std::size_t kRoundsInFull = 3;
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].asks_again) ends.push_back(i + 1);
  }
  if (ends.size() <= kRoundsInFull) return rows;
  const std::size_t first = ends.front(), behind = ends[ends.size() - 2];
  const auto at = [&rows](std::size_t row) { return rows.begin() + static_cast<std::ptrdiff_t>(row); };
  std::vector<WaterfallRow> sums;
  for (auto row = at(first); row != at(behind); ++row) {
    const auto found = std::ranges::find_if(sums, [&row](const WaterfallRow& sum) {
      return sum.name == row->name && sum.at == row->at && sum.waits == row->waits;
    });
    if (found == sums.end()) {
      sums.push_back(*row);
    } else {
      found->ticks += row->ticks;
    }
  }
  for (WaterfallRow& sum : sums) sum.name += fmt::format(", rounds 2 to {}", ends.size() - 1);
  std::vector<WaterfallRow> out(rows.begin(), at(first));
  out.insert(out.end(), sums.begin(), sums.end());
  out.insert(out.end(), at(behind), rows.end());
  return out;
}

}  // namespace linebounce::sim
