#include "sim/results/result_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <system_error>

#include "sim/results/signals_wait.hpp"
#include "trace/files.hpp"
#include "trace/read_problem.hpp"

namespace linebounce::sim {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

// A temporary file that the destructor removes unless it was renamed.
class TemporaryFile {
 public:
  // `target`: as messages name it; `place`: where it is.
  TemporaryFile(const std::filesystem::path& target, const std::filesystem::path& place)
      : target_(target),
        place_(place),
        path_(place.parent_path() /
              (std::string(kTemporaryPrefix) + std::to_string(::getpid()) + "-" + place.filename().string())),
        descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666)) {
    if (descriptor_ < 0) fail();
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }

  void write(std::string_view content) {
    errno = write_all(descriptor_, content);
    if (errno != 0) fail();
  }

  void commit() {
    // Some file systems don't support fsync (EINVAL, ENOSYS); results may still be written there.
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) fail();
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail();
    if (::rename(path_.c_str(), place_.c_str()) != 0) fail();
    renamed_ = true;
  }

 private:
  SignalsWait signals_wait_;
  // If the constructor throws, the destructor does not run; there is then no file to remove.
  [[noreturn]] void fail() const { throw OutputError(write_problem(target_, errno)); }

  std::filesystem::path target_;
  std::filesystem::path place_;
  std::filesystem::path path_;
  int descriptor_;
  bool renamed_ = false;
};

// `target` and `place`: as for TemporaryFile.
void replace(const std::filesystem::path& target, const std::filesystem::path& place, std::string_view content) {
  TemporaryFile file(target, place);
  file.write(content);
  file.commit();
}

// Devices and pipes: what was written before an error stays written.
void write_directly(const std::filesystem::path& path, std::string_view content) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) throw OutputError(write_problem(path, errno));
  int error = write_all(descriptor, content);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) throw OutputError(write_problem(path, error));
}

}  // namespace

const std::string_view kTemporaryPrefix = ".linebounce-tmp-";

std::string write_problem(const std::filesystem::path& path, int error) {
  return trace::write_problem(path.string(), error);
}

void replace_file(const std::filesystem::path& path, std::string_view content) {
  replace(path, path, content);
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  if (const auto place = trace::replaceable(path)) {
    replace(path, *place, content);
  } else {
    write_directly(path, content);
  }
}

int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) content.remove_prefix(written);
  }
  return 0;
}

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  return type != std::filesystem::file_type::not_found;
}

void read_parts(const std::filesystem::path& path, const std::function<void(std::string_view)>& take) {
  // O_NONBLOCK: without it, opening a pipe would wait for a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts {};
  if (file.number() < 0 || ::fstat(file.number(), &facts) != 0) throw InputError(read_problem(path, errno));
  if (S_ISDIR(facts.st_mode)) throw InputError(read_problem(path, EISDIR));
  if (!S_ISREG(facts.st_mode)) throw InputError(path.string() + ": cannot be read: it is not a regular file");
  constexpr std::size_t kPart = 65536;
  // Not initialised, because most files are far smaller.
  const std::unique_ptr<char[]> part(new char[kPart]);
  while (true) {
    const ssize_t size = ::read(file.number(), part.get(), kPart);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw InputError(read_problem(path, errno));
    if (size == 0) return;
    take({part.get(), static_cast<std::size_t>(size)});
  }
}

std::string read_file(const std::filesystem::path& path) {
  constexpr std::uintmax_t kLargest = std::uintmax_t{4} << 30;  // a file with holes costs its sender nothing
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error) && std::filesystem::file_size(path, error) > kLargest)
    throw InputError(path.string() + ": larger than 4 GiB, so it is not a file that Linebounce wrote");
  std::string content;
  read_parts(path, [&content](std::string_view part) { content += part; });
  return content;
}

void write_if_changed(const std::filesystem::path& path, std::string_view content) {
  try {
    if (is_there(path) && read_file(path) == content) return;
  } catch (const InputError&) {
    // A file that can't be read is replaced.
  }
  replace_file(path, content);
}

void make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw OutputError(path.string() + ": the directory cannot be made: " + error.message());
  if (!std::filesystem::is_directory(path, error)) {
    throw OutputError(path.string() + ": is not a directory");
  }
}

}  // namespace linebounce::sim
