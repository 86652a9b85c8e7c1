#include "sim/tester/shrink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string_view>

namespace linebounce::sim {
namespace {

using Settings = std::vector<CaseSetting>;

constexpr std::string_view kCpus = "machine.cpus";
constexpr std::string_view kShare = "_share";
constexpr unsigned kMostSeconds = 20;  // of a try
constexpr std::uint64_t kOtherSeeds = 3;

class Shrinker {
 public:
  Shrinker(const RandomBase& base, Shrunk start, int seconds, InterruptGuard& guard)
      : base_(base),
        best_(std::move(start)),
        guard_(guard),
        deadline_(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}

  Shrunk run() {
    bool smaller = true;
    while (smaller && !over()) {
      smaller = fewer_operations();
      smaller = fewer_settings() || smaller;
      smaller = fewer_cpus() || smaller;
      smaller = fewer_kinds() || smaller;
    }
    best_.finished = !over();
    return std::move(best_);
  }

 private:
  bool over() { return guard_.interrupted() || std::chrono::steady_clock::now() >= deadline_; }

  // Takes a case over if it fails as the first one did.
  bool take_if_it_fails(const RandomCase& candidate) {
    if (over()) return false;
    ++best_.tries;
    const CaseRun run{[&candidate] { return candidate; }, best_.result.verdict == Verdict::differs};
    const CaseLimits limits{.at_once = 2, .seconds = kMostSeconds};
    const std::vector<CaseResult> results = run_cases(base_, {run}, limits, guard_, {});
    if (results.empty()) return false;
    const CaseResult& result = results.front();
    if (result.verdict != best_.result.verdict || result.failure.code != best_.result.failure.code) return false;
    best_.smallest = candidate;
    best_.result = result;
    return true;
  }

  // Halves while that fails, be it with other references; then goes down by smaller and smaller steps.
  bool fewer_operations() {
    bool any = false;
    for (std::int64_t step = best_.smallest.operations / 2; step > 0 && !over();) {
      RandomCase candidate = best_.smallest;
      candidate.operations -= step;
      if (candidate.operations >= 1 && fails_with_some_seed(candidate)) {
        any = true;
        step = std::min(step, best_.smallest.operations / 2);
      } else {
        step /= 2;
      }
    }
    return any;
  }

  bool fails_with_some_seed(RandomCase candidate) {
    if (take_if_it_fails(candidate)) return true;
    for (std::uint64_t seed = 1; seed <= kOtherSeeds; ++seed) {
      candidate.seed = seed;
      if (take_if_it_fails(candidate)) return true;
    }
    return false;
  }

  // Delta debugging: whole groups first, then settings one by one.
  bool fewer_settings() {
    bool any = false;
    std::set<int> groups;
    for (const CaseSetting& setting : best_.smallest.settings) groups.insert(setting.group);
    for (const int group : groups) {
      any = without([group](const CaseSetting& setting) { return setting.group == group; }) || any;
    }
    const Settings settings = best_.smallest.settings;
    for (const CaseSetting& taken : settings) {
      any = without([&taken](const CaseSetting& setting) { return setting.path == taken.path; }) || any;
    }
    return any;
  }

  // A setting without which the case would be larger: it leaves out CPUs or operations.
  [[nodiscard]] bool makes_smaller(const CaseSetting& setting) const {
    if (setting.path == kCpus) return cpus_of(base_, best_.smallest) < base_.spec.cpus;
    return setting.path.ends_with(kShare) && setting.value == ConfigValue{std::int64_t{0}};
  }

  template <class Which>
  bool without(Which which) {
    RandomCase candidate = best_.smallest;
    std::erase_if(candidate.settings, [&](const CaseSetting& setting) { return which(setting) && !makes_smaller(setting); });
    return candidate.settings.size() < best_.smallest.settings.size() && take_if_it_fails(candidate);
  }

  // As many operations in all as before.
  bool fewer_cpus() {
    const int now = cpus_of(base_, best_.smallest);
    for (int cpus = 1; cpus < now && !over(); ++cpus) {
      RandomCase candidate = best_.smallest;
      candidate.set(std::string(kCpus), std::int64_t{cpus}, 0);
      candidate.operations = (candidate.operations * now + cpus - 1) / cpus;
      if (fails_with_some_seed(candidate)) return true;
    }
    return false;
  }

  // Kinds of operations that are not needed.
  bool fewer_kinds() {
    constexpr std::array kKinds = {"sleep",    "interrupt", "spin",   "lock",  "compute",
                                   "prefetch", "fence",     "atomic", "store", "load"};
    bool any = false;
    for (const char* const kind : kKinds) {
      const std::string path = fmt::format("workload.{}{}", kind, kShare);
      const CaseSetting* const share = best_.smallest.find(path);
      if (share && share->value == ConfigValue{std::int64_t{0}}) continue;
      RandomCase candidate = best_.smallest;
      candidate.set(path, std::int64_t{0}, share ? share->group : 0);
      any = take_if_it_fails(candidate) || any;
    }
    return any;
  }

  const RandomBase& base_;
  Shrunk best_;
  InterruptGuard& guard_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace

Shrunk shrink(const RandomBase& base, const RandomCase& failing, const CaseResult& result, int seconds, InterruptGuard& guard) {
  return Shrinker(base, {failing, result, 0, false}, seconds, guard).run();
}

}  // namespace linebounce::sim
