// Interrupt vectors and softirqs as in Linux, on top of a CPU's single interrupt handler. Softirqs run after the handler with
// interrupts on, in the order in which they were added.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

class Interrupts {
 public:
  explicit Interrupts(int cpus) : state_(cpus) {}
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Adds a handler, which runs with interrupts off; `interrupted` is the function that was running. Returns the vector.
  // REQUIRES: the simulation has not started.
  using Handler = std::function<void(Cpu&, FunctionId interrupted)>;
  int add_handler(Handler handler);
  // Returns the softirq's number. REQUIRES: fewer than kMostSoftirqs were added.
  static constexpr int kMostSoftirqs = 32;
  int add_softirq(std::function<void(Cpu&)> work);

  // REQUIRES: called by each CPU's program before its first interrupt. Further calls do nothing.
  void start(Cpu& cpu);

  // Runs the softirq on this CPU after the present or the next handler, once for any number of calls.
  void raise(Cpu& cpu, int softirq);

  // Begin and end a section without softirqs. Sections nest, and cost no memory operation. Deferred softirqs run at the end of
  // the outermost one. REQUIRES: interrupts are on there.
  void disable_softirqs(Cpu& cpu);
  void enable_softirqs(Cpu& cpu);

  // Leaves softirqs that are still raised after `rounds` rounds to a thread, Linux' ksoftirqd. It calls run_pending_softirqs()
  // until is_raised() is false. Without a thread, the default, they wait for the next interrupt.
  static constexpr int kRounds = 10;
  void defer_rest_to(std::function<void(Cpu&)> wake_thread, int rounds = kRounds);
  void run_pending_softirqs(Cpu& cpu) { run_softirqs(cpu, false); }
  [[nodiscard]] bool is_raised(const Cpu& cpu) const { return of(cpu).raised != 0; }

  // `admits` is called before each round after an interrupt; false leaves the softirqs to the thread.
  void admit_softirqs(std::function<bool(Cpu&)> admits) { admits_ = std::move(admits); }
  // `listener` is called after each softirq.
  void after_softirq(std::function<void(Cpu&, int softirq)> listener) { listeners_.push_back(std::move(listener)); }
  // `listener` is called with interrupts off when the outermost handler and its softirqs are over.
  void on_return(std::function<void(Cpu&, FunctionId interrupted)> listener) { returns_ = std::move(listener); }

  [[nodiscard]] bool in_handler(const Cpu& cpu) const { return of(cpu).handlers > 0; }
  [[nodiscard]] bool in_softirq(const Cpu& cpu) const { return of(cpu).in_softirq; }

 private:
  struct State {
    int handlers = 0;  // running: a handler may interrupt a softirq
    int disabled = 0;
    bool in_softirq = false;
    std::uint32_t raised = 0;
  };

  State& of(const Cpu& cpu) { return state_[cpu.id().value]; }
  [[nodiscard]] const State& of(const Cpu& cpu) const { return state_[cpu.id().value]; }
  void interrupted(Cpu& cpu, int vector);
  void run_softirqs(Cpu& cpu, bool after_handler);
  void run_raised(Cpu& cpu);

  std::vector<State> state_;  // by CPU
  std::vector<Handler> handlers_;
  std::vector<std::function<void(Cpu&)>> softirqs_;
  int rounds_ = kRounds;
  std::function<void(Cpu&)> wake_thread_;
  std::function<bool(Cpu&)> admits_;
  std::vector<std::function<void(Cpu&, int)>> listeners_;
  std::function<void(Cpu&, FunctionId)> returns_;
};

}  // namespace linebounce::workloads
