#include "record/collector/recorded_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "record/collector/shared_channel.hpp"
#include "trace/termination_signals.hpp"

namespace linebounce::record {
namespace {

sigset_t signals_of_writes() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaddset(&signals, signal);
  return signals;
}

// Runs in the child. Returns only if the program can't be executed.
void become(const std::vector<std::string>& command, const std::string& variable, const std::string& value) {
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::setenv(variable.c_str(), value.c_str(), 1);
  ::execvp(arguments[0], arguments.data());
}

// Why the program can't be run, for errno `error`, and what to type instead where that is known.
std::string why_not_run(const std::string& program, int error) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(program, ignored)) return "this is a folder, not a program";
  if (error == ENOENT) {
    const bool is_here = program.find('/') == program.npos && fs::is_regular_file(program, ignored);
    return is_here ? fmt::format("there is no such program in PATH; did you mean ./{}?", program) : "there is no such program";
  }
  if (error != EACCES || !fs::is_regular_file(program, ignored)) return std::strerror(error);
  const fs::path path = program;
  const bool is_c = path.extension() == ".c", is_cpp = path.extension() == ".cpp" || path.extension() == ".cc";
  if (!is_c && !is_cpp) return "the file is not executable";
  return fmt::format("this is its source; compile it first: linebounce-{} -O2 -pthread {} -o {}", is_c ? "cc" : "c++", program,
                     path.stem().string());
}

}  // namespace

void survive_failed_writes() {
  const sigset_t signals = signals_of_writes();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
}

// Waits until the child has become the program: the pipe then closes. If that fails, the error number comes through the pipe.
RecordedProcess::RecordedProcess(const std::vector<std::string>& command, const std::string& variable,
                                 const std::string& value) {
  ::sigemptyset(&signals_);
  for (const int signal : trace::kInterrupts) ::sigaddset(&signals_, signal);
  ::sigprocmask(SIG_BLOCK, &signals_, nullptr);
  int reason[2];
  if (::pipe2(reason, O_CLOEXEC) != 0) throw RecordError(fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
  id_ = ::fork();
  if (id_ == 0) {
    ::sigprocmask(SIG_UNBLOCK, &signals_, nullptr);
    const sigset_t of_writes = signals_of_writes();
    ::sigprocmask(SIG_UNBLOCK, &of_writes, nullptr);
    become(command, variable, value);
    const int error = errno;
    [[maybe_unused]] const auto written = ::write(reason[1], &error, sizeof(error));
    ::_exit(127);
  }
  ::close(reason[1]);
  int error = id_ < 0 ? errno : 0;
  if (id_ > 0 && ::read(reason[0], &error, sizeof(error)) > 0) ::waitpid(id_, nullptr, 0);
  ::close(reason[0]);
  if (error != 0) throw RecordError(fmt::format("cannot run {}: {}", command[0], why_not_run(command[0], error)));
}

bool RecordedProcess::has_ended() {
  if (!ended_) ended_ = ::waitpid(id_, &status_, WNOHANG) == id_;
  return ended_;
}

// A SIGINT or SIGQUIT from the terminal has already reached the program, because it is in the same process group. One from
// another process has not.
void RecordedProcess::pause(std::chrono::nanoseconds time) {
  const timespec timeout{.tv_sec = 0, .tv_nsec = time.count()};
  siginfo_t from{};
  const int signal = ::sigtimedwait(&signals_, &from, &timeout);
  const bool is_of_process = from.si_code == SI_USER || from.si_code == SI_QUEUE;
  const bool may_be_of_terminal = signal == SIGINT || signal == SIGQUIT;
  if (signal > 0 && (is_of_process || !may_be_of_terminal)) ::kill(id_, signal);
}

bool RecordedProcess::take_signals() const {
  const timespec at_once{};
  bool any = false;
  while (::sigtimedwait(&signals_, nullptr, &at_once) > 0) any = true;
  return any;
}

int RecordedProcess::exit_status() const {
  return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

std::string RecordedProcess::killed_by() const {
  if (!WIFSIGNALED(status_)) return "";
  return fmt::format("was killed by signal {} ({})", WTERMSIG(status_), ::strsignal(WTERMSIG(status_)));
}

}  // namespace linebounce::record
