// A file that is read here and there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace linebounce::trace {

class InputFile {
 public:
  // Errors: TraceError, here and later.
  explicit InputFile(const std::filesystem::path& file);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Fills `bytes` with what is at `offset`. REQUIRES: it is in the file.
  void read(std::uint64_t offset, std::span<char> bytes) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

}  // namespace linebounce::trace
