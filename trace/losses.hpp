// A table of everything that a reader of foreign data, or the recorder of a program, may lose or doubt. Each kind has one row.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/summary.hpp"

namespace linebounce::trace {

enum class Severity : std::uint8_t {
  note,   // says how the data was collected; nothing is missing
  doubt,  // a value was assumed or is ambiguous
  lost    // needed by a replay or assessment, but missing in the source
};
inline constexpr std::array<const char*, 3> kSeverityNames = {"note", "doubt", "lost"};

// What a loss means for a verdict about the program, such as "nothing is worth changing".
enum class Bearing : std::uint8_t {
  none,        // the verdict stands
  narrows,     // the verdict is about a part of the run, and says so
  may_add,     // costs that were not recorded may come on top: the verdict cannot be that there is nothing to change
  may_reverse  // what was recorded may cost more or less than it seems: there is no verdict
};
inline constexpr std::array<const char*, 4> kBearingNames = {"none", "narrows", "may_add", "may_reverse"};

enum class Loss : std::uint8_t {
  order_kept,
  file_is_a_cpu,
  quotes_removed,
  lines_joined,
  titles_assumed,
  one_thread,
  no_locks,
  no_atomics,
  no_order,
  no_sizes,
  digits_alone,
  figures_dropped,
  no_names,
  frames_unknown,
  virtual_as_physical,
  no_instructions,
  times_dropped,
  below_a_cache,
  filtered_by_caches,
  write_backs_as_stores,
  tasks_dropped,
  calls_dropped,
  other_packets,
  samples,
  samples_alone,
  samples_functions,
  samples_without_kind,
  samples_repeated,
  flushes_dropped,
  cut_off,
  no_holds,
  no_waits,
  waits_are_all,
  callers_not_locks,
  script_decides,
  nanoseconds_assumed,
  histograms,
  holds_uncounted,
  stacks_shortened,
  clock_assumed,
  home_unknown,
  only_top_lines,
  counts_alone,
  stores_without_source,
  stores_assumed,
  not_fitted,
  homes_averaged,
  distances_compare,
  distances_not_kept,
  no_memory_latency,
  nearest_alone,
  domains_as_nodes,
  no_transfers,
  kept_as_prediction,
  cores_assumed,
  threads_assumed,
  numbers_assumed,
  cores_differ,
  caches_differ,
  memory_nodes_left_out,
  rest_of_machine,
  structure_at_first_line,
  peers_as_hitm,
  reconstruction,
  types_unknown,
  fields_unknown,
  atomics_ran,
  atomics_may_have_run,
  atomics_of_libraries,
  libraries_not_compiled,
  sizes_left_out,
  inside_c_library,
  plain_atomics,
  types_missing,
  jumped_functions,
  foreign_threads,
  instructions_assumed,
  instructions_measured,
  disturbances,
  own_locks,
  threads_apart,
  forks,
  later_programs,
  threads_without_ring,
  threads_given_up,
  unknown_joins,
  nested_teams,
  unknown_outcomes,
  foreign_releases,
  foreign_rounds,
  killed,
  shared_memory,
  cloned,
  part_of_run,
  damaged,
  kLosses
};

constexpr std::size_t index_of(Loss loss) {
  return static_cast<std::size_t>(loss);
}

struct LossKind {
  std::string_view name;
  Severity severity;
  std::string_view sentence;  // {0}: the source's name; {1}: a number or another detail
  Bearing bearing = Bearing::none;
  // How the loss is stated before a verdict, with the same {1}. Empty: as `sentence`.
  std::string_view before_verdict = {};
};

// How the sentence for traces made from samples or statistics begins.
inline constexpr std::string_view kReconstructed = "Nothing in it was recorded";

inline bool is_reconstruction(const std::vector<std::string>& missing) {
  return std::ranges::any_of(missing, [](const std::string& one) { return one.starts_with(kReconstructed); });
}

// Indexed by Loss.
inline constexpr std::array<LossKind, index_of(Loss::kLosses)> kLossKinds = {{
    {"order_kept", Severity::note,
     "{0} has one order for all accesses, and a replay keeps it: a CPU sleeps until the previous CPU wakes it."},
    {"file_is_a_cpu", Severity::note, "Each file is one CPU's accesses: {1}."},
    {"quotes_removed", Severity::note, "E-mail quote marks (>) were removed from {1} lines."},
    {"lines_joined", Severity::note, "{1} lines that an e-mail program had broken were joined again."},
    {"titles_assumed", Severity::doubt, "The titles of {0}'s columns are missing: they are taken for those of version {1}."},
    {"one_thread", Severity::lost, "{0} does not distinguish threads: all accesses belong to one.", Bearing::may_add},
    {"no_locks", Severity::lost, "{0} has no locks, so it is unknown what a thread waited for."},
    {"no_atomics", Severity::lost, "atomic instructions are not marked in it: each becomes a load and a store.",
     Bearing::may_add, "Atomic instructions are not marked in it: each became a load and a store."},
    {"no_order", Severity::lost, "{0} has no order between threads: in a replay it depends on the cost of their accesses."},
    {"no_sizes", Severity::doubt, "{0} has no access sizes. Assumed, in bytes: {1}."},
    {"digits_alone", Severity::doubt,
     "No address begins with 0x or has a digit above 9. All are read as hexadecimal: if they are decimal, write 0x and "
     "hexadecimal digits."},
    {"figures_dropped", Severity::doubt, "The numbers behind the addresses, sizes or values, are left out."},
    {"no_names", Severity::lost, "{0} has no names: objects are pages of 4 KiB, and functions are unknown."},
    {"frames_unknown", Severity::doubt,
     "{0}'s addresses are virtual, and it does not say which frames held the pages: a replay draws frames by its seed."},
    {"virtual_as_physical", Severity::doubt,
     "{0}'s addresses are virtual: they are used as if they were physical, as courses do."},
    {"no_instructions", Severity::doubt, "It has no instructions, so only accesses take time."},
    {"times_dropped", Severity::lost, "{0}'s times are left out, because a replay computes its own."},
    {"below_a_cache", Severity::doubt,
     "The packets are those that passed {0}'s monitor: accesses served by a cache in front of it are missing."},
    {"filtered_by_caches", Severity::doubt,
     "{0} recorded misses of a program's caches: the accesses that hit in them are missing."},
    {"write_backs_as_stores", Severity::doubt,
     "{1} lines that those caches wrote back became stores, which the program made earlier."},
    {"tasks_dropped", Severity::lost,
     "{1} tasks of {0}'s that create, join or synchronise threads are left out, and so is the order that they make."},
    {"calls_dropped", Severity::lost, "{1} calls of malloc, free or memcpy are left out, with what these access."},
    {"other_packets", Severity::lost, "{1} packets are neither reads nor writes, and are left out."},
    {"samples", Severity::doubt,
     "{0} takes samples: most accesses are missing, so sharing is rarer than in the program and has other proportions.",
     Bearing::may_add},
    {"samples_alone", Severity::lost,
     "Samples have no locks, no instructions between them, no times and no order between threads."},
    {"samples_functions", Severity::lost, "Objects are pages of 4 KiB, and functions have no callers."},
    {"samples_without_kind", Severity::doubt, "{1} samples are neither marked as loads nor as stores: they count as loads."},
    {"samples_repeated", Severity::note, "{1} samples are further events of the access before them: each access counts once."},
    {"flushes_dropped", Severity::lost, "{1} flushes of cache lines are left out."},
    {"cut_off", Severity::doubt, "It ends without {1}: it may have been cut off."},
    {"no_holds", Severity::lost, "{0} does not say how long a lock was held, so no trace can be made."},
    {"no_waits", Severity::lost, "{0} counts waits and does not time them, so no trace can be made."},
    {"waits_are_all", Severity::doubt,
     "{0} times every acquisition and does not say how many of them waited: its times include those that did not."},
    {"callers_not_locks", Severity::lost, "{0} names callers, but not the locks that they acquired."},
    {"script_decides", Severity::doubt,
     "What {0}'s maps count is the script's decision: times are taken for waits, unless the map's name says that they are "
     "holds."},
    {"nanoseconds_assumed", Severity::doubt, "A map of {0}'s does not name its unit: nanoseconds are assumed."},
    {"histograms", Severity::doubt,
     "{1} histograms only have intervals: means come from their middles, and the longest times are their upper ends."},
    {"holds_uncounted", Severity::lost, "Hold times of {1} keys have no count, so they are left out."},
    {"stacks_shortened", Severity::lost,
     "{1} stacks are shown as one function each, the nearest caller that is not a function of locks itself."},
    {"clock_assumed", Severity::doubt, "{0} has latencies in cycles without a clock: {1} MHz is assumed (--mhz)."},
    {"home_unknown", Severity::doubt, "The home node of {1} lines is not stated: node 0 is assumed."},
    {"only_top_lines", Severity::lost, "{0} lists only the lines with the most samples; misses of other lines are unknown."},
    {"counts_alone", Severity::lost,
     "{0} report --stats has no addresses, offsets, functions, CPUs and latencies: which lines are shared, and by whom, is in "
     "{0} report --stdio without --stats."},
    {"stores_without_source", Severity::doubt,
     "Stores are all those that {0} sampled, whether they missed or not. They have no latency, and count as upgrades."},
    {"stores_assumed", Severity::doubt,
     "{1} lines with HITM have no sampled stores: every place that loads them is assumed to store to them equally often."},
    {"not_fitted", Severity::lost, "{0} also has {1}, which are not used."},
    {"homes_averaged", Severity::doubt,
     "{0} measured lines in the writer's memory and in the reader's, and they differ by up to {1} %: the machine has their "
     "mean."},
    {"distances_compare", Severity::lost,
     "{0}'s distances compare nodes and are not nanoseconds: they only decide which nodes have a link."},
    {"distances_not_kept", Severity::doubt,
     "{0}'s distances do not follow from numbers of links: some nodes are as far apart in the machine as others that are "
     "nearer."},
    {"no_memory_latency", Severity::lost, "{0} has no latency of memory: it is {1}'s."},
    {"nearest_alone", Severity::lost,
     "{0} has each memory's latency from its nearest CPUs alone: the way from other nodes takes as long as in {1}."},
    {"domains_as_nodes", Severity::doubt, "{0}'s proximity domains are taken for the operating system's nodes of that number."},
    {"no_transfers", Severity::lost,
     "{0} has no latencies from cache to cache, which mlc --c2c_latency measures: they are {1}'s."},
    {"kept_as_prediction", Severity::note,
     "{0} measured memory under load. Nothing is fitted to these latencies; {1} has them, to be compared with simulated ones."},
    {"cores_assumed", Severity::doubt, "{0} does not say which CPUs share a core: each is taken for a core."},
    {"threads_assumed", Severity::doubt,
     "{0} does not say which CPUs share a core. As its nodes have one block of CPUs for each thread, CPUs n and n + {1} are "
     "taken for one core's."},
    {"numbers_assumed", Severity::doubt,
     "{0} does not say which numbers the CPUs have: a core's threads are taken to be neighbours, and slower cores to come "
     "first."},
    {"cores_differ", Severity::doubt, "The cores differ in speed and caches: the machine has those of the fastest, from {0}."},
    {"caches_differ", Severity::doubt, "The CPUs' {0} caches differ in size: the machine has those of CPU {1}."},
    {"memory_nodes_left_out", Severity::lost,
     "{0} has nodes of memory without CPUs, which the machine lacks: {1}. numactl -H has their distances, HMAT their "
     "latencies."},
    {"rest_of_machine", Severity::doubt, "{0} has no clocks, caches and latencies between cores: they are {1}'s."},
    {"structure_at_first_line", Severity::doubt,
     "{0} is taken to begin with the first line, at {1}: --at ADDRESS says where it does."},
    {"peers_as_hitm", Severity::doubt,
     "{0} counts loads that another core's cache answered, whether it had modified the line or not: they count as HITM."},
    {"reconstruction", Severity::doubt,
     "Nothing in it was recorded: it is reconstructed from {0}'s counts, and shows only what follows from these."},
    {"types_unknown", Severity::doubt,
     "{1} untouched fields of {0} have types whose size is not known: they are left out, so the others lie nearer together."},
    {"fields_unknown", Severity::lost, "{1} fields that the table names are not in the layout of {0}: they are left out."},
    // About recordings. Each sentence follows the words "not seen".
    {"atomics_ran", Severity::lost, "atomic instructions that are not recorded, in functions that ran: {1}", Bearing::may_add,
     "Atomic instructions of functions that ran were not recorded: {1}."},
    {"atomics_may_have_run", Severity::doubt, "atomic instructions that are not recorded, in functions that may have run: {1}",
     Bearing::may_add, "Atomic instructions of functions that may have run were not recorded: {1}."},
    {"atomics_of_libraries", Severity::doubt,
     "libraries that were not compiled by linebounce-cc have atomic instructions: {1}"},
    {"libraries_not_compiled", Severity::lost,
     "accesses of libraries that linebounce-cc did not compile, except those of the C library's memory and string functions"},
    {"sizes_left_out", Severity::lost,
     "accesses of other sizes than 1, 2, 4, 8 and 16 bytes in code compiled by clang or rustc: some bit-fields, vectors, long "
     "double"},
    {"inside_c_library", Severity::lost,
     "accesses inside the C library's functions for locks, threads and memory, and inside the loader"},
    {"plain_atomics", Severity::lost,
     "which plain loads and stores are atomic in the source: order follows only from words that atomic instructions change"},
    {"types_missing", Severity::lost, "names of the program's variables and of their fields: {1}"},
    {"jumped_functions", Severity::doubt, "functions that were reached by a jump: what they do is their caller's"},
    {"foreign_threads", Severity::lost, "threads that the C library did not create"},
    {"instructions_assumed", Severity::doubt, "instructions between accesses: two for each access are assumed"},
    {"instructions_measured", Severity::note,
     "the number of instructions: what is computed for 30 ns and more is measured in time, and written as instructions of {1} "
     "cycles; two are assumed for each access"},
    {"disturbances", Severity::doubt,
     "{1} between accesses where the program seldom takes so long: it counts as the recording host's (interrupts, page faults, "
     "cold caches)"},
    {"own_locks", Severity::doubt,
     "locks that the program makes of atomic operations: they are plain operations, a spin as long as it was"},
    {"threads_apart", Severity::doubt,
     "overlap: {1} created threads never ran concurrently with another in this recording; the replay runs them together"},
    {"forks", Severity::lost, "{1} child process(es) made by fork", Bearing::may_add,
     "The program made {1} child process(es) by fork, which were not recorded."},
    {"later_programs", Severity::lost, "{1} later program(s) of the same command: the first one is recorded", Bearing::may_add,
     "Only the first program of the command was recorded: {1} later one(s) were not."},
    {"threads_without_ring", Severity::lost, "{1} thread(s) for which no ring was free", Bearing::may_add,
     "{1} thread(s) were not recorded, because no ring was free for them."},
    {"threads_given_up", Severity::lost, "{1} thread(s) from where a signal handler had more events than a ring has room for",
     Bearing::may_add,
     "{1} thread(s) were recorded only up to a signal handler that had more events than a ring has room for."},
    {"unknown_joins", Severity::lost, "{1} join(s) of threads that were not known: 1024 at a time are"},
    {"nested_teams", Severity::lost,
     "{1} barrier(s) of OpenMP teams beside or inside others: they keep nobody waiting in a replay"},
    {"unknown_outcomes", Severity::doubt,
     "{1} compare-and-exchange(s) that may have failed: they are written as if they had stored"},
    {"foreign_releases", Severity::lost, "{1} release(s) of locks by threads that had not taken them"},
    {"foreign_rounds", Severity::lost,
     "{1} round(s) of barriers with threads that are not recorded: they keep nobody waiting in a replay"},
    {"killed", Severity::lost, "what came after the program {1}", Bearing::may_add,
     "The program {1}: what it would have done next was not recorded."},
    {"shared_memory", Severity::lost, "what child processes made by fork do to memory that they share: {1}",
     Bearing::may_reverse, "Another process shares {1}: what that process does to it was not recorded."},
    {"cloned", Severity::lost,
     "what {1} thread(s) or process(es) made by clone, which share the program's memory, and from then on their makers do",
     Bearing::may_reverse,
     "The program made {1} thread(s) or process(es) by clone, which share its memory: neither they nor, from then on, their "
     "makers were recorded."},
    {"part_of_run", Severity::note, "the run outside its window: {1}", Bearing::narrows,
     "Only a part of the run was recorded: {1}."},
    // About copies of traces.
    {"damaged", Severity::lost, "What was lost with a damaged file: {1}", Bearing::may_add,
     "The recording was damaged, and this is what could be read: {1}"},
}};

// Code that assesses replays recognises these rows by how their sentences begin.
static_assert(kLossKinds[index_of(Loss::own_locks)].sentence.starts_with(kOwnLocks));
static_assert(kLossKinds[index_of(Loss::instructions_assumed)].sentence.starts_with(kAssumedInstructions));
static_assert(kLossKinds[index_of(Loss::instructions_measured)].sentence.starts_with(kMeasuredInstructions));

constexpr const LossKind& facts_of(Loss loss) {
  return kLossKinds[index_of(loss)];
}

inline std::string facts_text(Loss loss, std::string_view source, const std::string& detail = {}) {
  return fmt::format(fmt::runtime(facts_of(loss).sentence), source, detail);
}

// The row that a stored sentence was made from; null if there is none, as in an older trace.
const LossKind* kind_of_sentence(std::string_view sentence);

// The sentence as it stands before a verdict. REQUIRES: `kind` is kind_of_sentence(sentence).
std::string before_verdict(const LossKind& kind, std::string_view sentence);

// Assumed clock in MHz for files that count in cycles without stating it.
inline constexpr int kAssumedMhz = 3000;

struct FoundLoss {
  Loss loss{};
  std::string sentence;
};

// A collection of losses and doubts, in the order of discovery.
class Losses {
 public:
  void add(Loss loss, std::string_view source, const std::string& detail = {}) {
    all_.push_back({loss, facts_text(loss, source, detail)});
  }
  void add_count(Loss loss, std::string_view source, std::int64_t count) {
    if (count > 0) add(loss, source, std::to_string(count));
  }
  void add(const Losses& others) { all_.insert(all_.end(), others.all_.begin(), others.all_.end()); }
  [[nodiscard]] const std::vector<FoundLoss>& all() const { return all_; }
  // The sentences for a trace's summary.
  [[nodiscard]] std::vector<std::string> sentences() const {
    std::vector<std::string> sentences;
    for (const FoundLoss& one : all_) sentences.push_back(one.sentence);
    return sentences;
  }

 private:
  std::vector<FoundLoss> all_;
};

}  // namespace linebounce::trace
