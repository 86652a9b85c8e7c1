#include "workloads/replay/replay.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "models/machine/index_bits.hpp"
#include "trace/error.hpp"
#include "trace/symbols.hpp"
#include "trace/word_locks.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload_entry.hpp"
#include "workloads/replay/places.hpp"
#include "workloads/replay/player.hpp"
#include "workloads/replay/section_facts.hpp"

namespace linebounce::workloads {
namespace {

struct ThreadMap {
  std::vector<std::vector<std::uint32_t>> streams;  // by CPU: its threads, in the order of the trace
  std::vector<int> cpu_of;                          // by a recorded CPU's number
};

std::vector<std::uint32_t> threads_of(const trace::Symbols& symbols) {
  std::vector<std::uint32_t> threads;
  for (std::uint32_t stream = 0; stream < symbols.streams.size(); ++stream) {
    if (symbols.streams[stream].vector < 0) threads.push_back(stream);
  }
  return threads;
}

std::vector<int> read_list(const std::string& text, std::size_t threads, int cpus) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument(fmt::format(
        "workload.threads: \"{}\" {}; legal: one_each, round_robin, block, or {} numbers below {}, the CPU of each thread",
        text, why, threads, cpus));
  };
  std::vector<int> list;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    int cpu = -1;
    const char* const end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data(), end, cpu);
    if (error != std::errc{} || rest != end) refuse("is none of these");
    if (cpu < 0 || cpu >= cpus) refuse(fmt::format("has CPU {}, and the machine has {}", cpu, cpus));
    list.push_back(cpu);
  }
  if (list.size() != threads) refuse(fmt::format("has {} numbers", list.size()));
  return list;
}

std::vector<int> cpus_of(const std::string& text, std::size_t threads, int cpus, const std::string& file) {
  std::vector<int> list(threads);
  if (text == "one_each") {
    if (threads > static_cast<std::size_t>(cpus)) {
      throw trace::TraceError(
          fmt::format("{}: the trace has {} threads and the machine {} CPUs; give it more (machine.cpus), or fold the threads: "
                      "workload.threads "
                      "= \"round_robin\", \"block\", or the CPU of each thread, as in \"0 0 1 1\"",
                      file, threads, cpus));
    }
    for (std::size_t i = 0; i < threads; ++i) list[i] = static_cast<int>(i);
  } else if (text == "round_robin") {
    for (std::size_t i = 0; i < threads; ++i) list[i] = static_cast<int>(i % static_cast<std::size_t>(cpus));
  } else if (text == "block") {
    const std::size_t used = std::min(threads, static_cast<std::size_t>(cpus));
    for (std::size_t i = 0; i < threads; ++i) list[i] = static_cast<int>(i * used / threads);
  } else {
    return read_list(text, threads, cpus);
  }
  return list;
}

// Refuses a CPU on which handlers ran but no thread: handlers need a thread to interrupt.
void refuse_homeless_handlers(const trace::Symbols& symbols, const std::string& file) {
  std::set<int> cpus;
  for (const std::uint32_t thread : threads_of(symbols)) {
    if (const int cpu = symbols.streams[thread].cpu; cpu >= 0) cpus.insert(cpu);
  }
  for (const trace::Stream& handlers : symbols.streams) {
    if (handlers.vector < 0 || cpus.contains(handlers.cpu)) continue;
    throw trace::TraceError(fmt::format("{}: {} has interrupt handlers of CPU {}, on which no thread ran; legal: {}", file,
                                        handlers.name, handlers.cpu,
                                        cpus.empty() ? "none" : fmt::format("{}", fmt::join(cpus, ", "))));
  }
}

bool shares_a_cpu(const std::vector<int>& list) {
  return std::set(list.begin(), list.end()).size() < list.size();
}

trace::TraceError interrupts_of_their_own(const std::string& file, std::size_t threads) {
  return trace::TraceError(
      fmt::format("{}: its threads are CPUs with interrupts of their own, which cannot share one: give each its own, with {} "
                  "CPUs or more (machine.cpus)",
                  file, threads));
}

// `text`: one_each, round_robin, block, or the CPU of each thread: "0 0 1 1". `file`: the trace, for messages.
// Errors: trace::TraceError for more threads than CPUs with one_each, and for threads that cannot share a CPU;
// std::invalid_argument for a text that fits neither trace nor machine.
ThreadMap map_threads(const trace::Symbols& symbols, const std::string& text, int cpus, const std::string& file) {
  refuse_homeless_handlers(symbols, file);
  const std::vector<std::uint32_t> threads = threads_of(symbols);
  const bool handlers = threads.size() < symbols.streams.size();
  if (handlers && threads.size() > static_cast<std::size_t>(cpus)) throw interrupts_of_their_own(file, threads.size());
  const std::vector<int> list = cpus_of(text, threads.size(), cpus, file);
  if (handlers && shares_a_cpu(list)) throw interrupts_of_their_own(file, threads.size());
  ThreadMap map;
  map.streams.resize(cpus);
  for (std::size_t i = 0; i < threads.size(); ++i) {
    map.streams[list[i]].push_back(threads[i]);
    const int recorded = symbols.streams[threads[i]].cpu;
    if (recorded < 0) continue;
    if (std::ssize(map.cpu_of) <= recorded) map.cpu_of.resize(recorded + 1);
    map.cpu_of[recorded] = list[i];
  }
  return map;
}

constexpr const char* kRecorded = "recorded";
constexpr const char* kDefault = "default";
constexpr int kTally = 0;
constexpr double kUsOfRate = 1e6;  // long enough for cycles as whole numbers

// The lock of ours that is nearest to a recorded one (linebounce-record's names). glibc's pthread_spin_lock tries once, then
// reads until the lock looks free.
constexpr std::array<std::pair<const char*, const char*>, 6> kNearest = {{{"pthread_mutex", "glibc_mutex"},
                                                                          {"pthread_adaptive_mutex", "glibc_adaptive_mutex"},
                                                                          {"pthread_rwlock", "glibc_rwlock"},
                                                                          {"pthread_spin", "ttas"},
                                                                          {"openmp_lock", "gomp_lock"},
                                                                          {trace::kUncontended, "ttas"}}};
constexpr const char* kOtherwise = "mutex";

bool is_ours(const std::string& algorithm) {
  const auto entries = all_locks();
  return std::ranges::any_of(entries, [&](const LockEntry& entry) { return entry.name == algorithm; });
}

struct ReplayOptions {
  std::string trace;  // the path; the trace itself comes as WorkloadSetup::trace
  std::string threads = "one_each";
  std::string placement = kRecorded;
  bool recover = false;  // read by the caller, which opens the trace
  std::uint64_t order = 0;
  std::uint64_t heap_shift = 0;
  int page_kib = 4;
  std::string count;
  std::map<std::string, std::string> locks = {{kDefault, kRecorded}};  // the algorithm of each lock

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
    parameters.number(
        "page_kib", page_kib, 4, 1 << 20,
        "the smallest page of a recorded program, a power of two; 2048: huge pages. A replay keeps each address's "
        "offset in its page, and draws the page's frame by the seed and the order");
    parameters.text("count", count,
                    "keeps a count in another form: per_thread, batched, striped or removed, and the word, as in \"per_thread "
                    "hits+0\": an offset in every object of that structure, or in a variable of that name; several with \"; \" "
                    "between them; empty: as recorded");
    parameters.texts(
        "locks.", locks,
        "algorithm of its locks; of one alone: workload.locks.NAME. recorded: as it was; of what is not ours the "
        "nearest: glibc_mutex for pthread_mutex, glibc_rwlock for pthread_rwlock, ttas for pthread_spin, gomp_lock "
        "for openmp_lock, else mutex",
        algorithms);
    // which lock suits a recorded one is only known with the trace
    parameters.names_lock([](const LockTraits&) { return std::string(); });
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
                                        .memory = memory_options(setting),
                                        .counts = count_choices_of(options_.count)};
    places_.emplace(symbols, setting, choices);
    context_.emplace(ReplayContext{.trace = *setting.trace,
                                   .places = *places_,
                                   .locks = setting.locks,
                                   .cpu_of = std::move(map.cpu_of),
                                   .order = options_.order,
                                   .cycles_of_ns = static_cast<double>(cycles(kUsOfRate, setting.machine)) / kUsOfRate / 1000,
                                   .pace = pace_of(setting),
                                   .differences = {}});
    context_->differences.resize(map.streams.size());
    for (std::size_t cpu = 0; cpu < map.streams.size(); ++cpu)
      cpus_.push_back(std::make_unique<ReplayCpu>(*context_, static_cast<int>(cpu), std::move(map.streams[cpu])));
    for (std::uint32_t stream = 0; stream < symbols.streams.size(); ++stream) {
      const trace::Stream& handlers = symbols.streams[stream];
      if (handlers.vector < 0) continue;
      const int cpu = context_->cpu_of.at(handlers.cpu);
      cpus_[cpu]->add_handlers(handlers.vector, stream);
    }
  }

  void run(Cpu& cpu) override { cpus_[cpu.id().value]->run(cpu); }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    ReplayContext::Differences all;
    std::int64_t left = 0;
    for (const ReplayContext::Differences& one : context_ ? context_->differences : std::vector<ReplayContext::Differences>()) {
      all.operations += one.operations;
      all.measured_operations += one.measured_operations;
      all.tallies += one.tallies;
      all.tries += one.tries;
      all.tries_otherwise += one.tries_otherwise;
      all.reads_again += one.reads_again;
      all.handlers_missing += one.handlers_missing;
    }
    for (const auto& cpu : cpus_) left += cpu->handlers_left();
    metrics.count("replay.operations", "", kNeither,
                  "operations of the trace that were executed, from the start of the run; each of an operation's repeats "
                  "counts, where `trace info` counts them as one",
                  all.operations);
    metrics.count("replay.tries_otherwise", "", kLower,
                  "tries of a lock after which the program would have gone another way than it went in the recording",
                  all.tries_otherwise);
    metrics.value("replay.tries_otherwise_pct", "%", kLower, "the same, of all tries; each wait by tries is one",
                  all.tries == 0
                      ? std::nullopt
                      : std::optional(100 * static_cast<double>(all.tries_otherwise) / static_cast<double>(all.tries)));
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
  static std::optional<RecordedPace> pace_of(const WorkloadSetup& setting) {
    if (!trace::has_recorded_instructions(setting.trace->summary())) return std::nullopt;
    return RecordedPace(setting.machine);
  }

  // Reports the speed: the workload's own events if it counts any, else the trace's operations. The measured time counts in
  // full, even if threads have ended before. Operations that take no time, such as entering a function, do not count.
  static void report_speed(const RunFacts& facts, const ReplayContext::Differences& all, MetricSink& metrics) {
    if (facts.measured_ns <= 0) return;
    if (all.tallies == 0) return report_rate(facts, all.measured_operations, metrics);
    report_throughput(facts, kTally, metrics);
  }

  // The time at which the first thread ran out of operations; nothing if none did.
  [[nodiscard]] std::optional<Tick> first_over() const {
    std::optional<Tick> first;
    for (const auto& cpu : cpus_) {
      for (const ReplayThread& thread : cpu->threads()) {
        if (thread.ended && (!first || thread.ended_at < *first)) first = thread.ended_at;
      }
    }
    return first;
  }

  // The names by which a lock can be chosen: its own first, then the one in the results.
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
    const std::string reason =
        why_no_substitute(lock, locks_in_use_->find(algorithm), [&]() -> const SectionFacts& { return facts_of(lock); });
    if (reason.empty()) return algorithm;
    throw std::invalid_argument(
        fmt::format("workload.locks.{}: {} can't take the place of {} here: {}", chosen, algorithm, lock.name, reason));
  }

  // Computed on first use: a pass over the operations.
  [[nodiscard]] const SectionFacts& facts_of(const trace::Lock& lock) const {
    if (!facts_) facts_ = section_facts(*trace_);
    return facts_->at(&lock - trace_->symbols().locks.data());
  }

  void refuse_unknown_locks(const trace::Symbols& symbols) const {
    for (const auto& chosen : options_.locks) {
      const std::string& name = chosen.first;
      const bool known = name == kDefault || std::ranges::any_of(symbols.locks, [&](const trace::Lock& lock) {
                           const std::vector<std::string> all = names_of(lock);
                           return std::ranges::find(all, name) != all.end();
                         });
      if (known) continue;
      std::vector<std::string> names;
      for (const trace::Lock& lock : symbols.locks) {
        const std::string shown = names_of(lock).back();
        if (std::ranges::find(names, shown) == names.end()) names.push_back(shown);
      }
      throw std::invalid_argument(
          fmt::format("workload.locks.{}: the trace has no lock of this name; it has: {}", name, fmt::join(names, ", ")));
    }
  }

  [[nodiscard]] std::optional<Home> home(const trace::Object& object) const {
    return options_.placement == kRecorded ? home_of(object.home) : home_of(options_.placement);
  }

  [[nodiscard]] RecordedMemory::Options memory_options(const WorkloadSetup& setting) const {
    const auto page_kib = static_cast<unsigned>(options_.page_kib);
    if (!std::has_single_bit(page_kib))
      throw std::invalid_argument(
          fmt::format("workload.page_kib: {} is not a page size; legal: powers of two from 4", options_.page_kib));
    // A page has one translation, so it is not smaller than what an entry of the TLB translates.
    const FootprintSpec& footprint = setting.machine.footprint;
    const auto tlb_page_kib = static_cast<unsigned>(footprint.tlb_entries > 0 ? footprint.tlb_page_kib : 0);
    return {.seed = RecordedMemory::frames_seed(setting.seed, options_.order),
            .index_bits = index_bits(setting.machine),
            .least_page_bits = static_cast<int>(std::bit_width(1024 * std::max(page_kib, tlb_page_kib) - 1)),
            .heap_shift = options_.heap_shift};
  }

  ReplayOptions options_;
  const trace::Reader* trace_ = nullptr;
  const LockSet* locks_in_use_ = nullptr;
  mutable std::optional<std::vector<SectionFacts>> facts_;  // by lock
  std::optional<ReplayPlaces> places_;
  std::optional<ReplayContext> context_;
  std::vector<std::unique_ptr<ReplayCpu>> cpus_;
};

}  // namespace

std::string why_no_substitute(const trace::Lock& recorded, const LockEntry& substitute,
                              const std::function<const SectionFacts&()>& facts) {
  if (substitute.name == recorded.algorithm) return "";
  const LockTraits& traits = substitute.traits;
  if (traits.sleeps && recorded.in_handlers) return "interrupt handlers take it, which can't sleep";
  if (traits.readers == Readers::never_wait && facts().with_writers)
    return "its readers keep nobody out: writers would have to publish copies, and here they write in place";
  if (traits.readers == Readers::read_again && recorded.readers_write)
    return "its readers may have to read again, and here they write";
  if (!keep_writers_out(traits.readers) && !facts().readers_hazard.empty()) return facts().readers_hazard;
  if (traits.readers == Readers::read_again && !facts().unchanged_pointer.empty())
    return fmt::format(
        "its readers follow {}, a pointer that a writer may change or whose target it may free, even if none did here",
        facts().unchanged_pointer);
  if (!traits.tries && facts().tried) return "the program tries the lock, and it has no try";
  return "";
}

std::string recorded_algorithm(const trace::Lock& lock) {
  if (is_ours(lock.algorithm)) return lock.algorithm;
  const auto nearest = std::ranges::find_if(kNearest, [&](const auto& it) { return it.first == lock.algorithm; });
  return nearest == kNearest.end() ? kOtherwise : nearest->second;
}

std::uint64_t heap_shift_of(const Parameters& parameters) {
  return read_options<ReplayOptions>(parameters).heap_shift;
}

WorkloadEntry replay_workload() {
  return {
      "replay",
      "A trace of operations, recorded or synthetic, with its own locks or others",
      declare<ReplayOptions>(),
      make_workload<Replay>,
      {headlines::kOperations, {"latency.user_offchip.mean_ns", "miss"}, {"replay.first_thread_over_us", "first thread over"}}};
}

}  // namespace linebounce::workloads
