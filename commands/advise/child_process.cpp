#include "commands/advise/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>

#include "sim/point/config_error.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

// Runs in the child process. Returns only if the command can't be executed.
void become(const fs::path& directory, std::vector<std::string> command, const fs::path& log) {
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0 || ::dup2(file, STDOUT_FILENO) < 0 || ::dup2(file, STDERR_FILENO) < 0) return;
  if (::chdir(directory.c_str()) != 0) return;
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
}

double microseconds_of(const timeval& time) {
  return 1e6 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec);
}

}  // namespace

fs::path program_directory() {
  return fs::read_symlink("/proc/self/exe").parent_path();
}

EndedProcess run_in(const fs::path& directory, const std::vector<std::string>& command, const fs::path& log,
                    const char* option) {
  std::fflush(nullptr);  // Both processes would otherwise write the buffered output.
  const pid_t process = ::fork();
  if (process < 0) throw ConfigError(fmt::format("{}: no process can be started: {}", option, std::strerror(errno)));
  if (process == 0) {
    become(directory, command, log);
    std::fprintf(stderr, "cannot run %s: %s\n", command.front().c_str(), std::strerror(errno));
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  while (::wait4(process, &status, 0, &used) < 0 && errno == EINTR) continue;
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .processor_us = microseconds_of(used.ru_utime) + microseconds_of(used.ru_stime)};
}

void confirm_running(const char* option, const std::string& shown, const std::string& of_trace) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0)
    throw ConfigError(
        fmt::format("{}: would run {}, as the trace says; --yes allows it where nobody can be asked", option, of_trace));
  std::cerr << shown << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "yes") throw ConfigError(fmt::format("{}: not allowed, so nothing was run", option));
}

}  // namespace linebounce::sim
