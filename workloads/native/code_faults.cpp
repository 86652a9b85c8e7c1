// The handler of a signal can't throw: the interrupted code may be anywhere. It lets the code go on in raise_fault() instead,
// with a frame that says to exceptions where the code was.
#include "workloads/native/code_faults.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdint>

#include "models/failure.hpp"
#include "workloads/native/lock_object.hpp"
#include "workloads/native/native_call.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/time.h>
#include <ucontext.h>

#include <array>

extern "C" void linebounce_fault_frame();

// At its first instruction, the stack pointer's target holds the interrupted stack pointer, and the next word the interrupted
// address.
__asm__(
    ".pushsection .text\n"
    ".globl linebounce_fault_frame\n"
    ".hidden linebounce_fault_frame\n"
    ".type linebounce_fault_frame, @function\n"
    "nop\n"
    "linebounce_fault_frame:\n"
    ".cfi_startproc\n"
    ".cfi_signal_frame\n"
    ".cfi_escape 0x0f, 3, 0x77, 0, 0x06\n"  // the frame begins at the address in the word at %rsp
    ".cfi_escape 0x10, 16, 2, 0x77, 8\n"    // the return address is in the word at %rsp + 8
    "call linebounce_raise_fault\n"
    "hlt\n"
    ".cfi_endproc\n"
    ".size linebounce_fault_frame, .-linebounce_fault_frame\n"
    ".popsection\n");

namespace linebounce::workloads {
namespace {

constexpr std::array<int, 5> kFaults = {SIGILL, SIGFPE, SIGSEGV, SIGBUS, SIGTRAP};
constexpr double kTick = CodeFaults::kLongestStretch / 2;
constexpr std::size_t kRedZone = 128, kFrame = 16;  // bytes

// What a handler can know. There is one set of handlers in a process.
struct Interrupted {
  const LockObject* object = nullptr;
  unsigned stretch = 0;  // counts stretches of the code between two accesses
  unsigned seen = 0;     // the stretch at the last tick
  int ticks = 0;         // ticks in that stretch
  int signal = 0;
  const void* at = nullptr;
};
volatile bool watches = false;
Interrupted interrupted;
std::array<struct sigaction, kFaults.size()> before_faults;
struct sigaction before_ticks;
bool blocked_ticks = false;  // SIGVTALRM was blocked, as it is while the simulator waits for an interrupt

void block_ticks(int how, sigset_t* before) {
  sigset_t ticks;
  sigemptyset(&ticks);
  sigaddset(&ticks, SIGVTALRM);
  ::pthread_sigmask(how, &ticks, before);
}

const char* fault_text(int signal) {
  switch (signal) {
    case SIGILL:
    case SIGTRAP: return "executes a trap: __builtin_trap(), BUG_ON(), or code that the compiler takes for unreachable";
    case SIGFPE: return "divides by zero";
    case SIGVTALRM: return "is in a loop without any access to memory that others see, so nobody can end it";
    default: return "accesses memory that isn't there";
  }
}

bool is_stuck() {
  if (interrupted.seen != interrupted.stretch) {
    interrupted.seen = interrupted.stretch;
    interrupted.ticks = 0;
  }
  return ++interrupted.ticks > 2;
}

void on_fault(int signal, siginfo_t*, void* context) {
  auto* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  auto* const at = reinterpret_cast<const void*>(registers[REG_RIP]);
  const bool in_code = interrupted.object != nullptr && interrupted.object->is_constant(at);
  if (signal == SIGVTALRM && (!in_code || !is_stuck())) return;
  if (!in_code) {
    ::signal(signal, SIG_DFL);  // the instruction runs again, and ends the program
    return;
  }
  interrupted.signal = signal;
  interrupted.at = at;
  const auto stack = static_cast<std::uint64_t>(registers[REG_RSP]);
  const std::uint64_t frame = (stack - kRedZone - kFrame) & ~std::uint64_t{15};
  auto* const words = reinterpret_cast<std::uint64_t*>(frame);
  words[0] = stack;
  words[1] = static_cast<std::uint64_t>(registers[REG_RIP]);
  registers[REG_RSP] = static_cast<greg_t>(frame);
  registers[REG_RIP] = reinterpret_cast<greg_t>(&linebounce_fault_frame);
}

}  // namespace

extern "C" [[noreturn]] __attribute__((used)) void linebounce_raise_fault() {
  const LockObject& object = *interrupted.object;
  object.current()->fail_at(object.line_at(interrupted.at), fault_text(interrupted.signal));
}

CodeFaults::CodeFaults() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  interrupted = {};
  for (std::size_t i = 0; i < kFaults.size(); ++i) ::sigaction(kFaults[i], &action, &before_faults[i]);
  ::sigaction(SIGVTALRM, &action, &before_ticks);
  sigset_t before;
  block_ticks(SIG_UNBLOCK, &before);
  blocked_ticks = sigismember(&before, SIGVTALRM) == 1;
  const timeval tick = {.tv_sec = 0, .tv_usec = static_cast<suseconds_t>(kTick * 1e6)};
  const itimerval timer = {.it_interval = tick, .it_value = tick};
  ::setitimer(ITIMER_VIRTUAL, &timer, nullptr);
  watches = true;
}

CodeFaults::~CodeFaults() {
  watches = false;
  const itimerval none = {};
  ::setitimer(ITIMER_VIRTUAL, &none, nullptr);
  if (blocked_ticks) block_ticks(SIG_BLOCK, nullptr);
  ::sigaction(SIGVTALRM, &before_ticks, nullptr);
  for (std::size_t i = 0; i < kFaults.size(); ++i) ::sigaction(kFaults[i], &before_faults[i], nullptr);
}

void CodeFaults::running(const LockObject* object) {
  if (!watches) return;
  interrupted.object = object;
  ++interrupted.stretch;
}

}  // namespace linebounce::workloads

#else

namespace linebounce::workloads {

CodeFaults::CodeFaults() = default;
CodeFaults::~CodeFaults() {}
void CodeFaults::running(const LockObject*) {}

}  // namespace linebounce::workloads

#endif
