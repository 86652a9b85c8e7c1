// RCU for user-mode programs, in which each thread announces its quiescent states (Desnoyers, McKenney et al.: "User-Level
// Implementations of Read-Copy Update", 2012; the protocol is that of liburcu's `urcu-qsbr`). A reader's section costs nothing.
// Between sections, a thread copies the grace period's number to a word of its own, with barriers before and after; if it will
// not read for a while, it stores 0 there instead. An updater increases the number, and waits until every thread's word has
// this number or 0.
//
// Unlike liburcu's, these updaters take turns under a lock instead of sharing a grace period, and they spin on a thread's word
// without limit instead of sleeping after a hundred reads.
#include <fmt/format.h>

#include "workloads/locks/lock_set.hpp"
#include "workloads/rcu/grace_periods.hpp"
#include "workloads/rcu/readers.hpp"
#include "workloads/rcu/synchronous_rcu.hpp"

namespace linebounce::workloads {
namespace {

constexpr Value kOffline = 0;
constexpr Value kFirst = 1, kStep = 2;  // numbers are odd, so that none is kOffline

class Qsbr final : public SynchronousRcu {
 public:
  Qsbr(const WorkloadSetup& setting, const SynchronousRcuOptions& options);

  void start(Cpu& cpu) override { go_online(cpu); }
  // A section needs no memory operation. now() keeps the checks in the order of simulated time.
  int read_lock(Cpu& cpu) override {
    cpu.now();
    readers_.enter(cpu);
    return 0;
  }
  void read_unlock(Cpu& cpu, int) override {
    cpu.now();
    readers_.leave(cpu);
  }
  void quiescent(Cpu& cpu) override;
  void go_offline(Cpu& cpu) override;
  void go_online(Cpu& cpu) override;
  void synchronize(Cpu& cpu) override;
  void report(MetricSink& metrics) const override { times_.report(metrics); }
  void report_reports(MetricSink& metrics) const override;

 private:
  [[nodiscard]] Address word_of(const Cpu& cpu) const { return words_[cpu.id().value]; }

  RcuReaders readers_;
  GracePeriodTimes times_;
  MeteredLock* lock_ = nullptr;
  Address number_ = 0;
  std::vector<Address> words_;              // by CPU
  std::vector<QuiescenceReports> reports_;  // by CPU
  std::size_t awaited_;                     // number of CPUs that grace periods wait for
  bool barrier_;
  FunctionId quiescent_, offline_, online_, synchronize_;
};

Qsbr::Qsbr(const WorkloadSetup& setting, const SynchronousRcuOptions& options)
    : readers_(setting.machine.cpus),
      awaited_(setting.machine.cpus - (options.mistake == RcuMistake::skips_a_cpu ? 1 : 0)),
      barrier_(options.mistake != RcuMistake::no_barrier),
      quiescent_(setting.memory.function("rcu_quiescent_state", Mode::user)),
      offline_(setting.memory.function("rcu_thread_offline", Mode::user)),
      online_(setting.memory.function("rcu_thread_online", Mode::user)),
      synchronize_(setting.memory.function("synchronize_rcu", Mode::user)) {
  static const Layout kGracePeriod{.name = "urcu_gp", .size = 8, .fields = {{"ctr", 0}}};
  static const Layout kReader{.name = "urcu_reader", .size = 8, .fields = {{"ctr", 0}}};
  const int line = setting.memory.line_bytes();
  number_ = setting.memory.place(kGracePeriod, "urcu_gp", line);
  setting.memory.preset(number_, kFirst);
  lock_ = &setting.locks.create(options.lock, "rcu_gp_lock");
  reports_.resize(setting.machine.cpus);
  for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) {
    const Home home = Home::near(setting.layout.cpus[cpu]);
    words_.push_back(setting.memory.place(kReader, fmt::format("urcu_reader[{}]", cpu), line, home));
  }
}

void Qsbr::quiescent(Cpu& cpu) {
  const FunctionScope scope(cpu, quiescent_);
  readers_.refuse_inside(cpu, "a quiescent state");
  const Tick from = cpu.local_time();
  const Value number = cpu.load(number_);
  if (cpu.load(word_of(cpu)) == number) return;
  cpu.fence();
  cpu.store(word_of(cpu), number);
  cpu.fence();
  reports_[cpu.id().value].add(cpu, from);
}

void Qsbr::go_offline(Cpu& cpu) {
  const FunctionScope scope(cpu, offline_);
  readers_.refuse_inside(cpu, "going offline");
  cpu.fence();
  cpu.store(word_of(cpu), kOffline);
}

void Qsbr::go_online(Cpu& cpu) {
  const FunctionScope scope(cpu, online_);
  const Value number = cpu.load(number_);
  cpu.store(word_of(cpu), number);
  if (barrier_) cpu.fence();
}

void Qsbr::report_reports(MetricSink& metrics) const {
  QuiescenceReports all;
  for (const QuiescenceReports& of_cpu : reports_) all.add(of_cpu);
  all.report(times_.ended(), metrics);
}

// The updater is offline while it waits. Otherwise two updaters would wait for each other.
void Qsbr::synchronize(Cpu& cpu) {
  const FunctionScope scope(cpu, synchronize_);
  readers_.refuse_inside(cpu, "synchronize()");
  const Tick removed = cpu.now();
  go_offline(cpu);
  lock_->acquire(cpu);
  times_.begin(cpu);
  const Value number = cpu.load(number_) + kStep;
  cpu.store(number_, number);
  cpu.fence();
  for (std::size_t other = 0; other < awaited_; ++other)
    cpu.spin_until_acquire(words_[other], [number](Value word) { return word == kOffline || word == number; });
  times_.end(cpu);
  lock_->release(cpu);
  readers_.check_gone(removed);
  go_online(cpu);
}

}  // namespace

std::unique_ptr<SynchronousRcu> make_qsbr(const WorkloadSetup& setting, const SynchronousRcuOptions& options) {
  return std::make_unique<Qsbr>(setting, options);
}

}  // namespace linebounce::workloads
