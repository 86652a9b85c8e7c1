#include "workloads/replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

#include "trace/word_locks.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/parameter_binder.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/replay/homes_text.hpp"
#include "workloads/replay/player.hpp"
#include "workloads/replay/thread_map.hpp"
#include "workloads/replay/written_sections.hpp"

namespace linebounce::workloads {

namespace {

constexpr const char* kRecorded = "recorded";
constexpr const char* kDefault = "default";
constexpr int kTally = 0;

// For what a recorded program had (linebounce-record's names): the lock of ours that does most nearly the same. glibc's
// pthread_spin_lock tries once, then reads until the lock looks free. std::shared_mutex is a pthread_rwlock.
constexpr std::array<std::pair<const char*, const char*>, 3> kNearest = {
    {{"pthread_rwlock", "rwlock"}, {"pthread_spin", "ttas"}, {trace::kUncontended, "ttas"}}};
constexpr const char* kOtherwise = "mutex";

bool is_ours(const std::string& algorithm) {
  const auto entries = all_locks();
  return std::any_of(entries.begin(), entries.end(), [&](const LockEntry& entry) { return entry.name == algorithm; });
}

struct ReplayOptions {
  std::string trace;  // comes as WorkloadSetup::trace
  std::string threads = "one_each";
  std::string placement = kRecorded;
  bool recover = false;  // is for who opens the trace
  std::uint64_t order = 0;
  std::uint64_t heap_shift = 0;
  std::map<std::string, std::string> locks = {{kDefault, kRecorded}};  // the algorithm, by lock

  void bind(ParameterBinder& parameters) {
    std::vector<std::string> algorithms = lock_names([](auto&) { return true; });
    algorithms.insert(algorithms.begin(), kRecorded);
    parameters.text("trace", trace, "the file of the trace");
    parameters.text("threads", threads,
                    "on which CPUs its threads run: one_each, round_robin, block, or the CPU of each: \"0 0 1 1\"");
    parameters.text("placement", placement, "where its objects are: as recorded, or all by one policy",
                    {kRecorded, "first_touch", "interleaved", "local"});
    parameters.flag("recover", recover, "replays what comes before the first damage of a damaged trace");
    parameters.number("order", order, 0, 1e6,
                      "0: the recorded order of operations; each other number is another order: every thread's beginning, "
                      "acquisition of a lock and atomic operation comes 0 to 15 cycles later, as this number's random series "
                      "has it");
    parameters.number(
        "heap_shift", heap_shift, 0, 4096,
        "bytes by which blocks from malloc lie behind where they lay in the recorded run; a real heap moves by 16, "
        "32 and so on");
    parameters.texts("locks.", locks,
                     "algorithm of its locks; of one alone: workload.locks.NAME. recorded: as it was; of what is not ours the "
                     "nearest: rwlock for pthread_rwlock, ttas for pthread_spin, else mutex",
                     algorithms);
    parameters.names_lock([](const LockTraits&) { return std::string(); });  // whether one suits a recorded lock is known later
  }
};

class Replay final : public Workload {
 public:
  explicit Replay(const Parameters& parameters) : options_(read_options<ReplayOptions>(parameters)) {}

  [[nodiscard]] bool ends() const override { return true; }

  void set_up(const WorkloadSetup& setting) override {
    if (setting.trace == nullptr) throw std::invalid_argument("workload.trace: the trace to replay is missing");
    trace_ = setting.trace;
    locks_in_use_ = &setting.locks;
    const trace::Symbols& symbols = trace_->symbols();
    ThreadMap map = map_threads(symbols, options_.threads, setting.machine.cpus, setting.trace->file().string());
    refuse_unknown_locks(symbols);
    const ReplayPlaces::Choices choices{.algorithm_of = [this](const trace::Lock& lock) { return algorithm_of(lock); },
                                        .home_of = [this](const trace::Object& object) { return home(object); },
                                        .heap_shift = options_.heap_shift};
    places_.emplace(symbols, setting, choices);
    context_.emplace(ReplayContext{.trace = *setting.trace,
                                   .places = *places_,
                                   .locks = setting.locks,
                                   .cpu_of = std::move(map.cpu_of),
                                   .order = options_.order,
                                   .differences = {}});
    context_->differences.resize(map.streams.size());
    for (std::size_t cpu = 0; cpu < map.streams.size(); ++cpu)
      cpus_.push_back(std::make_unique<ReplayCpu>(*context_, static_cast<int>(cpu), std::move(map.streams[cpu])));
    for (std::uint32_t stream = 0; stream < symbols.streams.size(); ++stream) {
      const trace::Stream& handlers = symbols.streams[stream];
      if (handlers.vector < 0) continue;
      const int cpu = context_->cpu_of.at(static_cast<std::size_t>(handlers.cpu));
      cpus_[static_cast<std::size_t>(cpu)]->add_handlers(handlers.vector, stream);
    }
  }

  void run(Cpu& cpu) override { cpus_[static_cast<std::size_t>(cpu.id().value)]->run(cpu); }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    ReplayContext::Differences all;
    std::int64_t left = 0;
    for (const ReplayContext::Differences& one : context_ ? context_->differences : std::vector<ReplayContext::Differences>()) {
      all.operations += one.operations;
      all.measured_operations += one.measured_operations;
      all.tallies += one.tallies;
      all.tries += one.tries;
      all.reads_again += one.reads_again;
      all.handlers_missing += one.handlers_missing;
    }
    for (const auto& cpu : cpus_) left += cpu->handlers_left();
    metrics.count("replay.operations", "", kNeither,
                  "operations of the trace that were executed, from the start of the run; each of an operation's repeats "
                  "counts, where `trace info` counts them as one",
                  all.operations);
    metrics.count("replay.tries_otherwise", "", kLower, "attempts on a lock with another outcome than recorded", all.tries);
    metrics.count("replay.reads_again", "", kNeither, "sections of readers that were read again", all.reads_again);
    metrics.count("replay.handlers_missing", "", kLower, "interrupts for which the trace had no handler any more",
                  all.handlers_missing);
    metrics.count("replay.handlers_left", "", kLower, "handlers for which no interrupt came", left);
    const auto over = first_over();
    metrics.value("replay.first_thread_over_us", "us", kNeither,
                  "from the start of the run, when the first thread ran out of operations",
                  over ? std::optional(facts.to_ns(*over) / 1000) : std::nullopt);
    report_speed(facts, all, metrics);
  }

 private:
  // Of the workload's own events where it was one that counts them; else of the trace's operations. Over the whole measured
  // time, also where threads have ended before. What took no time, as entering a function, has no speed.
  static void report_speed(const RunFacts& facts, const ReplayContext::Differences& all, MetricSink& metrics) {
    if (facts.measured_ns <= 0) return;
    if (all.tallies == 0) return report_rate(facts, all.measured_operations, metrics);
    report_throughput(facts, kTally, metrics);
  }

  // When the first thread had no operations any more.
  [[nodiscard]] std::optional<Tick> first_over() const {
    std::optional<Tick> first;
    for (const auto& cpu : cpus_) {
      for (const ReplayThread& thread : cpu->threads()) {
        if (thread.ended && (!first || thread.ended_at < *first)) first = thread.ended_at;
      }
    }
    return first;
  }

  // What a lock can be chosen by, its own name first, last the one that it has in the results.
  static std::vector<std::string> names_of(const trace::Lock& lock) {
    return {lock.name, lock.counted_as(), name_in_figures(lock.counted_as())};
  }

  [[nodiscard]] std::string algorithm_of(const trace::Lock& lock) const {
    std::string chosen = kDefault;
    for (const std::string& name : names_of(lock)) {
      if (chosen == kDefault && options_.locks.contains(name)) chosen = name;
    }
    const std::string& algorithm = options_.locks.at(chosen);
    if (algorithm == kRecorded) return recorded_algorithm(lock);
    const std::string reason = why_no_substitute(lock, locks_in_use_->find(algorithm), [&] { return has_writers(lock); });
    if (reason.empty()) return algorithm;
    throw std::invalid_argument(
        fmt::format("workload.locks.{}: {} can't take the place of {} here: {}", chosen, algorithm, lock.name, reason));
  }

  // Only who asks pays for a pass over the operations.
  [[nodiscard]] bool has_writers(const trace::Lock& lock) const {
    if (!with_writers_) with_writers_ = locks_with_writers(*trace_);
    return with_writers_->at(static_cast<std::size_t>(&lock - trace_->symbols().locks.data()));
  }

  void refuse_unknown_locks(const trace::Symbols& symbols) const {
    for (const auto& chosen : options_.locks) {
      const std::string& name = chosen.first;
      const bool known =
          name == kDefault || std::any_of(symbols.locks.begin(), symbols.locks.end(), [&](const trace::Lock& lock) {
            const std::vector<std::string> all = names_of(lock);
            return std::find(all.begin(), all.end(), name) != all.end();
          });
      if (known) continue;
      std::vector<std::string> names;
      for (const trace::Lock& lock : symbols.locks) {
        const std::string shown = names_of(lock).back();
        if (std::find(names.begin(), names.end(), shown) == names.end()) names.push_back(shown);
      }
      throw std::invalid_argument(
          fmt::format("workload.locks.{}: the trace has no lock of this name; it has: {}", name, fmt::join(names, ", ")));
    }
  }

  [[nodiscard]] std::optional<Home> home(const trace::Object& object) const {
    return options_.placement == kRecorded ? home_of(object.home) : home_of(options_.placement);
  }

  ReplayOptions options_;
  const trace::Reader* trace_ = nullptr;
  const LockSet* locks_in_use_ = nullptr;
  mutable std::optional<std::vector<bool>> with_writers_;  // by lock
  std::optional<ReplayPlaces> places_;
  std::optional<ReplayContext> context_;
  std::vector<std::unique_ptr<ReplayCpu>> cpus_;
};

}  // namespace

std::string why_no_substitute(const trace::Lock& recorded, const LockEntry& substitute,
                              const std::function<bool()>& has_writers) {
  if (substitute.name == recorded.algorithm) return "";
  const LockTraits& traits = substitute.traits;
  if (traits.sleeps && recorded.in_handlers) return "interrupt handlers take it, which can't sleep";
  if (traits.readers == Readers::never_wait && has_writers())
    return "its readers keep nobody out: writers would have to publish copies, and here they write in place";
  if (traits.readers == Readers::read_again && recorded.readers_write)
    return "its readers may have to read again, and here they write";
  return "";
}

std::string recorded_algorithm(const trace::Lock& lock) {
  if (is_ours(lock.algorithm)) return lock.algorithm;
  const auto nearest =
      std::find_if(kNearest.begin(), kNearest.end(), [&](const auto& it) { return it.first == lock.algorithm; });
  return nearest == kNearest.end() ? kOtherwise : nearest->second;
}

std::vector<ParameterDeclaration> replay_parameters() {
  return declare<ReplayOptions>();
}

std::uint64_t heap_shift_of(const Parameters& parameters) {
  return read_options<ReplayOptions>(parameters).heap_shift;
}

std::unique_ptr<Workload> make_replay(const Parameters& parameters) {
  return std::make_unique<Replay>(parameters);
}

}  // namespace linebounce::workloads
