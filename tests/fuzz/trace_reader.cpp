// Reads whole traces, and frames of a binary trace. Around frames it puts what a file needs: checksums and the index. In a
// random file those would never be right, and then nothing else would be read.
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include "tests/fuzz/readers.hpp"
#include "trace/binary.hpp"
#include "trace/check.hpp"
#include "trace/profile.hpp"
#include "trace/reader.hpp"
#include "trace/recover.hpp"

namespace linebounce::fuzz {
namespace {

constexpr std::string_view kBetweenFrames = "\xFF\xFE";
constexpr std::array<trace::FrameType, 4> kFrameTypes = {trace::kSymbolsFrame, trace::kOperationsFrame, trace::kSummaryFrame,
                                                         trace::kIndexFrame};

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string packed(const std::string& content) {
  static ZSTD_CCtx* const kContext = [] {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 1);
    return context;
  }();
  std::string out(ZSTD_compressBound(content.size()), '\0');
  out.resize(ZSTD_compress2(kContext, out.data(), out.size(), content.data(), content.size()));
  return out;
}

class TraceOfFrames {
 public:
  explicit TraceOfFrames(std::uint32_t version) : bytes_(bytes_of(trace::FileHead{.version = version})) {}

  void add(trace::FrameType type, std::uint32_t stream, std::string_view content) {
    const auto count = static_cast<std::uint32_t>(count_in(type, content));
    std::uint64_t& before = before_[{type, type == trace::kOperationsFrame ? stream : 0}];
    trace::IndexEntry entry{bytes_.size(), type, type == trace::kOperationsFrame ? stream : 0, count, 0};
    const std::string frame = packed(bytes_of(trace::FrameHead{type, entry.stream, before}) + std::string(content));
    std::memcpy(&entry.checksum, frame.data() + frame.size() - sizeof entry.checksum, sizeof entry.checksum);
    before += count;
    index_ += bytes_of(entry);
    bytes_ += frame;
  }

  std::string finished() {
    trace::FileTail tail;
    tail.index = bytes_.size();
    return bytes_ + packed(bytes_of(trace::FrameHead{trace::kIndexFrame, 0, 0}) + index_) + bytes_of(tail);
  }

 private:
  static std::size_t count_in(trace::FrameType type, std::string_view content) {
    if (type == trace::kOperationsFrame) return content.size() / sizeof(trace::Operation);
    if (type != trace::kSymbolsFrame) return 1;
    return static_cast<std::size_t>(std::count(content.begin(), content.end(), '\n'));
  }

  std::string bytes_, index_;
  // One buffer for each stream, and one for lines of symbols.
  std::map<std::pair<trace::FrameType, std::uint32_t>, std::uint64_t> before_;
};

template <class Read>
void read_unless_refused(Read read) {
  try {
    read();
  } catch (const trace::TraceError&) {
  }
}

}  // namespace

void read_trace(const std::string& bytes) {
  const auto file = in_memory(bytes);
  read_unless_refused([&] {
    trace::Reader recovered(file, {.recover = true});
    trace::keep_what_makes_sense(recovered);
  });
  trace::Reader whole(file);
  trace::profile(whole);
  trace::check(whole);
}

// The first byte's lowest bit says whether operations are rows or byte planes. Then follow frames, separated by
// kBetweenFrames. Each consists of a byte for its type, one for the stream, and the content.
void read_trace_frames(const std::string& bytes) {
  std::string_view rest = bytes;
  if (rest.empty()) return;
  TraceOfFrames built((rest[0] & 1) != 0 ? trace::kVersionWithRows : trace::kVersion);
  rest.remove_prefix(1);
  while (rest.size() >= 2) {
    const std::string_view frame = rest.substr(0, rest.find(kBetweenFrames));
    rest.remove_prefix(std::min(rest.size(), frame.size() + kBetweenFrames.size()));
    if (frame.size() < 2) continue;
    const auto type = kFrameTypes[static_cast<unsigned char>(frame[0]) % kFrameTypes.size()];
    built.add(type, static_cast<unsigned char>(frame[1]), frame.substr(2));
  }
  read_trace(built.finished());
}

}  // namespace linebounce::fuzz
