// Collects operations by stream, and writes them as frames. Symbols are written before later operations, so even a truncated
// file defines every symbol that its operations use.
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "trace/binary.hpp"
#include "trace/byte_planes.hpp"
#include "trace/error.hpp"
#include "trace/files.hpp"
#include "trace/sink.hpp"
#include "trace/symbol_json.hpp"

namespace linebounce::trace {
namespace {

constexpr int kLevel = 1;
// Limit on buffered operations of all streams. At the limit all buffers are written, however full each is, so memory does not
// grow with the number of streams.
constexpr std::size_t kMostBuffered = std::size_t{4} << 20;
constexpr std::size_t kTextBuffered = std::size_t{1} << 20;  // bytes of symbols

template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

class BinarySink final : public Sink {
 public:
  explicit BinarySink(const std::filesystem::path& file) : file_(file), context_(ZSTD_createCCtx()) {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
    file_.write(bytes_of(FileHead{}));
  }

  void define(const Symbols& symbols, const Symbol& symbol) override {
    add_line(symbol_line(symbol));
    if (buffers_.size() < symbols.streams.size()) buffers_.resize(symbols.streams.size());
  }

  void redefine(const Symbols& symbols, std::uint32_t lock) override { add_line(redefinition_line(lock, symbols.locks[lock])); }

  void append(const Symbols&, std::uint32_t stream, std::span<const Operation> operations) override {
    std::vector<Operation>& buffer = buffers_[stream].operations;
    while (!operations.empty()) {
      const auto part =
          operations.first(std::min({operations.size(), kFrameOperations - buffer.size(), kMostBuffered - buffered_}));
      buffer.insert(buffer.end(), part.begin(), part.end());
      buffered_ += part.size();
      if (buffer.size() == kFrameOperations) {
        write_operations(stream);
      } else if (buffered_ == kMostBuffered) {
        write_all();
      }
      operations = operations.subspan(part.size());
    }
  }

  void flush() override {
    write_all();
    file_.flush();
  }

  void finish(const Summary& summary) override {
    write_all();
    write_frame({kSummaryFrame, 0, 0}, summary_text(summary), 1);
    FileTail tail;
    tail.index = file_.size();
    write_frame({kIndexFrame, 0, 0}, {reinterpret_cast<const char*>(index_.data()), index_.size() * sizeof(IndexEntry)}, 0);
    file_.write(bytes_of(tail));
    file_.close();
  }

 private:
  struct Buffer {
    std::vector<Operation> operations;
    std::uint64_t first = 0;
  };

  void add_line(const std::string& line) {
    lines_ += line;
    lines_ += '\n';
    ++line_count_;
    if (line_count_ == kFrameLines || lines_.size() >= kTextBuffered) write_lines();
  }

  void write_lines() {
    if (line_count_ == 0) return;
    write_frame({kSymbolsFrame, 0, first_line_}, lines_, line_count_);
    first_line_ += line_count_;
    line_count_ = 0;
    lines_.clear();
  }

  void write_operations(std::uint32_t stream) {
    Buffer& buffer = buffers_[stream];
    const std::size_t count = buffer.operations.size();
    if (count == 0) return;
    write_lines();
    planes_.resize(count * sizeof(Operation));
    to_planes(buffer.operations, planes_);
    write_frame({kOperationsFrame, stream, buffer.first}, planes_, count);
    buffer.first += count;
    buffered_ -= count;
    buffer.operations.clear();
  }

  void write_all() {
    write_lines();
    for (std::uint32_t stream = 0; stream < buffers_.size(); ++stream) {
      write_operations(stream);
      buffers_[stream].operations.shrink_to_fit();
    }
  }

  void write_frame(const FrameHead& head, std::string_view content, std::size_t count) {
    payload_.assign(bytes_of(head));
    payload_ += content;
    if (head.type != kIndexFrame && payload_.size() > kTextBytes) {
      throw WriteError(fmt::format("{}: one symbol or the summary has {} bytes; at most {} can be written",
                                   file_.path().string(), payload_.size(), kTextBytes));
    }
    compressed_.resize(ZSTD_compressBound(payload_.size()));
    const std::size_t size =
        ZSTD_compress2(context_.get(), compressed_.data(), compressed_.size(), payload_.data(), payload_.size());
    if (ZSTD_isError(size)) {
      throw WriteError(fmt::format("{}: the trace cannot be compressed: {}", file_.path().string(), ZSTD_getErrorName(size)));
    }
    IndexEntry& entry = index_.emplace_back();
    entry = {file_.size(), head.type, head.stream, static_cast<std::uint32_t>(count), 0};
    std::memcpy(&entry.checksum, compressed_.data() + size - sizeof(entry.checksum), sizeof(entry.checksum));
    file_.write({compressed_.data(), size});
  }

  OutputFile file_;
  std::unique_ptr<ZSTD_CCtx, FreeContext> context_;
  std::string planes_;
  std::vector<Buffer> buffers_;  // by stream
  std::size_t buffered_ = 0;     // number of operations in all buffers
  std::string lines_;
  std::size_t line_count_ = 0;
  std::uint64_t first_line_ = 0;
  std::vector<IndexEntry> index_;
  std::string payload_;
  std::string compressed_;
};

}  // namespace

std::unique_ptr<Sink> binary_sink(const std::filesystem::path& file) {
  return std::make_unique<BinarySink>(file);
}

}  // namespace linebounce::trace
