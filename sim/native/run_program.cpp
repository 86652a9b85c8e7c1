#include "sim/native/run_program.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "sim/point/config_error.hpp"
#include "sim/results/signals_wait.hpp"

namespace linebounce::sim {
namespace {

// Runs in the child process. Returns only if the program can't be executed.
void become_program(const std::vector<std::string>& words, const ProgramLimits& limits, int output) {
  if (limits.largest_file > 0) {
    const rlimit size{limits.largest_file, limits.largest_file}, no_core{};
    if (::setrlimit(RLIMIT_FSIZE, &size) != 0 || ::setrlimit(RLIMIT_CORE, &no_core) != 0) return;
  }
  SignalsWait::end_in_child();
  if (::dup2(output, STDERR_FILENO) < 0 || ::dup2(output, STDOUT_FILENO) < 0) return;
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
}

// Reads until all writers have closed the pipe. Meanwhile, kills the process if it may not go on.
std::string read_all(int from, pid_t process, const std::function<bool()>& may_go_on) {
  constexpr int kAskAfterMs = 100;
  std::string text;
  std::array<char, 4096> part = {};
  for (ssize_t bytes = 1; bytes > 0;) {
    pollfd readable{from, POLLIN, 0};
    while (may_go_on && ::poll(&readable, 1, kAskAfterMs) <= 0) {
      if (!may_go_on()) ::kill(process, SIGKILL);
    }
    while ((bytes = ::read(from, part.data(), part.size())) < 0 && errno == EINTR) continue;
    if (bytes > 0) text.append(part.data(), static_cast<std::size_t>(bytes));
  }
  return text;
}

}  // namespace

ProgramOutput run_program(const std::vector<std::string>& words, const ProgramLimits& limits) {
  std::array<int, 2> pipe = {};
  std::fflush(nullptr);  // Both processes would otherwise write the buffered output.
  const bool piped = ::pipe(pipe.data()) == 0;
  const pid_t process = piped ? ::fork() : -1;
  if (process < 0) throw ConfigError(fmt::format("{}: no process can be started: {}", words.front(), std::strerror(errno)));
  if (process == 0) {
    ::close(pipe[0]);
    become_program(words, limits, pipe[1]);
    ::_exit(127);
  }
  ::close(pipe[1]);
  ProgramOutput output{0, read_all(pipe[0], process, limits.may_go_on)};
  ::close(pipe[0]);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  output.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

}  // namespace linebounce::sim
