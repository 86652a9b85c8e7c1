// Files of traces: an input for random reads, an output that is written from beginning to end, and a lock for writers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace linebounce::trace {

class InputFile {
 public:
  // Errors: TraceError, also from the other member functions.
  explicit InputFile(const std::filesystem::path& file);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Fills `bytes` from `offset` on. REQUIRES: the range lies within the file.
  void read(std::uint64_t offset, std::span<char> bytes) const;

 private:
  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

class OutputFile {
 public:
  // Replaces the file. Errors: WriteError, also from the other member functions.
  explicit OutputFile(const std::filesystem::path& file);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  void flush();
  // Completes the file; nothing may be written afterwards. Without this, the file is incomplete.
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

// Where a file of this name is to be replaced: behind a symbolic link, what it points to. Nothing for what is there and is not
// a regular file, such as a device or a pipe: it is written directly, because a rename would replace the device itself.
[[nodiscard]] std::optional<std::filesystem::path> replaceable(const std::filesystem::path& file);

// Refuses an extension that says nothing about the form to write; names without one, devices and pipes pass. `option`: how the
// message begins. Errors: WriteError.
void require_trace_name(const std::string& option, const std::filesystem::path& file);

// "FILE: cannot be written: REASON", for errno `error`.
[[nodiscard]] std::string write_problem(const std::string& path, int error);

// Held while a process writes a file, so that a second writer is refused. The system releases it however the process ends.
class WriteLock {
 public:
  // Locks the file, and creates it if it does not exist. Does not lock devices and pipes. `subject`: the file that error
  // messages name. Errors: WriteError if another process holds the lock, or if the file can't be written.
  WriteLock(const std::filesystem::path& file, const std::string& subject);
  // Removes the file if this object created it and nothing was written.
  ~WriteLock();
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

  // Whether this object created the file.
  [[nodiscard]] bool is_new() const { return is_new_; }
  // False if the file was deleted or replaced since it was locked.
  [[nodiscard]] bool is_in_place() const;

  // Errors: WriteError if another process has locked the file.
  static void require_free(const std::filesystem::path& file, const std::string& subject);

 private:
  bool try_lock(const std::string& subject);

  std::filesystem::path path_;
  int descriptor_ = -1;
  bool is_new_ = false;
};

}  // namespace linebounce::trace
