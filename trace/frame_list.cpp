#include "trace/frame_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace linebounce::trace {

namespace {

constexpr std::uint64_t kShortestFrame = 12;

FileTail read_tail(const InputFile& file) {
  FileTail tail;
  tail.letters = {};
  if (file.size() >= sizeof(FileHead) + sizeof tail) {
    file.read(file.size() - sizeof tail, {reinterpret_cast<char*>(&tail), sizeof tail});
  }
  if (tail.magic != kSkippable || tail.letters != kTailLetters) {
    throw DamageAt(file.size(), "no index at the end: the file was cut off, or its writer did not get to its end");
  }
  if (tail.index < sizeof(FileHead) || tail.index >= file.size() - sizeof tail) {
    throw DamageAt(file.size() - sizeof tail, fmt::format("the index is said to be at byte {}", tail.index));
  }
  return tail;
}

// Where frames end at the latest: before the tail, if it is one.
std::uint64_t end_of_frames(const InputFile& file) {
  try {
    read_tail(file);
    return file.size() - sizeof(FileTail);
  } catch (const DamageAt&) {
    return file.size();
  }
}

std::vector<ListedFrame> listed(std::span<const char> content, std::uint64_t end) {
  std::vector<ListedFrame> frames(content.size() / sizeof(IndexEntry));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::memcpy(&frames[i].entry, content.data() + i * sizeof(IndexEntry), sizeof(IndexEntry));
    frames[i].number = static_cast<std::uint32_t>(i);
  }
  std::map<std::uint32_t, std::uint64_t> operations;  // so far, of each stream
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const IndexEntry& entry = frames[i].entry;
    const std::uint64_t next = i + 1 < frames.size() ? frames[i + 1].entry.offset : end;
    const bool is_first = i == 0;
    if ((is_first && entry.offset != sizeof(FileHead)) || entry.offset >= next || next > end) {
      throw FormatError(fmt::format("the index has frame {} from byte {} to {}", i, entry.offset, next));
    }
    frames[i].size = next - entry.offset;
    std::uint64_t& count = entry.type == kOperationsFrame ? operations[entry.stream] : lines;
    if (entry.type == kOperationsFrame || entry.type == kSymbolsFrame) {
      frames[i].first = count;
      count += entry.count;
    }
  }
  return frames;
}

ListedFrame described(const DecodedFrame& decoded, const InputFile& file, std::uint64_t offset, std::uint64_t size) {
  ListedFrame frame;
  frame.size = size;
  frame.first = decoded.head.first;
  frame.entry = {offset, decoded.head.type, decoded.head.stream, 1, 0};
  if (decoded.head.type == kOperationsFrame) {
    frame.entry.count = static_cast<std::uint32_t>(decoded.content.size() / sizeof(Operation));
  }
  if (decoded.head.type == kSymbolsFrame) {
    frame.entry.count = static_cast<std::uint32_t>(std::count(decoded.content.begin(), decoded.content.end(), '\n'));
  }
  std::uint32_t& checksum = frame.entry.checksum;
  file.read(offset + size - sizeof checksum, {reinterpret_cast<char*>(&checksum), sizeof checksum});
  return frame;
}

}  // namespace

std::string shown(std::span<const char> letters) {
  std::string text;
  for (const char letter : letters) text += letter >= ' ' && letter <= '~' ? letter : '?';
  return text;
}

std::vector<ListedFrame> read_index(const InputFile& file) {
  const FileTail tail = read_tail(file);
  try {
    const std::size_t most = sizeof(FrameHead) + tail.index / kShortestFrame * sizeof(IndexEntry);
    FrameDecoder decoder;
    const DecodedFrame index = decoder.decode(file, tail.index, file.size() - sizeof tail - tail.index, most);
    if (index.head.type != kIndexFrame || index.content.size() % sizeof(IndexEntry) != 0) {
      throw FormatError(fmt::format("{} bytes of {} where the index is to be", index.content.size(), shown(index.head.type)));
    }
    return listed(index.content, tail.index);
  } catch (const FormatError& error) {
    throw DamageAt(tail.index, fmt::format("the index: {}", error.what()));
  }
}

std::vector<ListedFrame> walk_frames(const InputFile& file, std::vector<DamageAt>& damage) {
  std::vector<ListedFrame> frames;
  FrameDecoder decoder;
  const std::uint64_t end = end_of_frames(file);
  std::uint64_t offset = sizeof(FileHead);
  for (std::uint32_t number = 0; offset < end; ++number) {
    std::uint64_t size = 0;
    try {
      size = decoder.size_of_frame(file, offset, kTextBytes);
      const ListedFrame frame = described(decoder.decode(file, offset, size, kTextBytes), file, offset, size);
      if (frame.entry.type == kIndexFrame) break;  // of a file whose tail is damaged
      frames.push_back(frame);
      frames.back().number = number;
    } catch (const FormatError& error) {
      damage.emplace_back(offset, fmt::format("frame {}: {}", number, error.what()));
      if (size == 0) break;
    }
    offset += size;
  }
  return frames;
}

}  // namespace linebounce::trace
