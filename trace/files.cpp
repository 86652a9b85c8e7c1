#include "trace/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "trace/error.hpp"

namespace linebounce::trace {
namespace {

constexpr std::size_t kWrittenAtOnce = 1 << 16;

}  // namespace

InputFile::InputFile(const std::filesystem::path& file) : path_(file), descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (descriptor_ < 0) throw TraceError(fmt::format("{}: the trace cannot be read: {}", path_.string(), std::strerror(errno)));
  struct stat about = {};
  if (::fstat(descriptor_, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(descriptor_);
    throw TraceError(fmt::format("{}: a trace is a regular file, which this is not", path_.string()));
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
  throw WriteError(fmt::format("{}: the trace cannot be written: {}", path_.string(), std::strerror(errno)));
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
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  waiting_.clear();
}

void OutputFile::close() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail();
}

}  // namespace linebounce::trace
