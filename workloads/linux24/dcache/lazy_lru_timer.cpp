// As lazy_lru, and a timer removes entries in use from the LRU list (OLS 2002, section 5.1). The timer's work runs in a
// softirq, so a holder of dcache_lock disables softirqs, as spin_lock_bh does.
#include "workloads/linux24/dcache/designs.hpp"
#include "workloads/linux24/dcache/lazy_lru.hpp"

namespace linebounce::workloads {
namespace {

class LazyLruTimer final : public LazyLru {
 public:
  explicit LazyLruTimer(const DcacheSetup& setup)
      : LazyLru(setup),
        interrupts_(setup.interrupts),
        period_ns_(setup.lru_timer_us * 1000),
        update_(setup.memory.function("d_lru_timer", Mode::kernel)) {
    softirq_ = interrupts_->add_softirq([this](Cpu& cpu) { update(cpu); });
    vector_ = interrupts_->add_handler([this](Cpu& cpu, FunctionId) { interrupts_->raise(cpu, softirq_); });
  }

  void start(Cpu& cpu) override {
    LazyLru::start(cpu);
    interrupts_->start(cpu);
    if (cpu.id().value == 0) cpu.set_timer(period_ns_, vector_);
  }

 protected:
  void lock(Cpu& cpu) override {
    interrupts_->disable_softirqs(cpu);
    LazyLru::lock(cpu);
  }
  void unlock(Cpu& cpu) override {
    LazyLru::unlock(cpu);
    interrupts_->enable_softirqs(cpu);
  }

 private:
  void update(Cpu& cpu) {
    const FunctionScope scope(cpu, update_);
    LazyLru::lock(cpu);
    Address entry = list::previous(cpu, lru_);
    while (entry != lru_) {
      const Address before = list::previous(cpu, entry);
      const Address dentry = entry - field_.d_lru;
      if (in_use_on_lru(cpu, dentry)) remove_unused(cpu, dentry);
      entry = before;
    }
    LazyLru::unlock(cpu);
    cpu.set_timer(period_ns_, vector_);
  }

  Interrupts* interrupts_;
  double period_ns_;
  FunctionId update_;
  int softirq_ = 0;
  int vector_ = 0;
};

}  // namespace

DcacheDesign lazy_lru_timer_dcache() {
  return {.name = "lazy_lru_timer", .defers_freeing = true, .create = make_dcache<LazyLruTimer>};
}

}  // namespace linebounce::workloads
