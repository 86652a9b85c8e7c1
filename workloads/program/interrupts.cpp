#include "workloads/program/interrupts.hpp"

#include "models/failure.hpp"

namespace linebounce::workloads {

int Interrupts::add_handler(Handler handler) {
  handlers_.push_back(std::move(handler));
  return static_cast<int>(handlers_.size()) - 1;
}

int Interrupts::add_softirq(std::function<void(Cpu&)> work) {
  softirqs_.push_back(std::move(work));
  return static_cast<int>(softirqs_.size()) - 1;
}

void Interrupts::defer_rest_to(std::function<void(Cpu&)> wake_thread, int rounds) {
  wake_thread_ = std::move(wake_thread);
  rounds_ = rounds;
}

void Interrupts::start(Cpu& cpu) {
  cpu.set_interrupt_handler([this](Cpu& on, int vector) { interrupted(on, vector); });
}

void Interrupts::raise(Cpu& cpu, int softirq) {
  of(cpu).raised |= std::uint32_t{1} << static_cast<unsigned>(softirq);
}

void Interrupts::disable_softirqs(Cpu& cpu) {
  cpu.now();  // takes interrupts that are already pending, so that their softirqs run before the section
  ++of(cpu).disabled;
}

void Interrupts::enable_softirqs(Cpu& cpu) {
  cpu.now();  // takes interrupts that came in the section, so that their softirqs are deferred to its end
  State& state = of(cpu);
  if (state.disabled == 0) throw ModelFailure("softirqs are enabled that were not disabled");
  --state.disabled;
  if (state.handlers == 0) run_softirqs(cpu, false);
}

void Interrupts::interrupted(Cpu& cpu, int vector) {
  State& state = of(cpu);
  const FunctionId function = cpu.function();
  ++state.handlers;
  handlers_.at(vector)(cpu, function);
  --state.handlers;
  if (state.handlers > 0) return;
  run_softirqs(cpu, true);
  if (returns_ && !state.in_softirq && state.disabled == 0) returns_(cpu, function);
}

void Interrupts::run_softirqs(Cpu& cpu, bool after_handler) {
  State& state = of(cpu);
  if (state.in_softirq || state.disabled > 0) return;
  state.in_softirq = true;
  // Repeats, because a softirq may raise itself or another one.
  for (int round = 0; round < rounds_ && state.raised != 0; ++round) {
    if (after_handler && admits_ && !admits_(cpu)) break;
    if (after_handler) cpu.enable_interrupts();
    run_raised(cpu);
    if (after_handler) cpu.disable_interrupts();
  }
  state.in_softirq = false;
  if (state.raised != 0 && wake_thread_) wake_thread_(cpu);
}

void Interrupts::run_raised(Cpu& cpu) {
  const std::uint32_t raised = std::exchange(of(cpu).raised, 0);
  for (std::size_t softirq = 0; softirq < softirqs_.size(); ++softirq) {
    if ((raised >> softirq & 1) == 0) continue;
    softirqs_[softirq](cpu);
    for (const auto& listener : listeners_) listener(cpu, static_cast<int>(softirq));
  }
}

}  // namespace linebounce::workloads
