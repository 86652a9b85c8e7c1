// Dynamic timers of Linux 2.6.20 (kernel/timer.c): each CPU has a base (tvec_base) with a lock and wheels of lists. A timer is
// on the base of the CPU that added it; a CPU that deletes it takes that base's lock.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "workloads/linux26/kernel/kernel.hpp"
#include "workloads/linux26/timers/timer.hpp"

namespace linebounce::workloads {

class RetiredTimers;

struct TimerOptions {
  double jiffy_us = 1000;
  // A CPU that deletes another CPU's timer only marks it as retired; the base's CPU removes it later.
  bool batch_deletes = false;
  // prefetch_base() prefetches the lock's line.
  bool prefetch_locks = false;
};

class Timers {
 public:
  Timers(Kernel& kernel, const TimerOptions& options);
  ~Timers();
  Timers(const Timers&) = delete;
  Timers& operator=(const Timers&) = delete;

  // init(timer) is for a timer placed before the simulation; it is on no base yet, and counts as CPU 0's. init(cpu, timer) is
  // init_timer() of a timer in a newly allocated object. REQUIRES: no timer at its address is pending.
  void init(Timer& timer);
  void init(Cpu& cpu, Timer& timer);

  // add(): add_timer(). Errors: ModelFailure if it is pending.
  // modify(): mod_timer(), for any timer; returns true if it was pending.
  // remove(): del_timer(); returns true if it was pending. Its callback may still be running.
  // remove_sync(): the same, but waits until the callback has ended. REQUIRES: not called in that callback.
  // A timer expires in the first tick that is at least `delay_us` after the latest jiffy.
  void add(Cpu& cpu, Timer& timer, double delay_us);
  bool modify(Cpu& cpu, Timer& timer, double delay_us);
  bool remove(Cpu& cpu, Timer& timer);
  bool remove_sync(Cpu& cpu, Timer& timer);

  // del_timer() of a timer whose owner is about to be freed. Returns false if the timer was not pending; `done` is then never
  // called. Otherwise the timer never runs, and `done` is called as soon as the owner may be freed: during this call, or with
  // batch_deletes perhaps later, in a softirq on the CPU of its base. Until then the timer must not be used. Errors:
  // ModelFailure if it is.
  bool retire(Cpu& cpu, Timer& timer, Timer::Callback done);

  // Prefetches the line that has the lock of the timer's base, for a caller that is about to delete several timers.
  void prefetch_base(Cpu& cpu, const Timer& timer) const;

  // Called in each CPU's tick, in the handler. Time advances with CPU 0's tick; expired timers run in a softirq after the tick.
  void tick(Cpu& cpu);
  [[nodiscard]] double jiffy_us() const { return options_.jiffy_us; }

 private:
  static constexpr int kWheels = 5;
  // A CPU's tvec_base, and the stack variables of run_timer_softirq() and cascade().
  struct Base {
    Object object, stack;
    MeteredLock* lock = nullptr;
  };
  enum class Clear : bool { no, yes };

  Base& own(const Cpu& cpu) { return bases_[cpu.id().value]; }
  Base& base_of(Value word);
  [[nodiscard]] Timer& timer_at(Address entry) const;

  Value expiry(Cpu& cpu, double delay_us) const;
  Base& lock_base(Cpu& cpu, const Timer& timer);
  bool modify_locked(Cpu& cpu, Timer& timer, Base& base, Value expires);
  void internal_add(Cpu& cpu, const Base& base, Timer& timer);
  void detach(Cpu& cpu, Timer& timer, Clear clear);
  bool take_off(Cpu& cpu, Timer& timer, const Base& base);
  void forbid_retired(Cpu& cpu, const Timer& timer) const;
  void become_pending(Cpu& cpu, const Timer& timer, const Base& base) const;
  bool claim_expired(Cpu& cpu, const Timer& timer, const Base& base) const;

  void run_softirq(Cpu& cpu);
  void run_expired(Cpu& cpu, Base& base);
  void run_list(Cpu& cpu, Base& base);
  void cascade_all(Cpu& cpu, Base& base, Value jiffy);
  void cascade(Cpu& cpu, const Base& base, Address list);
  void detach_retired(Cpu& cpu, Base& base);

  Kernel& kernel_;
  TimerOptions options_;
  FunctionId add_, modify_, modify_inner_, internal_add_, remove_, remove_sync_, run_, cascade_, detach_retired_, do_timer_;
  FieldPlace lock_, running_timer_, timer_jiffies_, jiffy_, work_list_, tv_list_;
  std::array<FieldPlace, kWheels> wheels_;
  int softirq_ = 0;
  Object jiffies_;
  std::vector<Base> bases_;  // by CPU
  std::unordered_map<Address, std::size_t> base_by_address_;
  std::unordered_map<Address, Timer*> timers_;  // by the address of the timer's entry
  std::unique_ptr<RetiredTimers> retired_;      // used with batch_deletes
};

}  // namespace linebounce::workloads
