#include "trace/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "trace/binary.hpp"
#include "trace/files.hpp"
#include "trace/source.hpp"
#include "trace/symbol_json.hpp"
#include "trace/text_token.hpp"

namespace linebounce::trace {

class Reader::File {
 public:
  File(std::filesystem::path file, std::unique_ptr<Source> behind) : path(std::move(file)), source(std::move(behind)) {}

  std::filesystem::path path;
  std::unique_ptr<Source> source;
  struct End {
    std::uint64_t operation = 0;
    std::vector<Operation> last;
  };
  std::map<std::uint32_t, End> ends;  // ends set by end_stream()

  void add_damage(const std::string& why) const {
    if (!why.empty()) source->add_damage(why);
  }
};

namespace {

std::string shown_beginning(const std::array<char, 4>& begin) {
  const std::string_view text(begin.data(), begin.size());
  if (std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; })) return fmt::format("\"{}\"", text);
  const auto bytes = std::bit_cast<std::array<unsigned char, 4>>(begin);
  return fmt::format("the bytes {:02x} {:02x} {:02x} {:02x}", bytes[0], bytes[1], bytes[2], bytes[3]);
}

std::unique_ptr<Source> open_source(const std::filesystem::path& file, ReadOptions options) {
  std::array<char, 4> begin = {};
  {
    const InputFile input(file);
    if (input.size() < begin.size()) {
      throw TraceError(fmt::format("{}: byte 0: this is not a trace: the file {}", file.string(),
                                   input.size() == 0 ? "is empty" : fmt::format("has only {} bytes", input.size())));
    }
    input.read(0, begin);
  }
  if (std::bit_cast<std::uint32_t>(begin) == kSkippable) return binary_source(file, options);
  if (kTextHead.starts_with(std::string_view(begin.data(), begin.size()))) return text_source(file, options);
  const std::string_view letters(begin.data(), begin.size());
  if (letters ==
      "\x7f"
      "ELF")
    throw TraceError(
        fmt::format("{0}: byte 0: this is not a trace but a program; record it: linebounce-record -- {0}, or with "
                    "--binary if linebounce-cc did not compile it",
                    file.string()));
  if (letters.starts_with("\x1f\x8b"))
    throw TraceError(
        fmt::format("{0}: byte 0: this is not a trace: it is compressed by gzip; decompress it first: gzip -dc {0} "
                    "> FILE",
                    file.string()));
  throw TraceError(fmt::format(
      "{}: byte 0: this is not a trace: it begins with {}; a binary trace begins with the bytes 5b 2a 4d 18, a text "
      "trace with \"linebounce trace 1\"; `linebounce import` reads traces of other tools",
      file.string(), shown_beginning(begin)));
}

}  // namespace

Reader::Reader(const std::filesystem::path& file, ReadOptions options)
    : file_(std::make_unique<File>(file, open_source(file, options))) {}

Reader::~Reader() = default;

const Symbols& Reader::symbols() const {
  return file_->source->symbols;
}
const Summary& Reader::summary() const {
  return file_->source->summary;
}
const std::filesystem::path& Reader::file() const {
  return file_->path;
}
std::uint64_t Reader::operations(std::uint32_t stream) const {
  const auto end = file_->ends.find(stream);
  return end == file_->ends.end() ? file_->source->operations.at(stream) : end->second.operation + end->second.last.size();
}
std::string Reader::fingerprint() const {
  return file_->source->fingerprint;
}
std::string Reader::damage() const {
  return file_->source->damage;
}

std::uint64_t Reader::operations() const {
  std::uint64_t all = 0;
  for (std::uint32_t stream = 0; stream < file_->source->operations.size(); ++stream) all += operations(stream);
  return all;
}

void Reader::end_stream(std::uint32_t stream, std::uint64_t operation, std::vector<Operation> last, const std::string& why) {
  file_->ends[stream] = {operation, std::move(last)};
  file_->add_damage(why);
}

void Reader::begin_stream(std::uint32_t stream, const std::string& why) {
  file_->source->symbols.streams.at(stream).created = false;
  file_->add_damage(why);
}

struct Reader::Cursor::State {
  const Reader& reader;
  std::uint32_t stream;
  std::unique_ptr<Frames> frames;
  const File::End* end = nullptr;  // where end_stream() has ended the stream; null: it ends where the file does
  bool over = false;               // `end` was reached
};

Reader::Cursor::Cursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Reader::Cursor::Cursor(Cursor&&) noexcept = default;
Reader::Cursor::~Cursor() = default;

std::span<const Operation> Reader::Cursor::frame() {
  State& state = *state_;
  if (state.over) return {};
  const std::span<const Operation> frame = state.frames->next();
  if (state.end == nullptr) return frame;
  const std::uint64_t first = state.frames->first();
  if (!frame.empty() && first < state.end->operation)
    return frame.first(std::min<std::uint64_t>(frame.size(), state.end->operation - first));
  state.over = true;
  return state.end->last;
}
std::uint64_t Reader::Cursor::first() const {
  return state_->frames->first();
}

std::string Reader::Cursor::place(std::uint64_t at) const {
  return fmt::format("{}: {}: stream {} ({}), operation {}", state_->reader.file().string(), state_->frames->position(at),
                     state_->stream, state_->reader.symbols().streams[state_->stream].name, at);
}

Reader::Cursor Reader::open(std::uint32_t stream) const {
  const auto known = file_->ends.find(stream);
  const File::End* const end = known == file_->ends.end() ? nullptr : &known->second;
  return Cursor(std::unique_ptr<Cursor::State>(new Cursor::State{*this, stream, file_->source->open(stream), end}));
}

void resolve_locks(Symbols& symbols, bool recover) {
  for (std::uint32_t id = 0; id < symbols.objects.size(); ++id) {
    Object& object = symbols.objects[id];
    if (object.of_lock == kNone || object.of_lock < symbols.locks.size()) continue;
    if (!recover) {
      throw FormatError(
          fmt::format("{} belongs to lock {}; {} are defined", object.name, object.of_lock, symbols.locks.size()));
    }
    object.of_lock = kNone;
    symbols.placed.push_back({Symbols::Placed::What::object, id});
  }
}

// Recordings of programs once did not say that their addresses are virtual.
int page_bytes_of(const Reader& trace, const Object& object) {
  constexpr int kUnstated = 4096;
  if (!object.address || object.page_bytes != 0) return object.address ? object.page_bytes : 0;
  return trace.summary().recorder.starts_with(kProgramRecorder) ? kUnstated : 0;
}

}  // namespace linebounce::trace
