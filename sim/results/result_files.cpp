#include "sim/results/result_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace linebounce::sim {
namespace {

// A temporary file that is gone again unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : target_(target),
        path_(target.parent_path() /
              (std::string(kTemporaryPrefix) + std::to_string(::getpid()) + "-" + target.filename().string())),
        descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) fail();
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }

  void write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void commit() {
    // Some file systems have no fsync (EINVAL); that is no reason to lose the results.
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) fail();
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail();
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail();
    renamed_ = true;
  }

 private:
  // An exception from the constructor skips the destructor, but then there is no file either.
  [[noreturn]] void fail() const { throw OutputError(write_problem(target_, errno)); }

  std::filesystem::path target_;
  std::filesystem::path path_;
  int descriptor_;
  bool renamed_ = false;
};

}  // namespace

const std::string_view kTemporaryPrefix = ".linebounce-tmp-";

std::string write_problem(const std::filesystem::path& path, int error) {
  return "cannot write " + path.string() + ": " + std::generic_category().message(error);
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  TemporaryFile file(path);
  file.write(content);
  file.commit();
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::string content;
  std::array<char, 65536> part{};
  while (stream && (stream.read(part.data(), part.size()), stream.gcount() > 0)) {
    content.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (!stream.is_open() || stream.bad()) {
    throw InputError("cannot read " + path.string() + ": " + std::generic_category().message(errno));
  }
  return content;
}

void make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw OutputError("cannot make the directory " + path.string() + ": " + error.message());
  if (!std::filesystem::is_directory(path)) {
    throw OutputError("cannot write into " + path.string() + ": it is not a directory");
  }
}

}  // namespace linebounce::sim
