// A router under a flood of packets to random destinations (OLS 2004, section 3). One CPU takes all interrupts and packets.
// Each packet to a destination outside the route cache adds an entry and removes another, which is freed after a grace period.
// Softirqs delay grace periods, so removed entries that cannot be freed yet pile up.
#include <algorithm>
#include <optional>

#include "workloads/linux26/network/cpu_threads.hpp"
#include "workloads/linux26/network/reception.hpp"
#include "workloads/linux26/network/route_cache.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kPacketsRouted = 0;  // tally
constexpr double kJiffyUs = 1000;
constexpr double kSampleUs = 4 * kJiffyUs;  // as in figure 8

struct FloodOptions {
  std::string grace_periods = "call_rcu";
  RcuOptions rcu;
  CpuThreadsOptions threads;
  ReceptionOptions reception;
  RouteCacheOptions cache;

  void bind(ParameterBinder& parameters) {
    parameters.text("grace_periods", grace_periods,
                    "what ends them: a quiescent state of every CPU, or, with call_rcu_bh, the end of a softirq as well",
                    {"call_rcu", "call_rcu_bh"});
    rcu.bind(parameters);
    threads.bind(parameters);
    reception.bind(parameters);
    cache.bind(parameters);
  }
};

// A time series over the measured time. Each sample holds either a count of events or the largest of several values.
class Samples {
 public:
  void add(std::int64_t sample, double value) { at(sample) += value; }
  void raise(std::int64_t sample, double value) { at(sample) = std::max(at(sample), value); }
  void add_all(const Samples& other) {
    for (std::size_t i = 0; i < other.values_.size(); ++i) at(static_cast<std::int64_t>(i)) += other.values_[i];
  }
  [[nodiscard]] double value(std::int64_t sample) const { return sample < size() ? values_[sample] : 0; }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }
  [[nodiscard]] std::vector<SeriesSample> rows(std::int64_t samples) const {
    std::vector<SeriesSample> rows;
    for (std::int64_t i = 0; i < samples; ++i) rows.push_back({static_cast<double>(i) * kSampleUs, value(i)});
    return rows;
  }

 private:
  double& at(std::int64_t sample) {
    if (sample >= size()) values_.resize(sample + 1);
    return values_[sample];
  }
  std::vector<double> values_;
};

// Values above the 90th percentile are spikes. `companions` has one value for each of `values`. Returns what percentage of the
// spikes in `values` coincide with a spike in `companions`; empty if there are too few values.
std::optional<double> spikes_accompanied_pct(const std::vector<double>& values, const std::vector<double>& companions) {
  constexpr std::size_t kFewest = 30;
  if (values.size() < kFewest) return {};
  const auto nth = [](std::vector<double> all, std::size_t place) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(place), all.end());
    return all[place];
  };
  const std::size_t of_a_spike = values.size() - values.size() / 10;
  const double spike = nth(values, of_a_spike);
  const double spike_of_companions = nth(companions, of_a_spike);
  double spikes = 0;
  double accompanied = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < spike) continue;
    ++spikes;
    if (companions[i] >= spike_of_companions) ++accompanied;
  }
  return 100 * accompanied / spikes;
}

class RouteCacheFlood final : public Workload {
 public:
  explicit RouteCacheFlood(const Parameters& parameters) : options_(read_options<FloodOptions>(parameters)) {
    options_.rcu.readers_in_softirqs = options_.grace_periods == "call_rcu_bh";
    options_.rcu.tick_us = kJiffyUs;
  }

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  struct OfCpu {
    Samples softirqs;
    Samples threads;
    double next_tick_ns = 0;
  };
  struct Spikes {
    std::optional<double> with_softirqs_pct, after_long_grace_periods_pct;
  };
  Spikes report_series(const RunFacts& facts, MetricSink& metrics) const;
  void tick(Cpu& cpu);
  void set_next_tick(Cpu& cpu);
  [[nodiscard]] std::int64_t samples() const;
  [[nodiscard]] Spikes spikes(const Cpu& any, const Samples& softirqs) const;
  static std::int64_t sample_at(const Cpu& cpu, Tick at) { return static_cast<std::int64_t>(cpu.to_ns(at) / 1000 / kSampleUs); }
  static std::int64_t sample_of(const Cpu& cpu) { return sample_at(cpu, cpu.local_time()); }

  FloodOptions options_;
  std::optional<Interrupts> interrupts_;
  std::unique_ptr<Rcu> rcu_;
  std::optional<CpuThreads> threads_;
  std::optional<RouteCache> cache_;
  std::optional<Reception> reception_;
  int tick_vector_ = 0;
  FunctionId tick_function_ = 0;
  std::vector<OfCpu> cpus_;
  Samples entries_, pending_;  // of the routing CPU
};

void RouteCacheFlood::set_up(const WorkloadSetup& setting) {
  interrupts_.emplace(setting.machine.cpus);
  cpus_.resize(setting.machine.cpus);
  rcu_ = make_classic_rcu(setting, *interrupts_, options_.rcu);
  threads_.emplace(setting, *interrupts_, *rcu_, options_.threads);
  cache_.emplace(setting, *rcu_, threads_->jiffies(), 1e6 / kJiffyUs, options_.cache);
  reception_.emplace(setting, *interrupts_, options_.reception, [this](Cpu& cpu, Value destination) {
    const bool routed = cache_->route(cpu, destination);
    cpu.tally(kPacketsRouted);
    return routed;
  });
  tick_vector_ = interrupts_->add_handler([this](Cpu& cpu, FunctionId) { tick(cpu); });
  tick_function_ = setting.memory.function("scheduler_tick", Mode::kernel);
  interrupts_->after_softirq([this](Cpu& cpu, int) { cpus_[cpu.id().value].softirqs.add(sample_of(cpu), 1); });
}

void RouteCacheFlood::run(Cpu& cpu) {
  rcu_->start(cpu);
  cpus_[cpu.id().value].next_tick_ns = cpu.now_ns();
  set_next_tick(cpu);
  if (cpu.id().value == 0) reception_->start(cpu);
  threads_->run(cpu);
}

void RouteCacheFlood::set_next_tick(Cpu& cpu) {
  double& next_ns = cpus_[cpu.id().value].next_tick_ns;
  const double now_ns = cpu.now_ns();
  while (next_ns <= now_ns) next_ns += kJiffyUs * 1000;
  cpu.set_timer(next_ns - now_ns, tick_vector_);
}

void RouteCacheFlood::tick(Cpu& cpu) {
  const FunctionScope scope(cpu, tick_function_);
  set_next_tick(cpu);
  threads_->tick(cpu);
  const std::int64_t sample = sample_of(cpu);
  const int number = cpu.id().value;
  cpus_[number].threads.raise(sample, threads_->run_queue_length(number));
  if (number == 0) {
    entries_.raise(sample, static_cast<double>(cache_->entries()));
    pending_.raise(sample, static_cast<double>(rcu_->queued_on(cpu)));
  }
}

void RouteCacheFlood::report(const RunFacts& facts, MetricSink& metrics) const {
  report_throughput(facts, kPacketsRouted, metrics);
  figures_of(reception_).report(facts, metrics);
  figures_of(cache_).report(metrics);
  figures_of(threads_).report(metrics);
  report_rcu(rcu_.get(), metrics);
  const Spikes spikes = rcu_ ? report_series(facts, metrics) : Spikes();
  metrics.value(
      "flood.long_grace_periods_with_softirqs_pct", "%", kNeither,
      "of the longest tenth of the grace periods, those that are of the tenth with the most softirqs in 4 jiffies, on "
      "average",
      spikes.with_softirqs_pct);
  metrics.value("flood.large_batches_after_long_grace_periods_pct", "%", kNeither,
                "of the largest tenth of the batches of callbacks, those behind a grace period of the longest tenth",
                spikes.after_long_grace_periods_pct);
}

// The number of samples up to the last clock tick.
std::int64_t RouteCacheFlood::samples() const {
  std::int64_t most = 0;
  for (const OfCpu& own : cpus_) most = std::max(most, own.threads.size());
  return most;
}

RouteCacheFlood::Spikes RouteCacheFlood::report_series(const RunFacts& facts, MetricSink& metrics) const {
  const Cpu& any = facts.cpu(0);
  Samples softirqs;
  Samples threads;
  for (const OfCpu& own : cpus_) {
    softirqs.add_all(own.softirqs);
    threads.add_all(own.threads);
  }
  Samples lengths;
  for (const GracePeriod& period : rcu_->grace_periods())
    lengths.raise(sample_at(any, period.ended), any.to_ns(period.ended - period.began) / 1e6);
  Samples batches;
  for (const CallbackBatch& ran : rcu_->batches()) batches.raise(sample_at(any, ran.at), static_cast<double>(ran.callbacks));
  metrics.series("softirqs.per_4_jiffies", softirqs.rows(samples()));
  metrics.series("rcu.grace_period_ms", lengths.rows(samples()));
  metrics.series("rcu.batch", batches.rows(samples()));
  metrics.series("rcu.pending", pending_.rows(samples()));
  metrics.series("route_cache.entries", entries_.rows(samples()));
  metrics.series("threads.runnable", threads.rows(samples()));
  return spikes(any, softirqs);
}

// Spikes among the grace periods and batches that ended in the measured time.
RouteCacheFlood::Spikes RouteCacheFlood::spikes(const Cpu& any, const Samples& softirqs) const {
  std::vector<double> length;
  std::vector<double> softirqs_meanwhile;  // means, because a maximum would grow with the length of the grace period
  for (const GracePeriod& period : rcu_->grace_periods()) {
    if (!any.measures(period.ended)) continue;
    length.push_back(any.to_ns(period.ended - period.began));
    const std::int64_t first = sample_at(any, period.began);
    const std::int64_t last = sample_at(any, period.ended);
    double sum = 0;
    for (std::int64_t sample = first; sample <= last; ++sample) sum += softirqs.value(sample);
    softirqs_meanwhile.push_back(sum / static_cast<double>(last - first + 1));
  }
  std::vector<double> batch;
  std::vector<double> grace_period_before;
  const std::vector<GracePeriod>& periods = rcu_->grace_periods();
  std::size_t next = 0;
  for (const CallbackBatch& ran : rcu_->batches()) {
    while (next < periods.size() && periods[next].ended <= ran.at) ++next;
    if (next == 0 || !any.measures(ran.at)) continue;
    batch.push_back(static_cast<double>(ran.callbacks));
    grace_period_before.push_back(any.to_ns(periods[next - 1].ended - periods[next - 1].began));
  }
  return {spikes_accompanied_pct(length, softirqs_meanwhile), spikes_accompanied_pct(batch, grace_period_before)};
}

}  // namespace

WorkloadEntry route_cache_flood_workload() {
  return {"route_cache_flood",
          "A router's route cache under a flood of packets, and the grace periods that its entries wait for",
          declare<FloodOptions>(),
          make_workload<RouteCacheFlood>,
          {{"route_cache.overflows", "overflows"},
           {"rcu.grace_period_max_us", "longest grace period"},
           {"starvation.longest_ms", "starved"}}};
}

}  // namespace linebounce::workloads
