#include "sim/plan/process_pool.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "sim/systemc/run.hpp"
#include "trace/termination_signals.hpp"

namespace linebounce::sim {
namespace {

constexpr auto kReportEvery = std::chrono::milliseconds(100);
constexpr int kTickMs = 200;

// The first byte of a child's message. A child sends any number of shares, then possibly the text of a failure, which extends
// to the end of the pipe.
constexpr char kShareMark = 'p';
constexpr char kFailureMark = 'e';

void send(int descriptor, const void* data, std::size_t size) {
  const char* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, from, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // the parent has ended, so this process ends, too
    from += written;
    size -= written;
  }
}

void send_share(int descriptor, double share) {
  std::array<char, 1 + sizeof share> message{kShareMark};
  std::memcpy(message.data() + 1, &share, sizeof share);
  send(descriptor, message.data(), message.size());
}

// The main function of a child process. It never returns, and skips the destructors of the parent's objects.
[[noreturn]] void live_as_child(int job, int descriptor, const PoolCallbacks& callbacks) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ExitCode code = ExitCode::done;
  try {
    auto last = std::chrono::steady_clock::now();
    callbacks.work(job, [&](double share) {
      const auto now = std::chrono::steady_clock::now();
      if (now - last < kReportEvery) return;
      last = now;
      send_share(descriptor, share);
    });
  } catch (...) {
    const Failure failure = describe_current_exception();
    code = failure.code;
    const std::string message = kFailureMark + failure.message;
    send(descriptor, message.data(), message.size());
  }
  std::fflush(nullptr);
  ::_exit(static_cast<int>(code));
}

struct Child {
  int job = 0;
  pid_t process = 0;
  int descriptor = -1;
  std::string received;
  double share = 0;
};

std::system_error system_error(const char* what) {
  return {errno, std::generic_category(), what};
}

Child start(int job, const InterruptGuard& guard, const PoolCallbacks& callbacks) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("no pipe to a simulation's process");
  std::fflush(nullptr);  // Both processes would otherwise write the buffered output.
  const pid_t process = ::fork();
  if (process < 0) throw system_error("no process for a simulation");
  if (process == 0) {
    ::close(ends[0]);
    guard.restore_in_child();
    live_as_child(job, ends[1], callbacks);
  }
  ::close(ends[1]);
  return {job, process, ends[0], {}, 0};
}

// Reads the child's messages. Returns false at the end of its pipe.
bool receive(Child& child) {
  std::array<char, 4096> buffer{};
  const ssize_t size = ::read(child.descriptor, buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR;
  if (size == 0) return false;
  child.received.append(buffer.data(), size);
  constexpr std::size_t kMessage = 1 + sizeof(double);
  while (child.received.size() >= kMessage && child.received.front() == kShareMark) {
    std::memcpy(&child.share, child.received.data() + 1, sizeof child.share);
    child.received.erase(0, kMessage);
  }
  return true;
}

using trace::kInterrupts;

// Whether the signal comes from outside and is meant for all our processes. SIGXCPU and SIGPROF tell of a process's own
// processor time.
bool is_interrupt(int signal) {
  return signal != SIGXCPU && signal != SIGPROF && std::ranges::find(kInterrupts, signal) != kInterrupts.end();
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

JobOutcome wait_for(Child& child) {
  ::close(child.descriptor);
  int status = 0;
  rusage usage{};
  while (::wait4(child.process, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  JobOutcome outcome;
  outcome.peak_memory_kib = usage.ru_maxrss;
  outcome.cpu_s = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  const int signal = outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (is_interrupt(signal)) {
    outcome.failure = {ExitCode::interrupted, "interrupted"};
  } else if (WIFSIGNALED(status)) {
    outcome.failure = describe_signal(signal);
  } else if (WEXITSTATUS(status) != 0) {
    const bool has_text = !child.received.empty() && child.received.front() == kFailureMark;
    outcome.failure.code = static_cast<ExitCode>(WEXITSTATUS(status));
    outcome.failure.message = has_text ? child.received.substr(1) : "the simulation's process ended without a word";
  }
  return outcome;
}

// The running children. The destructor kills them.
class Children {
 public:
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() { stop(); }

  void add(Child child) { children_.push_back(std::move(child)); }
  [[nodiscard]] std::size_t size() const { return children_.size(); }

  // Waits up to one tick for messages. Removes and returns children whose pipes have closed.
  std::vector<Child> wait(int interrupt_descriptor) {
    std::vector<pollfd> watched = {{interrupt_descriptor, POLLIN, 0}};
    for (const Child& child : children_) watched.push_back({child.descriptor, POLLIN, 0});
    if (::poll(watched.data(), watched.size(), kTickMs) <= 0) return {};
    std::vector<Child> ended;
    std::vector<Child> alive;
    for (std::size_t i = 0; i < children_.size(); ++i) {
      const bool news = watched[i + 1].revents != 0;
      const bool over = news && !receive(children_[i]);
      (over ? ended : alive).push_back(std::move(children_[i]));
    }
    children_ = std::move(alive);
    return ended;
  }

  [[nodiscard]] std::vector<RunningJob> running() const {
    std::vector<RunningJob> jobs;
    for (const Child& child : children_) jobs.push_back({child.job, child.share});
    return jobs;
  }

  void stop() {
    for (const Child& child : children_) ::kill(child.process, SIGKILL);
    for (Child& child : children_) wait_for(child);
    children_.clear();
  }

 private:
  std::vector<Child> children_;
};

bool is_ignored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void exit_on_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    constexpr std::string_view kMessage = "linebounce: interrupted\n";
    const ssize_t ignored = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
    static_cast<void>(ignored);
    ::_exit(static_cast<int>(ExitCode::interrupted));
  };
  for (const int signal : kInterrupts) {
    if (is_interrupt(signal) && signal != SIGQUIT && !is_ignored(signal)) ::sigaction(signal, &action, nullptr);
  }
}

struct InterruptGuard::Saved {
  sigset_t mask;
};

InterruptGuard::InterruptGuard() : saved_(new Saved) {
  sigset_t interrupts;
  sigemptyset(&interrupts);
  // Blocks the signals that should interrupt. Leaves out a signal that was ignored from the start (by nohup or for a
  // background job): if blocked, it would be delivered to the descriptor.
  for (const int signal : kInterrupts) {
    if (!is_ignored(signal)) sigaddset(&interrupts, signal);
  }
  if (!is_ignored(SIGPIPE)) sigaddset(&interrupts, SIGPIPE);
  ::sigprocmask(SIG_BLOCK, &interrupts, &saved_->mask);
  descriptor_ = ::signalfd(-1, &interrupts, SFD_CLOEXEC | SFD_NONBLOCK);
}

InterruptGuard::~InterruptGuard() {
  interrupted();  // takes pending signals, which would end the process once they are unblocked
  ::close(descriptor_);
  ::sigprocmask(SIG_SETMASK, &saved_->mask, nullptr);
  delete saved_;
  if (signal_ == SIGPIPE) ::raise(SIGPIPE);
}

bool InterruptGuard::interrupted() {
  signalfd_siginfo info{};
  while (::read(descriptor_, &info, sizeof info) > 0) {
    if (signal_ == 0) signal_ = static_cast<int>(info.ssi_signo);
  }
  return signal_ != 0;
}

// Ctrl-C reaches every process of the terminal, but only the parent decides what happens to its children.
void InterruptGuard::restore_in_child() const {
  ::close(descriptor_);
  ::signal(SIGINT, SIG_IGN);
  for (const int signal : kInterrupts) {
    if (!is_ignored(signal)) ::signal(signal, SIG_DFL);
  }
  ::sigprocmask(SIG_SETMASK, &saved_->mask, nullptr);
}

void run_in_processes(int count, int at_once, InterruptGuard& guard, const PoolCallbacks& callbacks) {
  if (count > 0) systemc_kernel();  // once here, because each child would otherwise load it
  Children children;
  int next = 0;
  while (!guard.interrupted() && (next < count || children.size() > 0)) {
    while (next < count && std::ssize(children) < at_once) {
      children.add(start(next, guard, callbacks));
      ++next;
    }
    std::vector<std::pair<int, JobOutcome>> outcomes;
    for (Child& child : children.wait(guard.descriptor())) outcomes.emplace_back(child.job, wait_for(child));
    for (const auto& [job, outcome] : outcomes) {
      if (!callbacks.finished(job, outcome)) return;
    }
    callbacks.tick(children.running());
  }
}

}  // namespace linebounce::sim
