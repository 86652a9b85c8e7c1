// A CPU has one interrupt handler; here each vector gets one of its own, and work that may wait until after the handler, with
// interrupts on again: softirqs, as Linux has them. Their order is that in which they were added.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "models/core/cpu.hpp"

namespace linebounce::workloads {

class Interrupts {
 public:
  explicit Interrupts(int cpus) : state_(static_cast<std::size_t>(cpus)) {}
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Before the simulation. `interrupted`: the function that ran. A handler runs with interrupts off. Returns the vector.
  using Handler = std::function<void(Cpu&, FunctionId interrupted)>;
  int add_handler(Handler handler);
  // Returns its number. REQUIRES: fewer than kMostSoftirqs are there.
  static constexpr int kMostSoftirqs = 32;
  int add_softirq(std::function<void(Cpu&)> work);

  // In each CPU's program before the first interrupt; once more does no harm.
  void start(Cpu& cpu);

  // The softirq runs on this CPU, once for any number of calls: after the handler that runs, or after the next one.
  void raise(Cpu& cpu, int softirq);

  // Sections of the program that softirqs keep out of; they nest. No memory operation.
  // REQUIRES: interrupts are on at the end of the outermost, where softirqs that were put off run.
  void disable_softirqs(Cpu& cpu);
  void enable_softirqs(Cpu& cpu);

  // Softirqs that come faster than they are handled: after so many rounds the rest is left to `wake_thread`'s thread, Linux'
  // ksoftirqd, which calls run_pending_softirqs() until is_raised() says that nothing is left. Without a thread, and by
  // default, the rest waits for the next interrupt.
  static constexpr int kRounds = 10;
  void defer_rest_to(std::function<void(Cpu&)> wake_thread, int rounds = kRounds);
  void run_pending_softirqs(Cpu& cpu) { run_softirqs(cpu, false); }
  [[nodiscard]] bool is_raised(const Cpu& cpu) const { return of(cpu).raised != 0; }

  // Called before each round after an interrupt; false: softirqs are left to the thread.
  void admit_softirqs(std::function<bool(Cpu&)> admits) { admits_ = std::move(admits); }
  // Called after each softirq, with its number.
  void after_softirq(std::function<void(Cpu&, int softirq)> listener) { listeners_.push_back(std::move(listener)); }
  // Called when the outermost handler and its softirqs are over, on the way back to `interrupted`; interrupts are off.
  void on_return(std::function<void(Cpu&, FunctionId interrupted)> listener) { returns_ = std::move(listener); }

  [[nodiscard]] bool in_handler(const Cpu& cpu) const { return of(cpu).handlers > 0; }
  [[nodiscard]] bool in_softirq(const Cpu& cpu) const { return of(cpu).in_softirq; }

 private:
  struct State {
    int handlers = 0;  // that run; one may interrupt a softirq
    int disabled = 0;
    bool in_softirq = false;
    std::uint32_t raised = 0;
  };

  State& of(const Cpu& cpu) { return state_[static_cast<std::size_t>(cpu.id().value)]; }
  [[nodiscard]] const State& of(const Cpu& cpu) const { return state_[static_cast<std::size_t>(cpu.id().value)]; }
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
