#include "sim/results/signals_wait.hpp"

#include <algorithm>

#include "trace/termination_signals.hpp"

namespace linebounce::sim {
namespace {

sigset_t interrupts() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : trace::kInterrupts) ::sigaddset(&signals, signal);
  return signals;
}

}  // namespace

SignalsWait::SignalsWait() {
  const sigset_t signals = interrupts();
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

SignalsWait::~SignalsWait() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool SignalsWait::has_come() {
  sigset_t waiting;
  return ::sigpending(&waiting) == 0 &&
         std::ranges::any_of(trace::kInterrupts, [&waiting](int signal) { return ::sigismember(&waiting, signal) == 1; });
}

void SignalsWait::end_in_child() {
  const sigset_t signals = interrupts();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace linebounce::sim
