// Reads frames through the index. If the index can't be trusted, `recover` walks from frame to frame instead and unpacks each
// once. So damage is known before operations are read.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "trace/binary.hpp"
#include "trace/error.hpp"
#include "trace/fingerprint.hpp"
#include "trace/frames.hpp"
#include "trace/source.hpp"
#include "trace/symbol_json.hpp"

namespace linebounce::trace {
namespace {

// Throws if an operation has an unknown kind. Errors: FormatError.
void check_kinds(std::span<const Operation> operations) {
  const auto is_unknown = [](const Operation& each) { return static_cast<unsigned>(each.kind) - 1 >= kKinds - 1; };
  bool is_any = false;  // without a jump for each operation
  for (const Operation& each : operations) is_any |= is_unknown(each);
  if (!is_any) return;
  const auto first = std::ranges::find_if(operations, is_unknown);
  throw FormatError(fmt::format("an operation is of kind {}; legal: 1 to {}", static_cast<int>(first->kind), kKinds - 1));
}

// The result is valid until the decoder's next frame. Errors: FormatError if the frame differs from its index entry;
// TraceError.
DecodedFrame read_listed(FrameDecoder& decoder, const InputFile& file, const ListedFrame& frame) {
  const bool operations = frame.entry.type == kOperationsFrame;
  const DecodedFrame decoded = decoder.decode(file, frame.entry.offset, frame.size, operations ? kOperationsBytes : kTextBytes);
  const bool counts = !operations || decoded.content.size() == frame.entry.count * sizeof(Operation);
  if (decoded.checksum != frame.entry.checksum) {
    throw FormatError(fmt::format("the index does not agree: the frame's checksum is {:08x}, there {:08x}", decoded.checksum,
                                  frame.entry.checksum));
  }
  if (decoded.head.type != frame.entry.type || decoded.head.stream != frame.entry.stream || decoded.head.first != frame.first ||
      !counts) {
    throw FormatError(fmt::format("the index does not agree: here are {} bytes of {}, stream {}, from number {} on",
                                  decoded.content.size(), shown(decoded.head.type), decoded.head.stream, decoded.head.first));
  }
  return decoded;
}

std::span<const Operation> read_operations(FrameDecoder& decoder, const InputFile& file, const ListedFrame& frame,
                                           std::uint32_t version) {
  const std::span<const Operation> operations = decoder.operations(read_listed(decoder, file, frame), version);
  check_kinds(operations);
  return operations;
}

class BinarySource final : public Source {
 public:
  BinarySource(const std::filesystem::path& file, ReadOptions options) : file_(file), recover_(options.recover) {
    check_head();
    const std::vector<ListedFrame> frames = find_frames();
    read_symbols(frames);
    read_summary_of(frames);
    list_operations(frames);
    fingerprint = fingerprint_of(fingerprinted_ + damage);
  }

  [[nodiscard]] std::unique_ptr<Frames> open(std::uint32_t stream) const override;
  [[nodiscard]] const InputFile& file() const { return file_; }
  [[nodiscard]] std::uint32_t version() const { return version_; }
  [[nodiscard]] const std::vector<ListedFrame>& frames_of(std::uint32_t stream) const { return streams_[stream]; }

  // An error message with the frame's place: "frame 7 (stream 3 "worker", operations 8192 to 16383): " and `what`.
  [[nodiscard]] std::string about(const ListedFrame& frame, const std::string& what) const {
    const IndexEntry& entry = frame.entry;
    std::string of = entry.type == kSymbolsFrame ? "symbols" : entry.type == kSummaryFrame ? "summary" : shown(entry.type);
    if (entry.type == kOperationsFrame) {
      const std::string name = entry.stream < symbols.streams.size() ? symbols.streams[entry.stream].name : "?";
      of = fmt::format("stream {} \"{}\", operations {} to {}", entry.stream, name, frame.first,
                       frame.first + std::max(entry.count, 1U) - 1);
    }
    return fmt::format("frame {} ({}): {}", frame.number, of, what);
  }

  [[noreturn]] void refuse(std::uint64_t offset, const std::string& what) const {
    throw TraceError(fmt::format("{}: byte {}: {}", file_.path().string(), offset, what));
  }

  [[noreturn]] void refuse_damage(std::uint64_t offset, const std::string& what) const {
    refuse(offset, what + " (--recover reads what comes before)");
  }

 private:
  // Refuses the file; under `recover`, only notes the error.
  void complain(std::uint64_t offset, const std::string& what) {
    if (!recover_) refuse_damage(offset, what);
    add_damage(fmt::format("byte {}: {}", offset, what));
  }

  void check_head() {
    FileHead head;
    if (file_.size() < sizeof head) refuse(file_.size(), "the file ends within its head");
    file_.read(0, {reinterpret_cast<char*>(&head), sizeof head});
    if (head.size != FileHead{}.size || head.letters != kHeadLetters) {
      refuse(8, fmt::format("this is not a trace: its head has the letters \"{}\"; legal: \"{}\"", shown(head.letters),
                            shown(kHeadLetters)));
    }
    if (head.version != kVersion && head.version != kVersionWithRows)
      refuse(24, fmt::format("the format's version is {}; legal: {} and {}", head.version, kVersionWithRows, kVersion));
    version_ = head.version;
  }

  std::vector<ListedFrame> find_frames() {
    try {
      return read_index(file_);
    } catch (const DamageAt& error) {
      complain(error.offset, error.what());
    }
    std::vector<DamageAt> met;
    std::vector<ListedFrame> frames = walk_frames(file_, met);
    for (const DamageAt& each : met) complain(each.offset, each.what());
    return frames;
  }

  // Calls use(frame), and passes a FormatError to complain(). Returns true if there was none.
  template <class Use>
  bool attempt(const ListedFrame& frame, Use&& use) {
    try {
      use(frame);
      fingerprinted_.append(reinterpret_cast<const char*>(&frame.entry), sizeof frame.entry);
      return true;
    } catch (const FormatError& error) {
      complain(frame.entry.offset, about(frame, error.what()));
      return false;
    }
  }

  // Stops at the first gap: symbols are numbered in order, so no number after a gap can be trusted.
  void read_symbols(const std::vector<ListedFrame>& frames) {
    for (const ListedFrame& frame : frames) {
      if (frame.entry.type != kSymbolsFrame) continue;
      if (attempt(frame, [this](const ListedFrame& each) { define_all(each); })) continue;
      named_until_ = frame.entry.offset;
      break;
    }
    try {
      resolve_locks(symbols, recover_);
    } catch (const FormatError& error) {
      complain(file_.size(), error.what());
    }
  }

  void define_all(const ListedFrame& frame) {
    if (frame.first != lines_) throw FormatError(fmt::format("lines {} to {} are missing", lines_, frame.first - 1));
    const DecodedFrame decoded = read_listed(decoder_, file_, frame);
    std::string_view text{decoded.content.data(), decoded.content.size()};
    bound_symbols(frame.size, text.size());
    const std::uint64_t until = lines_ + frame.entry.count;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) throw FormatError(fmt::format("line {} does not end with a newline", lines_));
      try {
        define_line(symbols, text.substr(0, end));
      } catch (const FormatError& error) {
        throw FormatError(fmt::format("line {}: {}", lines_, error.what()));
      }
      text.remove_prefix(end + 1);
      ++lines_;
    }
    if (lines_ != until) throw FormatError(fmt::format("its lines end at {}; the index says {}", lines_, until));
  }

  // Refuses symbols that unpack to far more than a program's, such as gigabytes from a few kilobytes.
  void bound_symbols(std::uint64_t packed, std::uint64_t unpacked) {
    packed_symbols_ += packed;
    unpacked_symbols_ += unpacked;
    if (unpacked_symbols_ <= kFreeSymbolBytes || unpacked_symbols_ / kMostSymbolRatio <= packed_symbols_) return;
    throw FormatError(
        fmt::format("all symbols up to here have {} bytes unpacked, of {} in the file; legal: up to {}, or {} for each",
                    unpacked_symbols_, packed_symbols_, kFreeSymbolBytes, kMostSymbolRatio));
  }

  void read_summary_of(const std::vector<ListedFrame>& frames) {
    const auto is_summary = [](const ListedFrame& frame) { return frame.entry.type == kSummaryFrame; };
    const auto found = std::ranges::find_if(frames, is_summary);
    if (found == frames.end()) {
      complain(file_.size(), "there is no summary");
      return;
    }
    attempt(*found, [this](const ListedFrame& frame) {
      const DecodedFrame decoded = read_listed(decoder_, file_, frame);
      summary = read_summary({decoded.content.data(), decoded.content.size()});
    });
  }

  void list_operations(const std::vector<ListedFrame>& frames) {
    streams_.resize(symbols.streams.size());
    operations.resize(streams_.size());
    for (const ListedFrame& frame : frames) {
      if (frame.entry.type == kSymbolsFrame || frame.entry.type == kSummaryFrame || frame.entry.offset >= named_until_)
        continue;
      if (!attempt(frame, [this](const ListedFrame& each) { list_frame(each); })) cut_.insert(frame.entry.stream);
    }
  }

  void list_frame(const ListedFrame& frame) {
    const IndexEntry& entry = frame.entry;
    if (entry.type != kOperationsFrame) throw FormatError("legal types: SYMB, OPER, SUMM");
    if (entry.stream >= streams_.size()) throw FormatError(fmt::format("{} streams are defined", streams_.size()));
    if (entry.count == 0 || entry.count > kFrameOperations) {
      throw FormatError(fmt::format("{} operations; legal: 1 to {}", entry.count, kFrameOperations));
    }
    std::uint64_t& so_far = operations[entry.stream];
    if (frame.first != so_far) {
      if (!cut_.insert(entry.stream).second) return;  // the stream's end was already reported
      throw FormatError(fmt::format("is of no use: the stream's readable operations end with number {}", so_far));
    }
    if (recover_) read_operations(decoder_, file_, frame, version_);
    so_far += entry.count;
    streams_[entry.stream].push_back(frame);
  }

  InputFile file_;
  bool recover_;
  std::uint32_t version_ = kVersion;
  FrameDecoder decoder_;
  std::uint64_t packed_symbols_ = 0;  // bytes of symbol frames so far
  std::uint64_t unpacked_symbols_ = 0;
  std::uint64_t lines_ = 0;  // of symbols, so far
  // From this byte of the file on, operations are useless, because symbols before them are missing.
  std::uint64_t named_until_ = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::vector<ListedFrame>> streams_;
  std::set<std::uint32_t> cut_;  // streams that end early, at a missing frame
  std::string fingerprinted_;
};

class BinaryFrames final : public Frames {
 public:
  BinaryFrames(const BinarySource& source, std::uint32_t stream) : source_(source), frames_(source.frames_of(stream)) {}

  std::span<const Operation> next() override {
    if (next_ == frames_.size()) return {};
    const ListedFrame& frame = frames_[next_++];
    try {
      return read_operations(decoder_, source_.file(), frame, source_.version());
    } catch (const FormatError& error) {
      source_.refuse_damage(frame.entry.offset, source_.about(frame, error.what()));
    }
  }

  [[nodiscard]] std::uint64_t first() const override { return next_ == 0 ? 0 : frames_[next_ - 1].first; }

  [[nodiscard]] std::string position(std::uint64_t) const override {
    return fmt::format("byte {}", next_ == 0 ? sizeof(FileHead) : frames_[next_ - 1].entry.offset);
  }

 private:
  const BinarySource& source_;
  const std::vector<ListedFrame>& frames_;
  std::size_t next_ = 0;
  FrameDecoder decoder_;
};

std::unique_ptr<Frames> BinarySource::open(std::uint32_t stream) const {
  return std::make_unique<BinaryFrames>(*this, stream);
}

}  // namespace

std::unique_ptr<Source> binary_source(const std::filesystem::path& file, ReadOptions options) {
  return std::make_unique<BinarySource>(file, options);
}

}  // namespace linebounce::trace
