// Interrupt vectors and softirqs (deferred interrupt work) as in Linux, on top of a CPU's single interrupt handler. Softirqs
// run after the handler with interrupts on, in the order in which add_softirq() has added them.
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

  // Adds a handler, and returns its vector. The handler runs with interrupts off; its argument `interrupted` is the function
  // that the CPU was running.
  // REQUIRES: the simulation has not started.
  using Handler = std::function<void(Cpu&, FunctionId interrupted)>;
  int add_handler(Handler handler);
  // Adds a softirq, and returns its number. REQUIRES: fewer than kMostSoftirqs have been added.
  static constexpr int kMostSoftirqs = 32;
  int add_softirq(std::function<void(Cpu&)> work);

  // Each CPU's program must call this before its first interrupt. Further calls do nothing.
  void start(Cpu& cpu);

  // Makes this CPU run the softirq once, after the current or the next interrupt handler. Further calls before that do nothing.
  void raise(Cpu& cpu, int softirq);

  // Begin and end a section in which the CPU runs no softirqs. Sections nest, and cost no memory operation. Softirqs raised
  // inside run at the end of the outermost section. REQUIRES: interrupts are on at that end.
  void disable_softirqs(Cpu& cpu);
  void enable_softirqs(Cpu& cpu);

  // Leaves softirqs that are still raised after `rounds` rounds to a thread, as Linux does to ksoftirqd. `wake_thread` wakes
  // the thread, which must call run_pending_softirqs() until is_raised() is false. By default there is no thread, and such
  // softirqs wait for the next interrupt.
  static constexpr int kRounds = 10;
  void defer_rest_to(std::function<void(Cpu&)> wake_thread, int rounds = kRounds);
  void run_pending_softirqs(Cpu& cpu) { run_softirqs(cpu, false); }
  [[nodiscard]] bool is_raised(const Cpu& cpu) const { return of(cpu).raised != 0; }

  // Calls `admits` before each round of softirqs that follows an interrupt. If `admits` returns false, these softirqs are
  // left to the thread.
  void admit_softirqs(std::function<bool(Cpu&)> admits) { admits_ = std::move(admits); }
  // Calls `listener` after each softirq.
  void after_softirq(std::function<void(Cpu&, int softirq)> listener) { listeners_.push_back(std::move(listener)); }
  // Calls `listener` when the outermost handler and its softirqs have ended, with interrupts still off.
  void on_return(std::function<void(Cpu&, FunctionId interrupted)> listener) { returns_ = std::move(listener); }

  [[nodiscard]] bool in_handler(const Cpu& cpu) const { return of(cpu).handlers > 0; }
  [[nodiscard]] bool in_softirq(const Cpu& cpu) const { return of(cpu).in_softirq; }

 private:
  struct State {
    int handlers = 0;  // number of handlers that are running; one may interrupt another's softirq
    int disabled = 0;  // nesting depth of disable_softirqs()
    bool in_softirq = false;
    std::uint32_t raised = 0;
  };

  State& of(const Cpu& cpu) { return state_[cpu.id().value]; }
  [[nodiscard]] const State& of(const Cpu& cpu) const { return state_[cpu.id().value]; }
  void interrupted(Cpu& cpu, int vector);
  void run_softirqs(Cpu& cpu, bool after_handler);
  void run_raised(Cpu& cpu);

  std::vector<State> state_;  // one per CPU
  std::vector<Handler> handlers_;
  std::vector<std::function<void(Cpu&)>> softirqs_;
  int rounds_ = kRounds;
  std::function<void(Cpu&)> wake_thread_;
  std::function<bool(Cpu&)> admits_;
  std::vector<std::function<void(Cpu&, int)>> listeners_;
  std::function<void(Cpu&, FunctionId)> returns_;
};

}  // namespace linebounce::workloads
