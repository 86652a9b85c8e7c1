#include "trace/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "trace/error.hpp"

namespace linebounce::trace {

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
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace linebounce::trace
