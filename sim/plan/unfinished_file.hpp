// An output file that keeps a temporary name until it is complete.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "sim/plan/process_pool.hpp"
#include "trace/files.hpp"

namespace linebounce::sim {

// If writing fails or is interrupted (exit code 130; by SIGQUIT with a core dump), an older file of the final name stays as it
// was. A second writer of the same file is refused. Devices and pipes are written directly. REQUIRES: no other thread is
// running, and no process is started meanwhile.
class UnfinishedFile {
 public:
  // Errors: OutputError.
  explicit UnfinishedFile(const std::filesystem::path& wanted);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  // The path to write to: ".NAME" in the same folder; a device's or pipe's own path.
  [[nodiscard]] const std::filesystem::path& path() const { return file_; }
  // Writes the whole content. Errors: OutputError.
  void write(std::string_view content) const;
  // Gives the complete file its final name. Errors: OutputError.
  void finish();

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void watch();

  std::filesystem::path wanted_;          // as the user named it
  std::filesystem::path target_, file_;   // behind a symbolic link; what is written until finish()
  std::optional<trace::WriteLock> lock_;  // holds the lock of file_, if that name is temporary
  bool finished_ = false;
  InterruptGuard guard_;
  int over_ = -1;  // becomes readable when the thread shall stop waiting for signals
  std::thread watcher_;
};

}  // namespace linebounce::sim
