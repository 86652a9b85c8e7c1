// Rounds of a litmus test. Everything that may matter to the outcome changes from round to round: which CPU runs which thread,
// on which node and line the variables are and in which caches, how far apart the threads start, how long they pause between
// operations, and what their store buffers hold already.
//
// A round: barrier; prepare the caches; wait for the common start; run the test; barrier; read last values, set them to 0.
#include "workloads/litmus/litmus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "workloads/litmus/reference.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kNotRun = -1;
constexpr int kVariableBytes = 8;
constexpr std::size_t kOtherLines = 32;
constexpr std::uint64_t kStoresBefore = 12;  // at most
constexpr int kDisturbances = 4;
// in units of the time in which a line is transferred
constexpr std::uint64_t kLongestStep = 3;
constexpr std::int64_t kReadersWait = 10;  // how long readers wait until owners have their lines, in units of a transfer's time
constexpr int kBarrier = 15;               // the longest time that a barrier takes for each CPU, in units of a transfer's time
constexpr int kFarther = 3;                // factor between nodes
enum Purpose : std::uint64_t { kPlans, kDelays };

// A round's parameters, the same for all CPUs.
struct Plan {
  std::vector<int> cpus;       // the CPU that runs each thread of the test
  std::vector<Address> words;  // by variable
  // By variable: the CPU that holds the line writable when the round begins, and that sets the variable to 0 at the end.
  std::vector<int> owners;
  // by variable: a bit for each of the first 64 CPUs, set if it loads the variable before the test
  std::vector<std::uint64_t> readers;
  std::uint64_t spread = 1;  // delays are smaller than this, in cycles
  std::uint64_t step = 0;    // cycles between the starts of two threads; 0 if all start at about the same time
  std::uint64_t busy = 0;    // one bit for each thread, set if its store buffer holds stores when the test begins
};

class Litmus final : public Workload {
 public:
  Litmus(const LitmusTest& test, std::int64_t rounds, LitmusOrigin origin, LitmusJudge judge)
      : test_(test), rounds_(rounds), origin_(origin), judge_(judge) {}

  [[nodiscard]] bool ends() const override { return true; }
  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  void find_outcomes();
  [[nodiscard]] Plan make_plan(std::size_t round) const;
  void place_variables(Plan& plan, Random& random) const;
  [[nodiscard]] std::size_t first_writer(int variable) const;
  void prepare_caches(Cpu& cpu, const Plan& plan) const;
  void wait_for_start(Cpu& cpu) const;
  void run_thread(Cpu& cpu, const Plan& plan, std::size_t thread, std::size_t round, Random& random);
  void disturb(Cpu& cpu, const Plan& plan, Random& random) const;
  void store_elsewhere(Cpu& cpu, Random& random) const;
  void run_statement(Cpu& cpu, const Plan& plan, const LitmusStatement& statement, std::size_t round,
                     std::vector<Value>& registers);
  void clean_up(Cpu& cpu, const Plan& plan, std::size_t round);
  void note(std::size_t round, std::size_t place, Value value) { outcomes_[round][place] = static_cast<int>(value); }

  const LitmusTest test_;
  std::size_t rounds_;
  LitmusOrigin origin_;
  LitmusJudge judge_;
  // The outcomes that the judge, or else the machine, allows, and those of interleavings. None: not known.
  std::optional<std::set<LitmusOutcome>> allowed_, sequential_;
  int cpus_ = 0;
  double cycles_per_ns_ = 1;
  std::uint64_t transfer_ = 1;  // in cycles: about the time to transfer a line
  double period_ns_ = 0;        // rounds start at multiples of this time
  std::uint64_t seed_ = 0;
  Consistency consistency_ = Consistency::sc;
  std::vector<std::vector<Address>> words_;  // by place, then by variable
  Address other_lines_ = 0;
  Address line_ = 0;
  Barrier barrier_;
  std::vector<LitmusOutcome> outcomes_;  // by round; each CPU writes its own part
};

void Litmus::set_up(const WorkloadSetup& setting) {
  cpus_ = setting.machine.cpus;
  const auto threads = static_cast<int>(test_.threads.size());
  if (cpus_ < threads) {
    throw std::invalid_argument(fmt::format("workload litmus: test {} has {} threads, the machine has {} {}", test_.name,
                                            threads, cpus_, cpus_ == 1 ? "CPU" : "CPUs"));
  }
  seed_ = setting.seed;
  consistency_ = setting.machine.cpu.consistency;
  find_outcomes();
  const Frequency& clock = setting.machine.cpu.clock;
  cycles_per_ns_ = static_cast<double>(clock.numerator_mhz) / static_cast<double>(clock.denominator) / 1000;
  const double transfer_ns = std::max(10.0, setting.machine.memory.latency_ns) * (setting.layout.nodes() > 1 ? kFarther : 1);
  transfer_ = static_cast<std::uint64_t>(transfer_ns * cycles_per_ns_) + 1;
  period_ns_ = kBarrier * transfer_ns * std::max(8, cpus_);
  AddressSpace& memory = setting.memory;
  line_ = static_cast<Address>(memory.line_bytes());
  for (const int node : setting.layout.nodes_with_memory) {
    std::vector<Address> apart;
    for (int variable = 0; variable < test_.variables; ++variable) {
      const std::string name = fmt::format("{}[{}]", kLitmusVariables[variable], node);
      apart.push_back(memory.place_array(name, memory.line_bytes(), Home::on(node)));
    }
    words_.push_back(apart);
    const Address together =
        memory.place_array(fmt::format("together[{}]", node), kVariableBytes * test_.variables, Home::on(node));
    words_.emplace_back();
    for (int variable = 0; variable < test_.variables; ++variable) {
      words_.back().push_back(together + static_cast<Address>(kVariableBytes * variable));
    }
  }
  other_lines_ = memory.place_array("other_lines", static_cast<std::int64_t>(kOtherLines) * memory.line_bytes());
  barrier_ = Barrier(memory, "round", cpus_);
  outcomes_.assign(rounds_, LitmusOutcome(test_.registers + test_.last_values.size(), kNotRun));
}

// Returns nothing if there are too many orders to try.
template <class Find>
std::optional<std::set<LitmusOutcome>> if_few_orders(const Find& find) {
  try {
    return find();
  } catch (const TooManyOrders&) {
    return std::nullopt;
  }
}

void Litmus::find_outcomes() {
  sequential_ = if_few_orders([this] { return allowed_outcomes(test_, Consistency::sc); });
  if (judge_ == LitmusJudge::none) {
    allowed_ = if_few_orders([this] { return machine_outcomes(test_, consistency_); });
    return;
  }
  try {
    allowed_ = allowed_outcomes(test_, consistency_);
  } catch (const TooManyOrders& many) {
    throw std::invalid_argument(
        fmt::format("workload.threads: to judge this test, all its orders under {} would be tried, and they have {}; "
                    "workload.judge=none only counts outcomes",
                    word_of(consistency_), many.what()));
  }
}

Plan Litmus::make_plan(std::size_t round) const {
  const std::array<std::uint64_t, 4> spreads = {1, transfer_ / 8 + 1, transfer_, 5 * transfer_};
  Random random(seed_, round, kPlans);
  const auto cpus = static_cast<std::uint64_t>(cpus_);
  Plan plan;
  plan.cpus.resize(cpus);
  std::iota(plan.cpus.begin(), plan.cpus.end(), 0);
  for (std::uint64_t i = 0; i < test_.threads.size(); ++i) std::swap(plan.cpus[i], plan.cpus[i + random.below(cpus - i)]);
  place_variables(plan, random);
  plan.spread = spreads[random.below(spreads.size())];
  const bool in_turn = random.below(2) == 0;
  plan.step = in_turn ? random.below(kLongestStep * transfer_) : 0;
  const bool one_is_busy = random.below(2) == 0;
  const std::uint64_t any = random.next();
  plan.busy = one_is_busy ? std::uint64_t{1} << any % test_.threads.size() : any;
  return plan;
}

// Places the variables either together, or each on lines of its own, on any node. Usually a CPU that writes a variable has it
// in its cache first; other CPUs may then have it, too.
void Litmus::place_variables(Plan& plan, Random& random) const {
  const std::uint64_t nodes = words_.size() / 2;
  const bool together = random.below(4) == 0;
  std::uint64_t node = random.below(nodes);
  for (int variable = 0; variable < test_.variables; ++variable) {
    if (!together) node = random.below(nodes);
    plan.words.push_back(words_[2 * node + (together ? 1 : 0)][variable]);
    const bool writer_owns = random.below(2) == 0;
    const std::uint64_t any = random.below(plan.cpus.size());
    plan.owners.push_back(plan.cpus[writer_owns ? first_writer(variable) : any]);
    const std::uint64_t readers = random.below(3);
    const std::uint64_t some = random.next();
    plan.readers.push_back(readers == 0 ? 0 : readers == 1 ? some : ~std::uint64_t{0});
  }
}

// The first thread that writes the variable; 0 if none does.
std::size_t Litmus::first_writer(int variable) const {
  const auto writes = [variable](const LitmusStatement& s) { return s.writes() && s.variable == variable; };
  const auto writer = std::find_if(test_.threads.begin(), test_.threads.end(),
                                   [&writes](const auto& thread) { return std::any_of(thread.begin(), thread.end(), writes); });
  return writer == test_.threads.end() ? 0 : writer - test_.threads.begin();
}

void Litmus::run(Cpu& cpu) {
  const int me = cpu.id().value;
  for (std::size_t round = 0; round < rounds_; ++round) {
    const Plan plan = make_plan(round);
    Random random(seed_ + round, static_cast<std::uint64_t>(me), kDelays);
    barrier_.wait(cpu);
    prepare_caches(cpu, plan);
    wait_for_start(cpu);
    const std::size_t thread = std::find(plan.cpus.begin(), plan.cpus.end(), me) - plan.cpus.begin();
    if (thread < test_.threads.size()) {
      run_thread(cpu, plan, thread, round, random);
    } else {
      disturb(cpu, plan, random);
    }
    barrier_.wait(cpu);
    clean_up(cpu, plan, round);
  }
}

// Brings the round's words into caches without writing them, so that a CPU that is late can't disturb the round.
void Litmus::prepare_caches(Cpu& cpu, const Plan& plan) const {
  const int me = cpu.id().value;
  for (std::size_t variable = 0; variable < plan.words.size(); ++variable) {
    if (plan.owners[variable] == me) cpu.prefetch(plan.words[variable], kWriteAccess);
  }
  cpu.compute(kReadersWait * static_cast<std::int64_t>(transfer_));
  for (std::size_t variable = 0; variable < plan.words.size(); ++variable) {
    if ((plan.readers[variable] >> (me % 64) & 1) != 0) cpu.load(plan.words[variable]);
  }
}

// Waits for the next multiple of a period that is normally long enough for all CPUs to leave the barrier. If it is too short,
// some threads start late, as they do in rounds with different starting times.
void Litmus::wait_for_start(Cpu& cpu) const {
  const double now = cpu.now_ns();
  const double wait_ns = period_ns_ - std::fmod(now, period_ns_);
  cpu.compute(static_cast<std::int64_t>(wait_ns * cycles_per_ns_));
}

void Litmus::run_thread(Cpu& cpu, const Plan& plan, std::size_t thread, std::size_t round, Random& random) {
  std::vector<Value> registers(test_.registers);
  const std::uint64_t delay = plan.step == 0 ? random.below(plan.spread) : thread * plan.step;
  cpu.compute(static_cast<std::int64_t>(delay));
  const std::uint64_t stores_before = (plan.busy >> thread & 1) != 0 ? random.below(kStoresBefore) + 1 : 0;
  for (std::uint64_t i = 0; i < stores_before; ++i) store_elsewhere(cpu, random);
  for (const LitmusStatement& statement : test_.threads[thread]) {
    const bool pauses = random.below(4) == 0;
    const std::uint64_t pause = pauses ? random.below(plan.spread) : 0;
    cpu.compute(static_cast<std::int64_t>(pause));
    run_statement(cpu, plan, statement, round, registers);
  }
}

// Run by CPUs that have no thread of the test: keeps the bus and other lines busy.
void Litmus::disturb(Cpu& cpu, const Plan& plan, Random& random) const {
  for (int i = 0; i < kDisturbances; ++i) {
    const std::uint64_t pause = random.below(plan.spread);
    cpu.compute(static_cast<std::int64_t>(pause));
    store_elsewhere(cpu, random);
  }
}

void Litmus::store_elsewhere(Cpu& cpu, Random& random) const {
  const std::uint64_t line = random.below(kOtherLines);
  cpu.store(other_lines_ + line * line_, 1);
}

void Litmus::run_statement(Cpu& cpu, const Plan& plan, const LitmusStatement& statement, std::size_t round,
                           std::vector<Value>& registers) {
  using Kind = LitmusStatement::Kind;
  if (statement.kind == Kind::fence) return cpu.fence();
  const Address word = plan.words[statement.variable];
  const Value value =
      statement.value_from == LitmusStatement::kNone ? static_cast<Value>(statement.value) : registers[statement.value_from];
  if (statement.kind == Kind::store) return statement.ordered ? cpu.store_release(word, value) : cpu.store(word, value);
  if (statement.kind == Kind::await) {
    cpu.spin_until_acquire(word, [value](Value found) { return found == value; });
    return;
  }
  const Value read = statement.kind == Kind::exchange ? cpu.exchange(word, value)
                     : statement.ordered              ? cpu.load_acquire(word)
                                                      : cpu.load(word);
  registers[statement.target] = read;
  note(round, statement.target, read);
}

// The barrier before this has waited for all stores, so every store is in a cache by now.
void Litmus::clean_up(Cpu& cpu, const Plan& plan, std::size_t round) {
  for (std::size_t variable = 0; variable < plan.words.size(); ++variable) {
    if (plan.owners[variable] != cpu.id().value) continue;
    const auto looked_at = std::ranges::find(test_.last_values, static_cast<int>(variable));
    const Value last = cpu.load(plan.words[variable]);
    if (looked_at != test_.last_values.end()) {
      note(round, test_.registers + (looked_at - test_.last_values.begin()), last);
    }
    cpu.store(plan.words[variable], 0);
  }
}

void Litmus::report(const RunFacts&, MetricSink& metrics) const {
  std::map<LitmusOutcome, std::int64_t> seen;
  // Declares the outcomes that the weakest model allows, so that all points of a sweep have the same metrics. Trying all
  // orders for that model can take too long for a user's test, which declares those of the run's own model. Without a run, only
  // the declarations matter.
  const bool of_weakest = origin_ == LitmusOrigin::catalogue && !outcomes_.empty();
  for (const LitmusOutcome& outcome :
       of_weakest ? allowed_outcomes(test_, Consistency::ia64) : allowed_.value_or(std::set<LitmusOutcome>()))
    seen[outcome] = 0;
  for (const LitmusOutcome& outcome : outcomes_) {
    if (std::ranges::find(outcome, kNotRun) == outcome.end()) ++seen[outcome];
  }
  std::int64_t rounds = 0;
  std::int64_t asked = 0;
  std::int64_t relaxed = 0;
  std::int64_t forbidden = 0;
  const MetricFamily seen_outcomes =
      metrics.family("litmus.seen.<outcome...>", "", kNeither,
                     "rounds that ended so; `r0_1.r1_0` is r0 = 1, r1 = 0. Every outcome that `ia64` allows has one");
  for (const auto& [outcome, count] : seen) {
    seen_outcomes.add({test_.outcome_name(outcome)}, count);
    rounds += count;
    if (test_.asks_for(outcome)) asked += count;
    if (sequential_ && !sequential_->contains(outcome)) relaxed += count;
    if (allowed_ && !allowed_->contains(outcome)) forbidden += count;
  }
  metrics.count("litmus.rounds", "", kNeither, "all rounds", rounds);
  metrics.count("litmus.asked", "", kNeither, "rounds that ended as the test asks", asked);
  metrics.count("litmus.relaxed", "", kNeither, "rounds that no interleaving of the operations explains",
                sequential_ ? std::optional(relaxed) : std::nullopt);
  metrics.count("litmus.forbidden", "", kLower, "rounds that the machine's model forbids; not with `workload.judge=none`",
                judge_ == LitmusJudge::machine ? std::optional(forbidden) : std::nullopt);
}

struct LitmusOptions {
  std::string test = "mp";
  std::string threads;
  std::string asks;
  std::string judge = "machine";
  std::int64_t rounds = 2000;

  void bind(ParameterBinder& parameters) {
    std::vector<std::string> names;
    for (const LitmusText& known : litmus_texts()) names.emplace_back(known.name);
    parameters.text("test", test, "which litmus test", names);
    parameters.text("threads", threads,
                    "another test instead: its threads, as \"x = 1; r0 = y || y = 1; r1 = x\"; `linebounce import FILE.litmus` "
                    "writes it; empty: none");
    parameters.text("asks", asks, "what that test asks about, as \"r0=0 r1=0\"");
    parameters.text("judge", judge,
                    "whose rules say which outcomes are forbidden: the machine's; or none, for a test of another architecture",
                    {kLitmusJudges.begin(), kLitmusJudges.end()});
    parameters.number("rounds", rounds, 1, 1e7, "how often it runs, each time under other conditions");
  }
};

}  // namespace

WorkloadEntry litmus_workload() {
  return {"litmus",
          "A litmus test of memory ordering, repeated: which outcomes appear",
          declare<LitmusOptions>(),
          [](const Parameters& parameters) -> std::unique_ptr<Workload> {
            const auto options = read_options<LitmusOptions>(parameters);
            const bool is_known = options.threads.empty();
            const LitmusJudge judge = options.judge == kLitmusJudges[0] ? LitmusJudge::machine : LitmusJudge::none;
            return make_litmus(is_known ? find_litmus_test(options.test) : litmus_test_of(options.threads, options.asks),
                               options.rounds, is_known ? LitmusOrigin::catalogue : LitmusOrigin::user, judge);
          },
          {{"litmus.rounds", "rounds"}, {"litmus.relaxed", "relaxed"}, {"litmus.forbidden", "forbidden"}}};
}

std::unique_ptr<Workload> make_litmus(const LitmusTest& test, std::int64_t rounds, LitmusOrigin origin, LitmusJudge judge) {
  return std::make_unique<Litmus>(test, rounds, origin, judge);
}

std::set<LitmusOutcome> machine_outcomes(const LitmusTest& test, Consistency model) {
  if (model == Consistency::sc) return allowed_outcomes(test, model);
  return outcomes_with_store_buffers(test, model == Consistency::tso);
}

}  // namespace linebounce::workloads
