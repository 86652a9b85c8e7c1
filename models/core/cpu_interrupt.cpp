// Interrupts, IPIs, timers, sleep and wake. An interrupt is known before its time (it is announced K ahead like any other
// touch), and is accepted between two operations, or in the middle of execute(), compute() and a spin's pause.
#include <algorithm>
#include <utility>

#include "models/core/core.hpp"
#include "models/core/cpu.hpp"

namespace linebounce {

void Cpu::set_timer(double delay_ns, int vector) {
  if (tap_ != nullptr) tap_->called(*this, {.what = ProgramCall::What::timer, .which = vector, .ns = delay_ns});
  wait_turn();
  add_interrupt({now_ + spec_->timebase->from_ns(delay_ns), id_.value, vector});
  forget_limits();
}

void Cpu::send_ipi(CpuId target, int vector) {
  interrupt_later(target, vector, 0);
}

void Cpu::interrupt_later(CpuId target, int vector, double delay_ns) {
  if (tap_ != nullptr) {
    tap_->called(*this, {.what = ProgramCall::What::interrupt, .which = target.value, .vector = vector, .ns = delay_ns});
  }
  post_interrupt(target, vector, delay_ns);
}

void Cpu::post_interrupt(CpuId target, int vector, double delay_ns) {
  wait_turn();
  const auto [core, cpu] = core_->find_peer_(target);
  const Tick at = now_ + std::max(spec_->ipi_latency, spec_->timebase->from_ns(delay_ns));
  cpu->add_interrupt({at, id_.value, vector});
  core->wake_at(at);
  forget_limits();
}

void Cpu::wake(CpuId target) {
  if (tap_ != nullptr) tap_->called(*this, {.what = ProgramCall::What::wake, .which = target.value});
  post_interrupt(target, kWake, 0);
}

void Cpu::sleep() {
  wait_turn();
  while (!wake_pending_) {
    account_time();
    suspend(Status::asleep);
  }
  wake_pending_ = false;
  if (tap_ != nullptr) tap_->called(*this, {.what = ProgramCall::What::sleep});
}

void Cpu::enable_interrupts() {
  if (tap_ != nullptr) tap_->called(*this, {.what = ProgramCall::What::interrupts_on});
  wait_turn();
  interrupts_enabled_ = true;
  idle_to_ = -1;  // what has waited comes now, not in the middle of a computation that it was kept out of
  forget_limits();
}

void Cpu::disable_interrupts() {
  if (tap_ != nullptr) tap_->called(*this, {.what = ProgramCall::What::interrupts_off});
  wait_turn();  // those that came before this come before this
  interrupts_enabled_ = false;
}

void Cpu::add_interrupt(Interrupt interrupt) {
  const auto later = [](const Interrupt& a, const Interrupt& b) { return a.at != b.at ? a.at < b.at : a.sender < b.sender; };
  interrupts_.insert(std::upper_bound(interrupts_.begin(), interrupts_.end(), interrupt, later), interrupt);
}

// The earliest that may be accepted in the thread's present condition.
Tick Cpu::next_interrupt() const {
  if (status_ == Status::blocked || status_ == Status::waiting || status_ == Status::ended || deliver_) return kNever;
  for (const Interrupt& interrupt : interrupts_) {
    if (interrupts_enabled_ || interrupt.vector == kWake) return interrupt.at;
  }
  return kNever;
}

void Cpu::accept_interrupt() {
  const auto next = std::find_if(interrupts_.begin(), interrupts_.end(),
                                 [this](const Interrupt& i) { return interrupts_enabled_ || i.vector == kWake; });
  if (status_ == Status::parked) {
    resume_spin(next->at);
    return;  // accepted when the spin's next load is due
  }
  const Interrupt interrupt = *next;
  interrupts_.erase(next);
  const Tick at = align_up(interrupt.at, cycle_);
  if (status_ == Status::asleep) {
    now_ = std::max(now_, at);
    account_sleep();
  }
  if (interrupt.vector == kWake) {
    wake_pending_ = true;
    ++wakes_;
  } else {
    const Tick begin = std::max(at, idle_to_ == now_ ? idle_from_ : now_);
    interrupted_rest_ = std::max<Tick>(0, now_ - begin);
    now_ = begin;
    deliver_ = true;
    delivered_vector_ = interrupt.vector;
  }
  status_ = Status::ready;
  forget_limits();
}

void Cpu::run_handler() {
  const Tick rest = interrupted_rest_;
  const std::span<const Address> words = words_;
  const std::size_t next_word = next_word_;
  const Value result = result_;
  const Tick put_off_since = std::exchange(put_off_since_, kNever);
  deliver_ = false;
  interrupts_enabled_ = false;
  slots_ = 0;
  idle_to_ = -1;
  now_ += spec_->interrupt_latency;
  if (tap_ != nullptr) tap_->handler_begins(*this, delivered_vector_);
  if (handler_) handler_(*this, delivered_vector_);
  wait_turn();
  if (tap_ != nullptr) tap_->handler_ends(*this);
  words_ = words;
  next_word_ = next_word;
  result_ = result;
  put_off_since_ = put_off_since;
  idle_from_ = now_;
  now_ += rest;
  idle_to_ = now_;
  interrupts_enabled_ = true;
  forget_limits();
}

}  // namespace linebounce
