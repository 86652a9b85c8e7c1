// Waits for the signal in a thread: a signal handler may interrupt any code, so it may call almost nothing.
#include "sim/plan/unfinished_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "sim/plan/exit_code.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {

namespace fs = std::filesystem;

namespace {

// Whether the temporary name is unused, or a killed process left it. Writing to anything else could change a file elsewhere, to
// which a link leads, or wait for a pipe's reader.
bool is_free_or_ours(const fs::path& temporary) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(temporary, error);
  return !fs::exists(status) || (fs::is_regular_file(status) && fs::hard_link_count(temporary, error) == 1);
}

// Ends the process by SIGQUIT, in this thread, where the signal is blocked. The core shows what the other thread does.
void dump_core() {
  sigset_t quit;
  ::sigemptyset(&quit);
  ::sigaddset(&quit, SIGQUIT);
  ::signal(SIGQUIT, SIG_DFL);
  ::raise(SIGQUIT);
  ::pthread_sigmask(SIG_UNBLOCK, &quit, nullptr);
}

}  // namespace

UnfinishedFile::UnfinishedFile(const fs::path& wanted)
    : wanted_(wanted), target_(wanted), file_(wanted), over_(::eventfd(0, EFD_CLOEXEC)) {
  if (const auto place = trace::replaceable(wanted)) {
    target_ = *place;
    const fs::path directory = target_.has_parent_path() ? target_.parent_path() : ".";
    if (::access(directory.c_str(), W_OK) != 0) refuse(std::strerror(errno));
    file_ = fs::path(target_).replace_filename("." + target_.filename().string());
    if (!is_free_or_ours(file_)) throw OutputError(file_.string() + ": is in the way; move it, or choose another file");
    // The final name is locked as well, because linebounce-record writes its trace under that name.
    trace::WriteLock::require_free(target_, wanted.string());
    lock_.emplace(file_, wanted.string());
  }
  watcher_ = std::thread([this] { watch(); });
}

UnfinishedFile::~UnfinishedFile() {
  ::eventfd_write(over_, 1);
  watcher_.join();
  ::close(over_);
  std::error_code ignored;
  if (file_ != target_ && !finished_) fs::remove(file_, ignored);
}

void UnfinishedFile::write(std::string_view content) const {
  const int descriptor = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) refuse(std::strerror(errno));
  int error = write_all(descriptor, content);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) refuse(std::strerror(error));
}

void UnfinishedFile::finish() {
  std::error_code error;
  if (file_ != target_) fs::rename(file_, target_, error);
  if (error) refuse(error.message());
  finished_ = true;
}

// The message names the file that the user asked for, not the temporary one.
void UnfinishedFile::refuse(const std::string& why) const {
  throw OutputError(fmt::format("{}: cannot be written: {}", wanted_.string(), why));
}

void UnfinishedFile::watch() {
  std::array<pollfd, 2> watched = {{{guard_.descriptor(), POLLIN, 0}, {over_, POLLIN, 0}}};
  while (watched[0].revents == 0 && watched[1].revents == 0) ::poll(watched.data(), watched.size(), -1);
  if (watched[1].revents != 0) return;
  std::cerr << "linebounce: interrupted; nothing was written\n";
  std::error_code ignored;  // done last, because the other thread may still be about to open the file
  if (file_ != target_) fs::remove(file_, ignored);
  guard_.interrupted();
  if (guard_.signal() == SIGQUIT) dump_core();
  std::_Exit(static_cast<int>(ExitCode::interrupted));
}

}  // namespace linebounce::sim
