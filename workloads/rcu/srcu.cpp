// Sleepable RCU: every CPU counts its readers' entries and exits under one of two indexes. A reader enters under the current
// index. An updater switches the index, so that readers under the old one can only become fewer. It then waits until, under the
// old index, the exits of all CPUs together equal the entries.
//
// The words and barriers are those of the Linux kernel since 2017: a barrier separates the count of an entry from the section's
// first access, another the section's last access from the count of its exit. The updater adds up exits before entries, so a
// concurrent reader can only make the number of readers look larger. Before it switches, the updater also waits for the other
// index: a reader may have read that index before the last switch and count its entry only now. A waiting updater uses other
// updaters' grace periods: two switches since it arrived make one whole grace period.
#include <fmt/format.h>

#include "workloads/locks/lock_set.hpp"
#include "workloads/program/times.hpp"
#include "workloads/rcu/grace_periods.hpp"
#include "workloads/rcu/readers.hpp"
#include "workloads/rcu/synchronous_rcu.hpp"

namespace linebounce::workloads {
namespace {

constexpr Address kEntries = 0, kExits = 16;  // in each CPU's object: two words, one for each index

class Srcu final : public SynchronousRcu {
 public:
  Srcu(const WorkloadSetup& setting, const SynchronousRcuOptions& options);

  void start(Cpu&) override {}
  int read_lock(Cpu& cpu) override;
  void read_unlock(Cpu& cpu, int section) override;
  void quiescent(Cpu& cpu) override { readers_.refuse_inside(cpu, "a quiescent state"); }
  void go_offline(Cpu& cpu) override { quiescent(cpu); }
  void go_online(Cpu&) override {}
  void synchronize(Cpu& cpu) override;
  void report(MetricSink& metrics) const override { times_.report(metrics); }
  void report_reports(MetricSink& metrics) const override { QuiescenceReports().report(0, metrics); }

 private:
  static void increment(Cpu& cpu, Address word) {
    const Value value = cpu.load(word);
    cpu.store(word, value + 1);
  }
  [[nodiscard]] Address word(std::size_t cpu, Address which, int index) const {
    return counts_[cpu] + which + 8 * static_cast<Address>(index);
  }
  [[nodiscard]] Value sum(Cpu& cpu, Address which, int index) const;
  [[nodiscard]] bool readers_left(Cpu& cpu, int index) const;
  void wait_for_readers(Cpu& cpu, int index) const;

  RcuReaders readers_;
  GracePeriodTimes times_;
  MeteredLock* lock_ = nullptr;
  Address turns_ = 0;
  std::vector<Address> counts_;  // by CPU
  std::size_t awaited_;          // number of CPUs that grace periods wait for
  bool barrier_;
  std::int64_t retry_cycles_;
  FunctionId read_lock_, read_unlock_, synchronize_;
};

Srcu::Srcu(const WorkloadSetup& setting, const SynchronousRcuOptions& options)
    : readers_(setting.machine.cpus),
      awaited_(setting.machine.cpus - (options.mistake == RcuMistake::skips_a_cpu ? 1 : 0)),
      barrier_(options.mistake != RcuMistake::no_barrier),
      retry_cycles_(cycles(options.retry_us, setting.machine)),
      read_lock_(setting.memory.function("srcu_read_lock", Mode::kernel)),
      read_unlock_(setting.memory.function("srcu_read_unlock", Mode::kernel)),
      synchronize_(setting.memory.function("synchronize_srcu", Mode::kernel)) {
  static const Layout kStruct{.name = "srcu_struct", .size = 16, .fields = {{"completed", 0}, {"mutex", 8}}};
  static const Layout kCounts{
      .name = "srcu_data", .size = 32, .fields = {{"lock_count", kEntries, 16}, {"unlock_count", kExits, 16}}};
  const int line = setting.memory.line_bytes();
  turns_ = setting.memory.place(kStruct, "srcu_struct", line);
  lock_ = &setting.locks.create(options.lock, "srcu_mutex", {.word = turns_ + 8});
  for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) {
    const Home home = Home::near(setting.layout.cpus[cpu]);
    counts_.push_back(setting.memory.place(kCounts, fmt::format("srcu_data[{}]", cpu), line, home));
  }
}

int Srcu::read_lock(Cpu& cpu) {
  const FunctionScope scope(cpu, read_lock_);
  const Value turns = cpu.load(turns_);
  const int index = static_cast<int>(turns & 1);
  increment(cpu, word(cpu.id().value, kEntries, index));
  if (barrier_) cpu.fence();
  cpu.now();
  readers_.enter(cpu);
  return index;
}

void Srcu::read_unlock(Cpu& cpu, int section) {
  const FunctionScope scope(cpu, read_unlock_);
  cpu.now();
  readers_.leave(cpu);
  if (barrier_) cpu.fence();
  increment(cpu, word(cpu.id().value, kExits, section));
}

Value Srcu::sum(Cpu& cpu, Address which, int index) const {
  Value all = 0;
  for (std::size_t other = 0; other < awaited_; ++other) all += cpu.load(word(other, which, index));
  return all;
}

bool Srcu::readers_left(Cpu& cpu, int index) const {
  const Value exits = sum(cpu, kExits, index);
  cpu.fence();
  return sum(cpu, kEntries, index) != exits;
}

void Srcu::wait_for_readers(Cpu& cpu, int index) const {
  while (readers_left(cpu, index)) cpu.compute(retry_cycles_);
}

void Srcu::synchronize(Cpu& cpu) {
  const FunctionScope scope(cpu, synchronize_);
  readers_.refuse_inside(cpu, "synchronize()");
  const Tick removed = cpu.now();
  cpu.fence();
  const Value came = cpu.load(turns_);
  lock_->acquire(cpu);
  const Value turns = cpu.load(turns_);
  if (turns - came < 2) {
    times_.begin(cpu);
    const int old = static_cast<int>(turns & 1);
    wait_for_readers(cpu, 1 - old);
    cpu.fence();
    cpu.store(turns_, turns + 1);
    cpu.fence();
    wait_for_readers(cpu, old);
    times_.end(cpu);
  }
  lock_->release(cpu);
  cpu.fence();
  readers_.check_gone(removed);
}

}  // namespace

std::unique_ptr<SynchronousRcu> make_srcu(const WorkloadSetup& setting, const SynchronousRcuOptions& options) {
  return std::make_unique<Srcu>(setting, options);
}

}  // namespace linebounce::workloads
