#include "sim/interleavings/lock_search.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sim/interleavings/private_bytes.hpp"
#include "workloads/native/code_faults.hpp"

namespace linebounce::sim {
namespace {

struct HashOfDigest {
  std::size_t operator()(const Digest& digest) const { return digest.high; }
};

// Searches depth first. A limit on switches makes counterexamples short; a switch leaves a CPU that could have continued. With
// kNoLimit the search is complete, and private steps have no alternatives.
constexpr int kNoLimit = 1 << 20;

// Limit on steps in a row without alternatives (Level::forced). A CPU whose loop touches only private bytes would otherwise
// keep all others from ever running. Any number is sound; a larger one leaves out more.
constexpr int kMostForced = 32;

// What a search has learned about its case. The next search of the case starts from it.
struct Learned {
  EndingLoops ending;
  PrivateBytes owned;
  WordCells cells;
};

class Search {
 public:
  Search(const LockCase& lock_case, const SearchLimits& limits, int switches, Learned& learned)
      : case_(lock_case), limits_(limits), switches_(switches), learned_(&learned) {}

  // True if run() has learned something that its earlier steps did not respect.
  [[nodiscard]] bool is_void() const { return is_void_; }

  SearchResult run() {
    try {
      do {
        result_.violation = descend();
        look_at_loops();
      } while (result_.violation.empty() && result_.all_states && !is_void_ && back_up());
    } catch (const CellsHaveGrown&) {
      result_ = {};
      is_void_ = true;
    }
    if (!result_.violation.empty()) describe_steps();
    result_.states = visited_.size();
    return std::move(result_);
  }

 private:
  static bool is_program(const Choice& choice) { return choice.drains == Choice::kProgram; }
  // True for another outcome of the same operation.
  static bool is_same_step(const Choice& a, const Choice& b) {
    return a.cpu == b.cpu && is_program(a) && is_program(b) && !a.times_out && !b.times_out;
  }

  struct Level {
    std::optional<int> last;  // the CPU that took the previous program step, if it could continue here
    Choice taken;
    int switches_left = 0;  // switches still allowed below this level
    int forced = 0;         // steps up to this one in a row whose alternatives were left out because they touch private bytes
    std::vector<Choice> untried;

    // How much a step adds to what makes an interleaving hard to follow: switches, and values that aren't the newest.
    [[nodiscard]] int cost(const Choice& choice) const {
      const bool is_switch = last && is_program(choice) && choice.cpu != *last;
      return (is_switch ? 1 : 0) + (choice.is_old ? 1 : 0);
    }
  };

  // Replays the steps of `path_`, then takes further steps until it reaches a known state, a limit or an end. Returns the
  // broken property; empty if there is none.
  std::string descend() {
    LockRun run(case_);
    int switches_left = switches_;
    std::optional<int> last;
    for (const Level& level : path_) {
      if (&level == &path_.back()) note_access(run, level.taken);
      run.take(level.taken);
      switches_left = level.switches_left;
      if (is_program(level.taken)) last = level.taken.cpu;
    }
    for (;;) {
      result_.most_passed = std::max(result_.most_passed, run.most_passed());
      result_.left_out_draws = result_.left_out_draws || run.has_left_out_draws();
      result_.left_out_seconds = result_.left_out_seconds || run.has_left_out_seconds();
      if (!run.violation().empty()) return run.violation();
      std::vector<Choice> choices = run.choices(switches_ == kNoLimit, limits_.steps);
      if (choices.empty()) {
        if (run.has_ended()) return {};
        if (does_go_on(run)) return {};
        return "nobody can go on: " + run.waiting();
      }
      if (!is_new(run, last, switches_left)) return {};
      note_loops(run);
      if (run.longest() >= limits_.steps) {
        ++result_.cut_off;
        return {};
      }
      if (visited_.size() >= limits_.states || (limits_.until && std::clock() > *limits_.until)) {
        result_.all_states = false;
        return {};
      }
      go_on(run, choices, last, switches_left);
      if (is_void_) return run.violation();
    }
  }

  // Takes the first choice and leaves the others for later. Continuing the same CPU comes first, because it needs no switch.
  void go_on(LockRun& run, std::vector<Choice>& choices, std::optional<int>& last, int& switches_left) {
    Level level;
    if (std::ranges::any_of(choices, [&](const Choice& choice) { return last && is_program(choice) && choice.cpu == *last; }))
      level.last = last;
    std::erase_if(choices, [&](const Choice& choice) { return level.cost(choice) > switches_left; });
    std::ranges::stable_sort(choices, {}, [&](const Choice& choice) { return level.cost(choice); });
    // The search takes choices from the end.
    std::ranges::reverse(choices);
    const int forced = path_.empty() ? 0 : path_.back().forced;
    const auto lone = leaves_out_equals() && choices.size() > 1 && forced < kMostForced
                          ? std::ranges::find_if(choices, [&](const Choice& choice) { return is_private(run, choice); })
                          : choices.end();
    const bool is_lone = lone != choices.end();
    if (is_lone) std::iter_swap(lone, choices.end() - 1);
    level.taken = choices.back();
    choices.pop_back();
    switches_left -= level.cost(level.taken);
    level.switches_left = switches_left;
    level.untried = std::move(choices);
    const Digest before = is_lone ? run.noticeable() : Digest();
    note_access(run, level.taken);
    run.take(level.taken);
    if (is_lone && run.noticeable() == before) {
      std::erase_if(level.untried, [&](const Choice& other) { return !is_same_step(other, level.taken); });
      level.forced = forced + 1;
    }
    if (is_program(level.taken)) last = level.taken.cpu;
    path_.push_back(std::move(level));
  }

  // Backtracks to the deepest level with an untried choice. Returns false if there is none.
  bool back_up() {
    while (!path_.empty() && path_.back().untried.empty()) path_.pop_back();
    if (path_.empty()) return false;
    Level& level = path_.back();
    level.taken = level.untried.back();
    level.untried.pop_back();
    const int left = path_.size() < 2 ? switches_ : path_[path_.size() - 2].switches_left;
    level.switches_left = left - level.cost(level.taken);
    return true;
  }

  bool is_new(const LockRun& run, const std::optional<int>& last, int switches_left) {
    Digest digest = run.digest();
    if (switches_ == kNoLimit) return visited_.try_emplace(digest, 0).second;
    digest.add(static_cast<std::uint64_t>(last.value_or(-1)));
    const auto [known, is_new] = visited_.try_emplace(digest, switches_left);
    if (is_new || known->second >= switches_left) return is_new;
    known->second = switches_left;
    return true;
  }

  [[nodiscard]] bool leaves_out_equals() const { return switches_ == kNoLimit && limits_.one_of_equals; }

  [[nodiscard]] bool is_private(const LockRun& run, const Choice& choice) const {
    const TouchedBytes touched = run.touched(choice);
    return touched.bytes > 0 && !run.shares_views(choice) && learned_->owned.are_of(choice.cpu, touched.address, touched.bytes);
  }

  void note_access(const LockRun& run, const Choice& choice) {
    const TouchedBytes touched = run.touched(choice);
    if (!learned_->owned.note(choice.cpu, touched.address, touched.bytes) && leaves_out_equals()) is_void_ = true;
  }

  // Loops count as waiting after few turns. Before that makes a deadlock, each must have gone on for many.
  bool does_go_on(const LockRun& stopped) {
    for (const int cpu : stopped.looping()) {
      LockRun run(case_);
      replay(run, path_);
      std::vector<Address> loop = run.loop_of(cpu);
      if (!run.leaves_loop(cpu, false, kTurnsBeforeDeadlock)) continue;
      learned_->ending.counted.insert(std::move(loop));
      is_void_ = true;
      return true;
    }
    return false;
  }

  void note_loops(const LockRun& run) {
    for (const int cpu : run.looping()) {
      result_.has_loops = true;
      if (looked_at_.insert(run.known_to(cpu)).second) loops_.push_back({path_, cpu});
    }
  }

  // Verifies that loops that counted as waiting do not end by themselves.
  void look_at_loops() {
    for (const FoundLoop& found : std::exchange(loops_, {})) {
      LockRun run(case_);
      replay(run, found.path);
      std::vector<Address> loop = run.loop_of(found.cpu);
      if (run.leaves_loop(found.cpu, false)) {
        if (learned_->ending.counted.insert(std::move(loop)).second) is_void_ = true;
      } else if (run.loop_reads_clock() && !learned_->ending.timed.contains(loop)) {
        LockRun timed(case_);
        replay(timed, found.path);
        if (timed.leaves_loop(found.cpu, true) && learned_->ending.timed.insert(std::move(loop)).second) is_void_ = true;
      }
    }
  }

  static void replay(LockRun& run, const std::vector<Level>& path) {
    for (const Level& level : path) run.take(level.taken);
  }

  void describe_steps() {
    LockRun run(case_);
    run.describe_steps();
    for (const Level& level : path_) {
      run.take(level.taken);
      result_.steps.push_back({level.taken.cpu, run.latest(), run.state()});
    }
  }

  const LockCase& case_;
  const SearchLimits& limits_;
  int switches_;
  Learned* learned_;
  bool is_void_ = false;
  SearchResult result_;
  std::vector<Level> path_;
  std::unordered_map<Digest, int, HashOfDigest> visited_;
  struct FoundLoop {
    std::vector<Level> path;
    int cpu;
  };
  std::vector<FoundLoop> loops_;  // loops to check
  std::unordered_set<Digest, HashOfDigest> looked_at_;
};

// Searches again as long as a search learns something, which happens finitely often: a lock has few words and loops.
SearchResult search_all(LockCase& lock_case, const SearchLimits& limits, Learned& learned) {
  constexpr std::size_t kMostLoops = 8;
  for (;;) {
    lock_case.cells = &learned.cells;
    lock_case.ending = learned.ending;
    lock_case.ending.all_are_counted = !limits.loops_wait || learned.ending.counted.size() > kMostLoops;
    Search attempt(lock_case, limits, kNoLimit, learned);
    SearchResult result = attempt.run();
    result.counts_turns = lock_case.ending.any_counted();
    if (!attempt.is_void() || !result.violation.empty()) return result;
  }
}

}  // namespace

// After a violation, searches again for one with as few switches as possible, which is easier to read. If the limit on states
// stopped the first search, it covered many late switches but few early ones. So all interleavings with few switches, which
// show most faults, are searched as well.
SearchResult search(LockCase lock_case, const SearchLimits& limits) {
  const workloads::CodeFaults faults;
  Learned learned;
  SearchResult all = search_all(lock_case, limits, learned);
  constexpr int kMostSwitches = 8, kFew = 3;
  const int most = !all.violation.empty() ? kMostSwitches : all.all_states ? -1 : kFew;
  SearchLimits fewer = limits;
  if (all.violation.empty()) fewer.states /= 4;
  for (int switches = 0; switches <= most; ++switches) {
    SearchResult shorter = Search(lock_case, fewer, switches, learned).run();
    if (!shorter.violation.empty()) return shorter;
  }
  return all;
}

}  // namespace linebounce::sim
