// A hardware thread's interrupts, IPIs, timers, sleep and wake. A thread accepts an interrupt between two operations, or in the
// middle of execute(), compute() or a spin's pause.
#include <algorithm>

#include "models/core/hardware_thread.hpp"

namespace linebounce {

void HardwareThread::set_timer(double delay_ns, int vector) {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::timer, .which = vector, .ns = delay_ns});
  wait_turn();
  interrupts_.add({now_ + spec_->timebase->from_ns(delay_ns), id_.value, vector});
  reset_limits();
}

void HardwareThread::interrupt_later(CpuId target, int vector, double delay_ns) {
  if (tap() != nullptr) {
    tap()->called(*this, {.what = ProgramCall::What::interrupt, .which = target.value, .vector = vector, .ns = delay_ns});
  }
  if (delay_ns == 0 && target != id_) now_ += spec_->ipi_send;
  send_interrupt(target, vector, delay_ns);
}

void HardwareThread::send_interrupt(CpuId target, int vector, double delay_ns) {
  wait_turn();
  const Tick at = now_ + std::max(spec_->ipi_latency, spec_->timebase->from_ns(delay_ns));
  owner_->thread(target).receive({at, id_.value, vector});
  reset_limits();
}

void HardwareThread::receive(const Interrupt& interrupt) {
  interrupts_.add(interrupt);
  owner_->wake_at(interrupt.at);
}

void HardwareThread::wake(CpuId target) {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::wake, .which = target.value});
  send_interrupt(target, Interrupt::kWake, 0);
}

void HardwareThread::sleep() {
  wait_turn();
  while (!interrupts_.wake_pending()) {
    account_time();
    suspend(Status::asleep);
  }
  interrupts_.consume_wake();
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::sleep});
}

void HardwareThread::enable_interrupts() {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::interrupts_on});
  wait_turn();
  interrupts_.enable();
  // A pending interrupt is accepted now. It must not split the latest computation, which has ended.
  computing_until_ = -1;
  reset_limits();
}

void HardwareThread::disable_interrupts() {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::interrupts_off});
  wait_turn();  // the thread first accepts all earlier interrupts
  interrupts_.disable();
}

void HardwareThread::accept_interrupt() {
  if (parked()) {
    resume_spin(interrupts_.next());
    return;  // resume_spin() made the thread ready; it accepts the interrupt when the spin's next load is due
  }
  const Interrupt interrupt = interrupts_.accept();
  const Tick at = align_up(interrupt.at, cycle_);
  if (status_ == Status::asleep) {
    now_ = std::max(now_, at);
    account_sleep();
  }
  if (interrupt.vector != Interrupt::kWake) {
    const Tick begin = std::max(at, computing_until_ == now_ ? computing_from_ : now_);
    interrupts_.deliver({interrupt.vector, std::max<Tick>(0, now_ - begin)});
    now_ = begin;
  }
  status_ = Status::ready;
  reset_limits();
}

void HardwareThread::run_handler() {
  const ThreadInterrupts::Delivery delivery = interrupts_.begin_handler();
  const Spin spin = spin_;
  const bool spins = spinning_since_ != kNever;
  if (spins) charge_spin_until(now_);
  spin_.end();
  const Value result = result_;
  // After a handler, the program's deferred operation counts as new: siblings may already have run operations that a retry
  // would have to precede.
  deferred_since_ = kNever;
  slots_ = 0;
  computing_until_ = -1;
  now_ += spec_->interrupt_latency;
  if (tap() != nullptr) tap()->handler_begins(*this, delivery.vector);
  if (handler_) handler_(*this, delivery.vector);
  wait_turn();
  if (tap() != nullptr) tap()->handler_ends(*this);
  spin_ = spin;
  if (spins) charge_spin_from(now_);
  result_ = result;
  computing_from_ = now_;
  now_ += delivery.rest;
  computing_until_ = now_;
  interrupts_.end_handler();
  reset_limits();
}

}  // namespace linebounce
