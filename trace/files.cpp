#include "trace/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "trace/error.hpp"
#include "trace/read_problem.hpp"

namespace linebounce::trace {
namespace {

constexpr std::size_t kWrittenAtOnce = 1 << 16;

[[noreturn]] void refuse_second_writer(const std::string& subject) {
  throw WriteError(fmt::format("{}: is being written by another process; wait for it, or choose another file", subject));
}

// Follows symbolic links as far as they lead: the last one may name a file that does not exist yet.
std::filesystem::path behind_links(const std::filesystem::path& file) {
  constexpr int kMostLinks = 40;  // as the kernel
  std::error_code error;
  std::filesystem::path place = file;
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(place, error)); ++links) {
    if (links == kMostLinks) throw WriteError(write_problem(file.string(), ELOOP));
    const std::filesystem::path next = std::filesystem::read_symlink(place, error);
    if (error) throw WriteError(write_problem(file.string(), error.value()));
    place = place.parent_path() / next;
  }
  return place;
}

}  // namespace

std::optional<std::filesystem::path> replaceable(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) return std::nullopt;
  return behind_links(file);
}

void require_trace_name(const std::string& option, const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  if (extension.empty() || extension == ".lbt" || extension == ".txt" || !replaceable(file)) return;
  throw WriteError(fmt::format("{} {}: a trace's name ends in .lbt, or in .txt to be written as text", option, file.string()));
}

std::string write_problem(const std::string& path, int error) {
  return fmt::format("{}: cannot be written: {}", path, std::strerror(error));
}

// O_NONBLOCK: without it, opening a pipe would wait for a writer.
InputFile::InputFile(const std::filesystem::path& file)
    : path_(file), descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (descriptor_ < 0) throw TraceError(read_problem(path_.string(), errno));
  struct stat about = {};
  if (::fstat(descriptor_, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(descriptor_);
    if (S_ISDIR(about.st_mode)) throw TraceError(read_problem(path_.string(), EISDIR));
    throw TraceError(path_.string() + ": a trace is a regular file, which this is not");
  }
  size_ = static_cast<std::uint64_t>(about.st_size);
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

void InputFile::read(std::uint64_t offset, std::span<char> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw TraceError(fmt::format("{}: byte {}: {}", path_.string(), offset,
                                   got < 0 ? std::strerror(errno) : "the file ends here; it was longer a moment ago"));
    }
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(got);
  }
}

OutputFile::OutputFile(const std::filesystem::path& file)
    : path_(file), descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail();
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::fail() const {
  throw WriteError(write_problem(path_.string(), errno));
}

void OutputFile::write(std::string_view bytes) {
  waiting_ += bytes;
  size_ += bytes.size();
  if (waiting_.size() >= kWrittenAtOnce) flush();
}

void OutputFile::flush() {
  std::string_view rest = waiting_;
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    rest.remove_prefix(written);
  }
  waiting_.clear();
}

void OutputFile::close() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail();
}

WriteLock::WriteLock(const std::filesystem::path& file, const std::string& subject) : path_(behind_links(file)) {
  struct stat about = {};
  is_new_ = ::stat(path_.c_str(), &about) != 0;
  if (!is_new_ && S_ISDIR(about.st_mode)) throw WriteError(write_problem(subject, EISDIR));
  if (!is_new_ && !S_ISREG(about.st_mode)) return;
  while (!try_lock(subject)) continue;
}

// Opens and locks the file. Returns false if it was renamed or deleted in between.
bool WriteLock::try_lock(const std::string& subject) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw WriteError(write_problem(subject, errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor_);
    refuse_second_writer(subject);
  }
  const bool locked = is_in_place();
  if (!locked) ::close(descriptor_);
  return locked;
}

WriteLock::~WriteLock() {
  if (descriptor_ < 0) return;
  struct stat about = {};
  if (is_new_ && is_in_place() && ::fstat(descriptor_, &about) == 0 && about.st_size == 0) ::unlink(path_.c_str());
  ::close(descriptor_);
}

bool WriteLock::is_in_place() const {
  if (descriptor_ < 0) return true;
  struct stat opened = {}, present = {};
  return ::fstat(descriptor_, &opened) == 0 && ::stat(path_.c_str(), &present) == 0 && opened.st_ino == present.st_ino &&
         opened.st_dev == present.st_dev;
}

void WriteLock::require_free(const std::filesystem::path& file, const std::string& subject) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return;
  const bool is_held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  if (is_held) refuse_second_writer(subject);
}

}  // namespace linebounce::trace
