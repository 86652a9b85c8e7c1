#include "record/collector/background_writer.hpp"

#include <algorithm>
#include <span>

namespace linebounce::record {

BackgroundWriter::BackgroundWriter(const std::filesystem::path& file) : writer_(file), thread_([this] { write_batches(); }) {}

BackgroundWriter::~BackgroundWriter() {
  end_thread();
}

std::uint32_t BackgroundWriter::define(const trace::Symbol& symbol) {
  batch_.symbols.emplace_back(batch_.operations.size(), symbol);
  return symbols_.define(symbol);
}

void BackgroundWriter::redefine(std::uint32_t lock, const trace::Lock& facts) {
  batch_.redefined.emplace_back(lock, facts);
  symbols_.locks.at(lock) = facts;
}

void BackgroundWriter::hand_over() {
  std::unique_lock held(lock_);
  changed_.wait(held, [this] { return waiting_.size() < kMostBatches; });
  if (failure_) std::rethrow_exception(failure_);
  waiting_.push_back(std::move(batch_));
  batch_ = {};
  if (!spare_.empty()) {
    batch_ = std::move(spare_.back());
    spare_.pop_back();
  }
  batch_.operations.reserve(kBatchOperations);
  changed_.notify_all();
}

void BackgroundWriter::end_thread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard held(lock_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundWriter::finish(const trace::Summary& summary) {
  hand_over();
  end_thread();
  if (failure_) std::rethrow_exception(failure_);
  writer_.finish(summary);
}

void BackgroundWriter::write_batches() {
  for (;;) {
    std::unique_lock held(lock_);
    changed_.wait(held, [this] { return is_over_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    Batch batch = std::move(waiting_.front());
    waiting_.pop_front();
    const bool is_in_vain = failure_ != nullptr;
    held.unlock();
    changed_.notify_all();
    if (!is_in_vain) write(batch);
    batch.operations.clear();
    batch.runs.clear();
    batch.symbols.clear();
    batch.redefined.clear();
    batch.is_to_be_flushed = false;
    held.lock();
    spare_.push_back(std::move(batch));
  }
}

void BackgroundWriter::write(const Batch& batch) try {
  std::size_t next = 0;
  auto run = batch.runs.begin();
  const std::span<const trace::Operation> all = batch.operations;
  const auto write_until = [&](std::size_t end) {
    while (next < end) {
      const std::size_t until = std::min(end, run->end);
      writer_.append(run->stream, all.subspan(next, until - next));
      next = until;
      if (next == run->end) ++run;
    }
  };
  for (const auto& [before, symbol] : batch.symbols) {
    write_until(before);
    writer_.define(symbol);
  }
  write_until(batch.operations.size());
  for (const auto& [lock, facts] : batch.redefined) writer_.redefine(lock, facts);
  if (batch.is_to_be_flushed) writer_.flush();
} catch (...) {
  const std::lock_guard held(lock_);
  failure_ = std::current_exception();
}

}  // namespace linebounce::record
