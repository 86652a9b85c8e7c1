#include "trace/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "trace/error.hpp"

namespace linebounce::trace {

namespace {

constexpr std::size_t kWrittenAtOnce = 1 << 16;

}  // namespace

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
    rest.remove_prefix(written);
  }
  waiting_.clear();
}

void OutputFile::close() {
  flush();
  if (::close(std::exchange(descriptor_, -1)) != 0) fail();
}

}  // namespace linebounce::trace
