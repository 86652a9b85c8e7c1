// The files of traces: one for random reads, one that is written from beginning to end, and the writers' lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace linebounce::trace {

class InputFile {
 public:
  // Errors: TraceError, also from the other functions.
  explicit InputFile(const std::filesystem::path& file);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Fills `bytes` from `offset`. REQUIRES: the range is in the file.
  void read(std::uint64_t offset, std::span<char> bytes) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

class OutputFile {
 public:
  // Replaces the file. Errors: WriteError, also from the other functions.
  explicit OutputFile(const std::filesystem::path& file);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void flush();
  // After this, nothing may be written. A file that was not closed is incomplete.
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

// Held while a process writes a file, so that a second writer is refused instead of mixing in its bytes. Released when the
// process ends, however it ends.
class WriteLock {
 public:
  // Creates the file if it does not exist. Devices and pipes are not locked. `subject` begins the error messages: "s.lbt: the
  // trace". Errors: WriteError if another process holds the lock, or if the file can't be written.
  WriteLock(const std::filesystem::path& file, const std::string& subject);
  // Removes a file that it created if nothing was written.
  ~WriteLock();
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

  // False if the file was deleted or replaced in the meantime.
  [[nodiscard]] bool is_in_place() const;

  // Errors: WriteError if another process holds the file's lock.
  static void require_free(const std::filesystem::path& file, const std::string& subject);

 private:
  bool try_lock(const std::string& subject);

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool is_new_ = false;
};

}  // namespace linebounce::trace
