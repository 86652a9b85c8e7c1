#include "workloads/linux26/timers/timers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "models/failure.hpp"
#include "workloads/linux26/timers/retired_timers.hpp"

namespace linebounce::workloads {
namespace {

// tv1 has a list for each of the next 256 jiffies. A list of tv2 covers 256 jiffies; when that time comes, its timers are
// distributed over tv1. tv3 and the others work in the same way.
constexpr int kRootBits = 8;
constexpr int kWheelBits = 6;
constexpr Value kRootMask = (Value{1} << kRootBits) - 1;
constexpr Value kWheelMask = (Value{1} << kWheelBits) - 1;
constexpr int kHeadBytes = 2 * list64::kPointerBytes;
constexpr Value kListPoison2 = 0x00200200;

// How many low bits of a time in jiffies this wheel ignores when it chooses a list. REQUIRES: wheel > 0.
constexpr int bits_below(int wheel) {
  return kRootBits + (wheel - 1) * kWheelBits;
}

Address list_of(Address wheel, Value index) {
  return wheel + index * kHeadBytes;
}

// time_before(): compares jiffies, whose count may have wrapped round.
bool before(Value a, Value b) {
  return static_cast<std::int64_t>(a - b) < 0;
}

// list_replace_init(): moves a list's entries to another head.
void replace_head(Cpu& cpu, Address from, Address to) {
  const Address first = list64::next(cpu, from);
  list64::set_next(cpu, to, first);
  list64::set_previous(cpu, first, to);
  const Address last = list64::previous(cpu, from);
  list64::set_previous(cpu, to, last);
  list64::set_next(cpu, last, to);
  list64::initialise(cpu, from);
}

}  // namespace

TimerFields timer_fields(const Layout& layout, const std::string& name) {
  return {list_field_of(layout, name + ".entry"), field_of(layout, name + ".expires"), field_of(layout, name + ".base")};
}

Timers::Timers(Kernel& kernel, const TimerOptions& options)
    : kernel_(kernel),
      options_(options),
      add_(kernel.function("add_timer")),
      modify_(kernel.function("mod_timer")),
      modify_inner_(kernel.function("__mod_timer")),
      internal_add_(kernel.function("internal_add_timer")),
      remove_(kernel.function("del_timer")),
      remove_sync_(kernel.function("try_to_del_timer_sync")),
      run_(kernel.function("run_timer_softirq")),
      cascade_(kernel.function("cascade")),
      detach_retired_(kernel.function("detach_retired_timers")),
      do_timer_(kernel.function("do_timer")),
      lock_(kernel.field("tvec_base", "lock")),
      running_timer_(kernel.field("tvec_base", "running_timer")),
      timer_jiffies_(kernel.field("tvec_base", "timer_jiffies")),
      jiffy_(kernel.field("jiffies", "jiffies")),
      work_list_(kernel.list_field("timer_stack", "work_list")),
      tv_list_(kernel.list_field("timer_stack", "tv_list")),
      softirq_(kernel.interrupts().add_softirq([this](Cpu& cpu) { run_softirq(cpu); })),
      jiffies_(kernel.place("jiffies", "jiffies", {})) {
  if (options.batch_deletes) retired_ = std::make_unique<RetiredTimers>(kernel);
  for (int wheel = 0; wheel < kWheels; ++wheel) wheels_[wheel] = kernel.field("tvec_base", fmt::format("tv{}", wheel + 1));
  for (int cpu = 0; cpu < kernel.cpus(); ++cpu) {
    const std::string name = fmt::format("tvec_base[{}]", cpu);
    const std::string stack_name = fmt::format("timer_stack[{}]", cpu);
    const int node = kernel.node_of(cpu);
    Base base{.object = kernel.place("tvec_base", name, node), .stack = kernel.place("timer_stack", stack_name, node)};
    base.lock = &kernel.lock_in(base.object, name, "tvec_base", "lock");
    for (const FieldPlace& wheel : wheels_) {
      for (int at = 0; at < wheel.size; at += kHeadBytes)
        list64::preset_empty(kernel.memory(), base.object.at(wheel, cpu) + static_cast<Address>(at));
    }
    list64::preset_empty(kernel.memory(), base.stack.at(work_list_, cpu));
    list64::preset_empty(kernel.memory(), base.stack.at(tv_list_, cpu));
    if (retired_) retired_->place_for(cpu);
    base_by_address_[base.object.address()] = bases_.size();
    bases_.push_back(base);
  }
}

Timers::~Timers() = default;

void Timers::init(Timer& timer) {
  kernel_.memory().preset(timer.base(), bases_.front().object.address());
  timers_[timer.entry()] = &timer;
}

void Timers::init(Cpu& cpu, Timer& timer) {
  cpu.store(timer.entry(), 0);
  cpu.store(timer.base(), own(cpu).object.address());
  timers_[timer.entry()] = &timer;
}

Timers::Base& Timers::base_of(Value word) {
  return bases_[base_by_address_.at(word & ~kTimerState)];
}

Timer& Timers::timer_at(Address entry) const {
  const auto found = timers_.find(entry);
  if (found == timers_.end()) throw ModelFailure(fmt::format("{:#x} is on a list of timers and is none", entry));
  return *found->second;
}

Value Timers::expiry(Cpu& cpu, double delay_us) const {
  const auto jiffies = static_cast<Value>(std::ceil(delay_us / options_.jiffy_us));
  return jiffies_.load(cpu, jiffy_) + jiffies;
}

// lock_timer_base(): retries if the timer has moved to another base before the lock was acquired.
Timers::Base& Timers::lock_base(Cpu& cpu, const Timer& timer) {
  for (;;) {
    const Value word = cpu.spin_until(timer.base(), [](Value base) { return base != 0; });
    Base& base = base_of(word);
    kernel_.lock_irq(cpu, *base.lock);
    const Value now = cpu.load(timer.base());
    if ((now & ~kTimerState) == base.object.address()) return base;
    kernel_.unlock_irq(cpu, *base.lock);
  }
}

void Timers::add(Cpu& cpu, Timer& timer, double delay_us) {
  const FunctionScope scope(cpu, add_);
  forbid_retired(cpu, timer);
  if (cpu.load(timer.entry()) != 0) throw ModelFailure("add_timer() of a timer that is pending");
  const Value expires = expiry(cpu, delay_us);
  const FunctionScope as_printed(cpu, modify_);
  Base& base = lock_base(cpu, timer);
  modify_locked(cpu, timer, base, expires);
}

// Reports count the wait for the lock of the timer's base in mod_timer(). In 2.6.20 it is __mod_timer() that takes this lock,
// but figure 5 of OLS 2007 prints only that function's second lock (after the check of running_timer) under its name.
bool Timers::modify(Cpu& cpu, Timer& timer, double delay_us) {
  const FunctionScope scope(cpu, modify_);
  const Value expires = expiry(cpu, delay_us);
  forbid_retired(cpu, timer);
  const Value expired_before = cpu.load(timer.expires());
  if (expired_before == expires && cpu.load(timer.entry()) != 0) return true;
  Base& base = lock_base(cpu, timer);
  return modify_locked(cpu, timer, base, expires);
}

// REQUIRES: the base's lock is held; releases it.
bool Timers::modify_locked(Cpu& cpu, Timer& timer, Base& base, Value expires) {
  const bool pending = cpu.load(timer.entry()) != 0;
  if (pending) detach(cpu, timer, Clear::no);
  const FunctionScope scope(cpu, modify_inner_);
  Base* to = &base;
  // A running timer stays on its base, because only the base's CPU knows that it runs.
  if (&own(cpu) != &base && base.object.load(cpu, running_timer_) != timer.entry()) {
    cpu.store(timer.base(), 0);
    base.lock->release(cpu);
    to = &own(cpu);
    to->lock->acquire(cpu);
  }
  cpu.store(timer.expires(), expires);
  internal_add(cpu, *to, timer);
  become_pending(cpu, timer, *to);
  kernel_.unlock_irq(cpu, *to->lock);
  return pending;
}

void Timers::internal_add(Cpu& cpu, const Base& base, Timer& timer) {
  const FunctionScope scope(cpu, internal_add_);
  const Value expires = cpu.load(timer.expires());
  const Value next = base.object.load(cpu, timer_jiffies_);
  Address list = 0;
  if (before(expires, next)) {
    list = list_of(base.object.at(wheels_[0], cpu), next & kRootMask);
  } else if (expires - next <= kRootMask) {
    list = list_of(base.object.at(wheels_[0], cpu), expires & kRootMask);
  } else {
    int wheel = 1;
    while (wheel + 1 < kWheels && (expires - next) >> bits_below(wheel + 1) != 0) ++wheel;
    const Address lists = base.object.at(wheels_[wheel], cpu);
    list = list_of(lists, (expires >> bits_below(wheel)) & kWheelMask);
  }
  kernel_.list_add_tail(cpu, timer.entry(), list);
}

// detach_timer(), with __list_del(): both are inline.
void Timers::detach(Cpu& cpu, Timer& timer, Clear clear) {
  const Address entry = timer.entry();
  const Address before = list64::previous(cpu, entry);
  const Address after = list64::next(cpu, entry);
  list64::set_previous(cpu, after, before);
  list64::set_next(cpu, before, after);
  if (clear == Clear::yes) list64::set_next(cpu, entry, 0);
  list64::set_previous(cpu, entry, kListPoison2);
}

// Returns whether the timer was pending. REQUIRES: its base's lock is held.
bool Timers::take_off(Cpu& cpu, Timer& timer, const Base& base) {
  if (cpu.load(timer.entry()) == 0) return false;
  detach(cpu, timer, Clear::yes);
  if (retired_) cpu.store(timer.base(), base.object.address());
  return true;
}

// Without batch_deletes the base's lock alone decides, and the word has no state.
void Timers::become_pending(Cpu& cpu, const Timer& timer, const Base& base) const {
  cpu.store(timer.base(), base.object.address() | (retired_ ? kArmed : 0));
}

bool Timers::claim_expired(Cpu& cpu, const Timer& timer, const Base& base) const {
  if (!retired_) return true;
  const Value armed = base.object.address() | kArmed;
  return cpu.compare_exchange(timer.base(), armed, base.object.address()) == armed;
}

void Timers::forbid_retired(Cpu& cpu, const Timer& timer) const {
  if (retired_ && (cpu.load(timer.base()) & kRetired) != 0) throw ModelFailure("a timer is used whose owner is given up");
}

bool Timers::remove(Cpu& cpu, Timer& timer) {
  const FunctionScope scope(cpu, remove_);
  forbid_retired(cpu, timer);
  if (cpu.load(timer.entry()) == 0) return false;
  const Base& base = lock_base(cpu, timer);
  const bool pending = take_off(cpu, timer, base);
  kernel_.unlock_irq(cpu, *base.lock);
  return pending;
}

bool Timers::remove_sync(Cpu& cpu, Timer& timer) {
  const FunctionScope scope(cpu, remove_sync_);
  forbid_retired(cpu, timer);
  for (;;) {
    const Base& base = lock_base(cpu, timer);
    const bool runs = base.object.load(cpu, running_timer_) == timer.entry();
    const bool pending = !runs && take_off(cpu, timer, base);
    kernel_.unlock_irq(cpu, *base.lock);
    if (!runs) return pending;
    // The kernel retries with the lock each time, which may keep out the very CPU that it waits for. Here the CPU waits until
    // running_timer changes.
    cpu.spin_until(base.object.at(running_timer_, cpu), [&timer](Value running) { return running != timer.entry(); });
  }
}

bool Timers::retire(Cpu& cpu, Timer& timer, Timer::Callback done) {
  {
    const FunctionScope scope(cpu, remove_);
    forbid_retired(cpu, timer);
    const Value word = retired_ ? cpu.load(timer.base()) : 0;
    if (retired_ && word != 0 && &base_of(word) != &own(cpu)) {
      if ((word & kArmed) == 0) return false;
      timer.retired_ = std::move(done);
      if (cpu.compare_exchange(timer.base(), word, (word & ~kTimerState) | kRetired) != word) return false;
      kernel_.interrupts_off(cpu);
      retired_->add(cpu, timer, static_cast<int>(base_by_address_.at(word & ~kTimerState)));
      kernel_.interrupts_on(cpu);
      return true;
    }
  }
  if (!remove(cpu, timer)) return false;
  done(cpu);
  return true;
}

void Timers::prefetch_base(Cpu& cpu, const Timer& timer) const {
  if (!options_.prefetch_locks) return;
  const Address base = cpu.load(timer.base()) & ~kTimerState;
  if (base != 0) cpu.prefetch(bases_[base_by_address_.at(base)].object.at(lock_, cpu), kWriteAccess);
}

void Timers::tick(Cpu& cpu) {
  if (cpu.id().value == 0) {
    const FunctionScope scope(cpu, do_timer_);
    jiffies_.add(cpu, jiffy_, 1);
  }
  kernel_.interrupts().raise(cpu, softirq_);
}

void Timers::run_softirq(Cpu& cpu) {
  const FunctionScope scope(cpu, run_);
  Base& base = own(cpu);
  if (retired_) {
    kernel_.interrupts_off(cpu);
    retired_->hand_off(cpu);
    kernel_.interrupts_on(cpu);
    detach_retired(cpu, base);
  }
  const Value now = jiffies_.load(cpu, jiffy_);
  const Value next = base.object.load(cpu, timer_jiffies_);
  if (!before(now, next)) run_expired(cpu, base);
}

// __run_timers(), inline.
void Timers::run_expired(Cpu& cpu, Base& base) {
  kernel_.lock_irq(cpu, *base.lock);
  for (;;) {
    const Value now = jiffies_.load(cpu, jiffy_);
    const Value jiffy = base.object.load(cpu, timer_jiffies_);
    if (before(now, jiffy)) break;
    cascade_all(cpu, base, jiffy);
    base.object.store(cpu, timer_jiffies_, jiffy + 1);
    const Address due = list_of(base.object.at(wheels_[0], cpu), jiffy & kRootMask);
    replace_head(cpu, due, base.stack.at(work_list_, cpu));
    run_list(cpu, base);
  }
  base.object.store(cpu, running_timer_, 0);
  kernel_.unlock_irq(cpu, *base.lock);
}

void Timers::run_list(Cpu& cpu, Base& base) {
  const Address head = base.stack.at(work_list_, cpu);
  for (;;) {
    const Address entry = list64::next(cpu, head);
    if (entry == head) return;
    Timer& timer = timer_at(entry);
    base.object.store(cpu, running_timer_, entry);
    const bool runs = claim_expired(cpu, timer, base);
    detach(cpu, timer, Clear::yes);
    if (!runs) continue;  // retired meanwhile, and on its way to detach_retired()
    kernel_.unlock_irq(cpu, *base.lock);
    timer.expired_(cpu);
    kernel_.lock_irq(cpu, *base.lock);
  }
}

// When tv1 wraps round, the next list of tv2 is spread over it. If tv2 wraps round at the same time, it is first refilled from
// tv3; and so on.
void Timers::cascade_all(Cpu& cpu, Base& base, Value jiffy) {
  if ((jiffy & kRootMask) != 0) return;
  for (int wheel = 1; wheel < kWheels; ++wheel) {
    const Value index = (jiffy >> bits_below(wheel)) & kWheelMask;
    cascade(cpu, base, list_of(base.object.at(wheels_[wheel], cpu), index));
    if (index != 0) return;
  }
}

void Timers::cascade(Cpu& cpu, const Base& base, Address list) {
  const FunctionScope scope(cpu, cascade_);
  const Address head = base.stack.at(tv_list_, cpu);
  replace_head(cpu, list, head);
  for (Address entry = list64::next(cpu, head); entry != head;) {
    const Address next = list64::next(cpu, entry);
    Timer& timer = timer_at(entry);
    if ((cpu.load(timer.base()) & ~kTimerState) != base.object.address()) throw ModelFailure("a timer is on another's base");
    internal_add(cpu, base, timer);
    entry = next;
  }
}

void Timers::detach_retired(Cpu& cpu, Base& base) {
  const Address first = retired_->take(cpu);
  if (first == 0) return;
  const FunctionScope scope(cpu, detach_retired_);
  kernel_.lock_irq(cpu, *base.lock);
  std::vector<Timer*> detached;
  for (Address entry = first; entry != 0;) {
    Timer& timer = timer_at(entry);
    entry = cpu.load(timer.expires());
    if (cpu.load(timer.entry()) != 0) detach(cpu, timer, Clear::yes);  // 0: the timer expired first
    cpu.store(timer.base(), base.object.address());
    detached.push_back(&timer);
  }
  kernel_.unlock_irq(cpu, *base.lock);
  // The callback may free the owner, whose memory may at once be used for another timer. So the callback is moved out of the
  // timer before it runs.
  for (Timer* timer : detached) {
    const Timer::Callback done = std::exchange(timer->retired_, nullptr);
    done(cpu);
  }
}

}  // namespace linebounce::workloads
