// Files of traces: one that is read here and there, one that is written from its beginning to its end, and the lock of writers.
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

// Held while a process writes a file, so that a second writer is refused instead of mixing its bytes in. Goes with the process,
// however it ends.
class WriteLock {
 public:
  // Makes the file if it is not there. Devices and pipes are not locked. `subject` begins the errors: "s.lbt: the trace".
  // Errors: WriteError where another process holds the lock, or where the file can't be written.
  WriteLock(const std::filesystem::path& file, const std::string& subject);
  // Removes a file that it has made, if nothing was written.
  ~WriteLock();
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

  // False where somebody has meanwhile deleted the file or put another in its place.
  [[nodiscard]] bool is_in_place() const;

  // Errors: WriteError where another process holds the lock of the file.
  static void require_free(const std::filesystem::path& file, const std::string& subject);

 private:
  bool try_lock(const std::string& subject);

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool is_new_ = false;
};

}  // namespace linebounce::trace
