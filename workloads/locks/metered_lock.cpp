#include "workloads/locks/metered_lock.hpp"

#include <algorithm>

#include "models/timeline.hpp"
#include "workloads/program/composite_operation.hpp"

namespace linebounce::workloads {

void MeteredLock::take(Cpu& cpu, bool shared) {
  const CompositeOperation taking(cpu,
                                  {.what = shared ? Composite::What::acquire_shared : Composite::What::acquire, .lock = this});
  const LockHolders::Use wanted{this, cpu.function(), cpu.local_time(), shared};
  holders_->begins_to_wait(cpu, wanted);
  const bool waited = shared ? lock_->acquire_shared(cpu) : lock_->acquire(cpu);
  holders_->ends_to_wait(cpu);
  took(cpu, wanted, waited);
}

void MeteredLock::took(Cpu& cpu, const LockHolders::Use& wanted, bool waited) {
  const bool shared = wanted.shared;
  begin_hold(cpu, wanted.call_site, shared);
  figures_->acquired(cpu, wanted.call_site, wanted.since, waited);
  // A CPU that has waited for an exclusive hold has seen the release of every hold that kept it out. So last_release() includes
  // them, even if some CPUs run ahead. Holds of readers that keep no writer out are ignored: they hand nothing over, and
  // last_release() may not include all of them.
  const bool alone = traits_.excludes && (!shared || traits_.readers == Readers::one_by_one);
  const bool by_reader = keep_writers_out(traits_.readers) && last_release(true) > last_release(false);
  const Tick released = last_release(by_reader);
  if (waited && alone && released > wanted.since)
    figures_->handed_off(cpu, wanted.call_site, released, !holders_->share_node(exclusion_.last_holder(by_reader), cpu.id()));
  if (waited && cpu.timeline() != nullptr)
    cpu.timeline()->lock(cpu.id(), name_, LockPhase::wait, wanted.since, cpu.local_time());
}

bool MeteredLock::try_acquire(Cpu& cpu) {
  CompositeOperation trying(cpu, {.what = Composite::What::try_acquire, .lock = this});
  const FunctionId call_site = cpu.function();
  const Tick wanted = cpu.local_time();
  if (!lock_->try_acquire(cpu)) {
    trying.set_failed();
    figures_->rejected(cpu, call_site);
    return false;
  }
  begin_hold(cpu, call_site, false);
  figures_->acquired(cpu, call_site, wanted, false);
  return true;
}

bool MeteredLock::acquire_by_tries(Cpu& cpu, bool shared, const std::function<bool()>& again) {
  CompositeOperation trying(cpu, {.what = Composite::What::try_acquire, .lock = this});
  const LockHolders::Use wanted{this, cpu.function(), cpu.local_time(), shared, true};
  bool waits = shared || !traits_.tries, waited = false;
  holders_->begins_to_try(cpu, wanted);
  bool stuck = holders_->is_stuck(cpu);
  while (!stuck && !waits && !lock_->try_acquire(cpu)) {
    waited = true;
    figures_->rejected(cpu, wanted.call_site);
    stuck = holders_->is_stuck(cpu);
    waits = !stuck && !again();
  }
  holders_->ends_to_wait(cpu);
  if (stuck) {
    trying.set_failed();
  } else if (waits) {
    take(cpu, shared);
  } else {
    took(cpu, wanted, waited);
  }
  return !stuck;
}

void MeteredLock::begin_hold(Cpu& cpu, FunctionId call_site, bool shared) {
  const LockHolders::Use taken{this, call_site, cpu.local_time(), shared};
  holders_->acquired(cpu, taken);
  exclusion_.entered(cpu, taken);
}

LockHolders::Use MeteredLock::end_hold(const Cpu& cpu, bool shared) {
  const LockHolders::Use use = holders_->released(cpu, *this, shared);
  figures_->released(cpu, use.call_site, use.since);
  held_ += cpu.measured(use.since, cpu.local_time());
  exclusion_.left(cpu, use, cpu.local_time());
  if (!traits_.excludes) sections_.add(cpu, use.call_site, use.since, cpu.local_time(), shared);
  if (cpu.timeline() != nullptr) cpu.timeline()->lock(cpu.id(), name_, LockPhase::hold, use.since, cpu.local_time());
  return use;
}

void MeteredLock::still_held(const Cpu& cpu, const LockHolders::Use& use, Tick end) {
  figures_->still_held(cpu, use.call_site, use.since, end);
  held_ += cpu.measured(use.since, end);
}

void MeteredLock::release(Cpu& cpu) {
  const CompositeOperation releasing(cpu, {.what = Composite::What::release, .lock = this});
  end_hold(cpu, false);
  lock_->release(cpu);
}

bool MeteredLock::release_shared(Cpu& cpu) {
  CompositeOperation releasing(cpu, {.what = Composite::What::release_shared, .lock = this});
  const LockHolders::Use use = end_hold(cpu, true);
  const Tick until = cpu.local_time();
  if (lock_->release_shared(cpu)) {
    exclusion_.accepted(cpu, use, until);
    return true;
  }
  releasing.set_failed();
  figures_->rejected(cpu, use.call_site);
  return false;
}

}  // namespace linebounce::workloads
