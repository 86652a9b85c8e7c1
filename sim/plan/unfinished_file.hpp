// A file that is written, under a name of its own until it is whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "sim/plan/process_pool.hpp"
#include "trace/files.hpp"

namespace linebounce::sim {

// Who fails, or is interrupted (SIGINT, SIGTERM: exit code 130), leaves what was there before. Of two that write the same file
// the second is refused. A device or a pipe is written as it is. REQUIRES: no other thread is running, and no process is
// started meanwhile.
class UnfinishedFile {
 public:
  // Errors: OutputError.
  explicit UnfinishedFile(const std::filesystem::path& wanted);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  // What to write, ".NAME" beside the file that is wanted.
  [[nodiscard]] const std::filesystem::path& path() const { return file_; }
  // Writes all that it is to hold; for whoever has no writer of his own. Errors: OutputError.
  void write(std::string_view content) const;
  // It is whole. Errors: OutputError.
  void finish();

 private:
  [[noreturn]] void refuse(const std::string& why) const;
  void watch();

  std::filesystem::path wanted_, file_;
  std::optional<trace::WriteLock> lock_;  // of file_, where that has a name of its own
  bool finished_ = false;
  InterruptGuard guard_;
  int over_ = -1;  // can be read when nobody need watch any more
  std::thread watcher_;
};

}  // namespace linebounce::sim
