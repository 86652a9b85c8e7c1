// Files of traces: one that is read here and there, and one that is written from its beginning to its end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

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

class OutputFile {
 public:
  // Replaces the file. Errors: WriteError, here and later.
  explicit OutputFile(const std::filesystem::path& file);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void flush();
  // Nothing may be written later. What isn't closed is not whole.
  void close();
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  int descriptor_;
  std::string waiting_;  // to be written
  std::uint64_t size_ = 0;
};

}  // namespace linebounce::trace
