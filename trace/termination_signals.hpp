// The signals that ask a process to end.
#pragma once

#include <array>
#include <csignal>

namespace linebounce::trace {

// All signals that end a process by default and come from outside it: from a terminal, `kill`, a batch system, a timer or a
// limit on processor time. Left out are faults, which end a process where it stands, and SIGPIPE and SIGXFSZ, which belong to
// one write: the thread that writes handles them.
inline constexpr std::array kInterrupts = {SIGINT,  SIGTERM, SIGHUP,    SIGQUIT, SIGALRM, SIGUSR1,  SIGUSR2,
                                           SIGXCPU, SIGPROF, SIGVTALRM, SIGIO,   SIGPWR,  SIGSTKFLT};

}  // namespace linebounce::trace
