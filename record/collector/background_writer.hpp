// Writes a trace in a second thread, because compression takes half as long as all other work of the collector.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "trace/writer.hpp"

namespace linebounce::record {

// Has the interface of trace::Writer, but a call may throw the error of an earlier call.
class BackgroundWriter {
 public:
  explicit BackgroundWriter(const std::filesystem::path& file);
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  std::uint32_t define(const trace::Symbol& symbol);
  // REQUIRES: the lock is defined.
  void redefine(std::uint32_t lock, const trace::Lock& facts);
  [[nodiscard]] const trace::Symbols& symbols() const { return symbols_; }
  void append(std::uint32_t stream, const trace::Operation& operation) {
    if (batch_.runs.empty() || batch_.runs.back().stream != stream) batch_.runs.push_back({stream, 0});
    batch_.operations.push_back(operation);
    batch_.runs.back().end = batch_.operations.size();
    if (batch_.operations.size() == kBatchOperations) hand_over();
  }
  // Starts writing everything appended so far to the file, so that little is lost if this process is killed.
  void flush() {
    batch_.is_to_be_flushed = true;
    hand_over();
  }
  void finish(const trace::Summary& summary);

 private:
  static constexpr std::size_t kBatchOperations = 4096;  // small enough that all batches together fit into a core's cache
  static constexpr std::size_t kMostBatches = 8;
  struct Run {  // operations of one stream
    std::uint32_t stream = 0;
    std::size_t end = 0;
  };
  struct Batch {
    std::vector<trace::Operation> operations;
    std::vector<Run> runs;
    // New symbols, each with the index of the operation before which it must be defined.
    std::vector<std::pair<std::size_t, trace::Symbol>> symbols;
    // Locks with new facts, to be redefined after `symbols` are defined.
    std::vector<std::pair<std::uint32_t, trace::Lock>> redefined;
    bool is_to_be_flushed = false;
  };

  void hand_over();
  void end_thread();
  void write_batches();
  void write(const Batch& batch);

  trace::Writer writer_;
  trace::Symbols symbols_;  // symbols as they will be after all queued batches are written
  Batch batch_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Batch> waiting_;
  std::vector<Batch> spare_;  // empty batches for reuse, because allocating one takes longer than filling it
  bool is_over_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace linebounce::record
