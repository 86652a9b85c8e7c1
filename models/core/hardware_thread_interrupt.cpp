// Interrupts, IPIs, timers, sleep and wake of a hardware thread. An interrupt is accepted between two operations, or in
// the middle of execute(), compute() and a spin's pause.
#include <algorithm>

#include "models/core/core.hpp"
#include "models/core/hardware_thread.hpp"

namespace linebounce {

void HardwareThread::set_timer(double delay_ns, int vector) {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::timer, .which = vector, .ns = delay_ns});
  wait_turn();
  interrupts_.add({now_ + spec_->timebase->from_ns(delay_ns), id_.value, vector});
  forget_limits();
}

void HardwareThread::interrupt_later(CpuId target, int vector, double delay_ns) {
  if (tap() != nullptr) {
    tap()->called(*this, {.what = ProgramCall::What::interrupt, .which = target.value, .vector = vector, .ns = delay_ns});
  }
  if (delay_ns == 0 && target != id_) now_ += spec_->ipi_send;
  post_interrupt(target, vector, delay_ns);
}

void HardwareThread::post_interrupt(CpuId target, int vector, double delay_ns) {
  wait_turn();
  const auto [core, cpu] = core_->find_peer_(target);
  const Tick at = now_ + std::max(spec_->ipi_latency, spec_->timebase->from_ns(delay_ns));
  cpu->interrupts_.add({at, id_.value, vector});
  core->wake_at(at);
  forget_limits();
}

void HardwareThread::wake(CpuId target) {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::wake, .which = target.value});
  post_interrupt(target, Interrupt::kWake, 0);
}

void HardwareThread::sleep() {
  wait_turn();
  while (!interrupts_.wake_pending()) {
    account_time();
    suspend(Status::asleep);
  }
  interrupts_.take_wake();
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::sleep});
}

void HardwareThread::enable_interrupts() {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::interrupts_on});
  wait_turn();
  interrupts_.enable();
  idle_to_ = -1;  // what has waited comes now, not in the middle of a computation that it was kept out of
  forget_limits();
}

void HardwareThread::disable_interrupts() {
  if (tap() != nullptr) tap()->called(*this, {.what = ProgramCall::What::interrupts_off});
  wait_turn();  // those that came before this come before this
  interrupts_.disable();
}

// The earliest that may be accepted in the thread's present condition.
Tick HardwareThread::next_interrupt() const {
  if (status_ == Status::blocked || status_ == Status::waiting || status_ == Status::ended) return kNever;
  return interrupts_.next();
}

void HardwareThread::accept_interrupt() {
  if (status_ == Status::parked) {
    resume_spin(interrupts_.next());
    return;  // accepted when the spin's next load is due
  }
  const Interrupt interrupt = interrupts_.accept();
  const Tick at = align_up(interrupt.at, cycle_);
  if (status_ == Status::asleep) {
    now_ = std::max(now_, at);
    account_sleep();
  }
  if (interrupt.vector != Interrupt::kWake) {
    const Tick begin = std::max(at, idle_to_ == now_ ? idle_from_ : now_);
    interrupts_.deliver({interrupt.vector, std::max<Tick>(0, now_ - begin)});
    now_ = begin;
  }
  status_ = Status::ready;
  forget_limits();
}

void HardwareThread::run_handler() {
  const ThreadInterrupts::Delivery delivery = interrupts_.begin_handler();
  const Spin spin = spin_;
  spin_.end();
  const Value result = result_;
  // The operation that it comes before is tried as a new one afterwards: at the handler's end, siblings that come before a new
  // one have had their turn.
  put_off_since_ = kNever;
  slots_ = 0;
  idle_to_ = -1;
  now_ += spec_->interrupt_latency;
  if (tap() != nullptr) tap()->handler_begins(*this, delivery.vector);
  if (handler_) handler_(*this, delivery.vector);
  wait_turn();
  if (tap() != nullptr) tap()->handler_ends(*this);
  spin_ = spin;
  result_ = result;
  idle_from_ = now_;
  now_ += delivery.rest;
  idle_to_ = now_;
  interrupts_.end_handler();
  forget_limits();
}

}  // namespace linebounce
