#include "forms/c2c_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "trace/error.hpp"
#include "trace/summary.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::sim {
namespace {

// Each line of the report becomes an object of this size in bytes, which no machine's line exceeds.
constexpr std::int64_t kObjectBytes = 256;
constexpr std::int64_t kAccesses = 20'000;  // per thread
constexpr std::uint64_t kBetween = 400;     // largest number of cycles between accesses
constexpr double kMostPerSample = 16;       // weights
constexpr double kAllWeights = 1 << 30;     // upper limit of the sum of all weights
constexpr std::uint64_t kWordBytes = 8;
constexpr std::uint64_t kUnknownCpus = 4;  // number of threads if the report names no CPUs

struct C2cAccess {
  std::uint32_t object;
  std::uint64_t offset;
  bool stores;
  std::optional<std::uint32_t> function;
  std::uint64_t until;  // sum of the weights of this access and all before it
  std::set<int> cpus;   // empty: all CPUs
};

// Chooses at most `most` of the CPUs in the report, at equal distances in their order. Nodes usually have ranges of CPU
// numbers, so these CPUs are spread over the nodes.
std::vector<int> chosen_cpus(const C2cReport& report, int most) {
  std::set<int> all;
  for (const C2cLine& line : report.lines) {
    for (const C2cUse& use : line.uses) all.insert(use.cpus.begin(), use.cpus.end());
  }
  if (all.empty()) {
    for (std::uint64_t cpu = 0; cpu < kUnknownCpus; ++cpu) all.insert(static_cast<int>(cpu));
  }
  const std::vector<int> sorted(all.begin(), all.end());
  const std::size_t count = std::min<std::size_t>(sorted.size(), static_cast<std::size_t>(most));
  std::vector<int> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(sorted[i * sorted.size() / count]);
  return chosen;
}

class C2cTrace {
 public:
  C2cTrace(const C2cReport& report, trace::Writer& out) : out_(&out) {
    double samples = 1;
    for (const C2cLine& line : report.lines)
      samples +=
          static_cast<double>(line.remote_hitm) + static_cast<double>(line.local_hitm) + static_cast<double>(line.stores);
    // Leaves room in the weights to raise the number of stores to that of loads.
    per_sample_ = std::min(kMostPerSample, kAllWeights / (2 * samples));
    for (std::size_t i = 0; i < report.lines.size(); ++i) add(report.lines[i], i);
    if (weight_ == 0)
      throw trace::TraceError("the report has no samples of HITM: there is nothing that a reconstruction could show");
  }

  void write(int cpu, std::uint64_t number) {
    trace::Stream stream{fmt::format("cpu/{}", cpu), cpu, -1, false};
    const std::uint32_t id = out_->define(stream);
    workloads::Random random(1, number, 0);
    for (std::int64_t i = 0; i < kAccesses; ++i) {
      append(id, {trace::Kind::compute, 0, 0, 0, random.below(kBetween)});
      const C2cAccess& access = drawn(random, cpu);
      if (access.function) append(id, {trace::Kind::enter, 0, 0, *access.function, 0});
      append(id, {access.stores ? trace::Kind::store : trace::Kind::load, kWordBytes, 0, access.object, access.offset});
      // Without a fence, the store buffer would serve the CPU's loads of the stored word, but not its loads of other words of
      // the line. Loads of these other words would then have too large a share of the HITM.
      if (access.stores) append(id, {trace::Kind::fence, 0, 0, 0, 0});
      if (access.function) append(id, {trace::Kind::leave, 0, 0, 0, 0});
    }
  }

  [[nodiscard]] std::int64_t lines_without_stores() const { return without_stores_; }

 private:
  void add(const C2cLine& line, std::size_t number) {
    const auto hitm = line.remote_hitm + line.local_hitm;
    if (hitm == 0) return;
    trace::Object object;
    object.name = fmt::format("line_{}_{:x}", number, line.address);
    object.size = kObjectBytes;
    object.alignment = static_cast<int>(kObjectBytes);
    const std::uint32_t id = out_->define(object);
    double stores = 0;
    for (const C2cUse& use : line.uses) stores += use.stores;
    if (stores == 0) ++without_stores_;
    // A load only finds a line modified if another CPU has stored to it. So stores are scaled up to at least half of all
    // accesses.
    const double scale = stores == 0 ? 0 : std::max(1.0, static_cast<double>(hitm) / stores);
    for (const C2cUse& use : line.uses) {
      const double loads = use.remote_hitm + use.local_hitm;
      add(id, use, loads, false);
      add(id, use, stores == 0 ? loads : use.stores * scale, true);
    }
  }

  void add(std::uint32_t object, const C2cUse& use, double weight, bool stores) {
    const auto part = static_cast<std::uint64_t>(std::llround(weight * per_sample_));
    if (part == 0) return;
    weight_ += part;
    std::optional<std::uint32_t> function;
    if (!use.function.empty()) function = function_named(use.function);
    const std::uint64_t offset = use.offset % static_cast<std::uint64_t>(kObjectBytes);
    accesses_.push_back(
        {object, offset - offset % kWordBytes, stores, function, weight_, std::set<int>(use.cpus.begin(), use.cpus.end())});
  }

  std::uint32_t function_named(const std::string& name) {
    const auto [found, is_new] = functions_.try_emplace(name, 0);
    if (is_new) found->second = out_->define(trace::Function{name, false});
    return found->second;
  }

  // Draws an access by weight. Retries to find one that this CPU makes.
  const C2cAccess& drawn(workloads::Random& random, int cpu) const {
    constexpr int kTries = 64;
    const C2cAccess* access = nullptr;
    for (int i = 0; i < kTries; ++i) {
      const std::uint64_t at = random.below(weight_);
      access = &*std::ranges::upper_bound(accesses_, at, {}, &C2cAccess::until);
      if (access->cpus.empty() || access->cpus.contains(cpu)) break;
    }
    return *access;
  }

  void append(std::uint32_t stream, const trace::Operation& operation) { out_->append(stream, operation); }

  trace::Writer* out_;
  std::map<std::string, std::uint32_t> functions_;
  std::vector<C2cAccess> accesses_;
  double per_sample_ = 1;
  std::uint64_t weight_ = 0;
  std::int64_t without_stores_ = 0;
};

}  // namespace

Losses write_c2c_trace(const C2cReport& report, int most_threads, trace::Writer& out) {
  C2cTrace trace(report, out);
  const std::vector<int> cpus = chosen_cpus(report, most_threads);
  for (std::size_t i = 0; i < cpus.size(); ++i) trace.write(cpus[i], i);
  Losses losses;
  losses.add(Loss::reconstruction, "perf c2c");
  losses.add_count(Loss::stores_assumed, "perf c2c", trace.lines_without_stores());
  losses.add(report.losses);
  return losses;
}

}  // namespace linebounce::sim
