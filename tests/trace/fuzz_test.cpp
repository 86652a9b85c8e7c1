// Randomly broken traces. Whatever a file contains, the reader delivers operations or throws TraceError, needs memory
// proportional to the file, and terminates. Each case is a seed; LINEBOUNCE_TRACE_CASES is their number (./dev fuzz: many).
#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/trace/sample.hpp"
#include "trace/binary.hpp"
#include "trace/check.hpp"
#include "trace/copy.hpp"
#include "trace/profile.hpp"
#include "trace/recover.hpp"
#include "trace/stream_rules.hpp"
#include "trace/symbol_json.hpp"

namespace linebounce::trace {
namespace {

namespace fs = std::filesystem;

int cases() {
  const char* wanted = std::getenv("LINEBOUNCE_TRACE_CASES");
  return wanted == nullptr ? 400 : std::atoi(wanted);
}

// Small random numbers below a limit. Standard libraries differ in their distributions.
class Dice {
 public:
  explicit Dice(int seed) : engine_(static_cast<std::uint32_t>(seed)) {}
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : engine_() % limit; }

 private:
  std::mt19937 engine_;
};

// The kept part, written to another file, passes every check.
void check_what_is_kept(Reader& reader) {
  keep_what_makes_sense(reader);
  const ScratchFile kept("kept.lbt");
  {
    Writer writer(kept.path());
    copy(reader, writer);
  }
  Reader again(kept.path(), {.recover = true});
  check(again);
  keep_what_makes_sense(again);
  EXPECT_EQ(again.damage(), "");  // otherwise recovery has kept a stream that waits forever
}

// Reads everything that can be read, with and without recovery.
void read_everything(const fs::path& file) {
  for (const bool recover : {false, true}) {
    try {
      Reader reader(file, {.recover = recover});
      operations_of(reader);
      profile(reader);
      if (!recover) check(reader);
      if (recover) check_what_is_kept(reader);
    } catch (const TraceError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(file.string() + ": ")) << error.what();
    }
  }
}

std::vector<fs::path> corpus() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(LINEBOUNCE_SOURCE_DIR) / "tests/fuzz/corpus")) {
    if (entry.is_regular_file()) files.push_back(entry.path());  // folders belong to libFuzzer
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string content_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// ---- bytes: damage by disks and networks ----

void flip(std::string& bytes, Dice& dice) {
  const std::size_t at = dice.below(bytes.size());
  if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
}

void overwrite(std::string& bytes, Dice& dice) {
  constexpr std::array<std::uint64_t, 5> kOdd = {0, 1, 0x7FFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFF};
  const std::uint64_t value = kOdd[dice.below(kOdd.size())];
  const std::size_t size = std::size_t{1} << dice.below(4);
  if (bytes.size() < size) return;
  std::memcpy(bytes.data() + dice.below(bytes.size() - size + 1), &value, size);
}

void cut(std::string& bytes, Dice& dice) {
  bytes.resize(dice.below(bytes.size() + 1));
}

void splice(std::string& bytes, Dice& dice) {
  const std::size_t from = dice.below(bytes.size());
  const std::string part = bytes.substr(from, dice.below(200));
  bytes.insert(dice.below(bytes.size()), part);
}

void erase(std::string& bytes, Dice& dice) {
  const std::size_t from = dice.below(bytes.size());
  bytes.erase(from, dice.below(40));
}

void mutate(std::string& bytes, Dice& dice) {
  constexpr std::array kWays = {flip, overwrite, cut, splice, erase};
  for (std::size_t left = 1 + dice.below(3); left > 0; --left) kWays[dice.below(kWays.size())](bytes, dice);
}

// ---- frames: damage by a malicious writer, with valid checksums ----

std::string packed(const std::string& content) {
  std::string out(ZSTD_compressBound(content.size()), '\0');
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), content.data(), content.size()));
  ZSTD_freeCCtx(context);
  return out;
}

struct Unpacked {
  std::vector<std::string> frames;  // before the index
  std::vector<IndexEntry> index;
};

Unpacked unpacked(const std::string& bytes) {
  Unpacked out;
  std::size_t at = sizeof(FileHead);
  while (at + sizeof(FileTail) < bytes.size()) {
    const std::size_t size = ZSTD_findFrameCompressedSize(bytes.data() + at, bytes.size() - at);
    std::string content(ZSTD_getFrameContentSize(bytes.data() + at, size), '\0');
    ZSTD_decompress(content.data(), content.size(), bytes.data() + at, size);
    out.frames.push_back(content);
    at += size;
  }
  std::string index = out.frames.back().substr(sizeof(FrameHead));
  out.frames.pop_back();
  out.index.resize(index.size() / sizeof(IndexEntry));
  std::memcpy(static_cast<void*>(out.index.data()), index.data(), index.size());
  return out;
}

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Packs the frames again, with an index that finds them at their new offsets.
std::string repacked(const Unpacked& trace, Dice& dice) {
  std::string out = bytes_of(FileHead{});
  std::string index = bytes_of(FrameHead{kIndexFrame, 0, 0});
  for (std::size_t i = 0; i < trace.frames.size(); ++i) {
    IndexEntry entry = i < trace.index.size() ? trace.index[i] : IndexEntry{};
    const std::string frame = packed(trace.frames[i]);
    entry.offset = out.size();
    std::memcpy(&entry.checksum, frame.data() + frame.size() - sizeof entry.checksum, sizeof entry.checksum);
    std::string text = bytes_of(entry);
    if (dice.below(40) == 0) mutate(text, dice);
    index += text;
    out += frame;
  }
  FileTail tail;
  tail.index = out.size();
  return out + packed(index) + bytes_of(tail);
}

std::string with_malicious_frames(const std::string& bytes, Dice& dice) {
  Unpacked trace = unpacked(bytes);
  for (std::size_t left = 1 + dice.below(2); left > 0; --left) {
    std::string& frame = trace.frames[dice.below(trace.frames.size())];
    switch (dice.below(4)) {
      case 0: std::swap(frame, trace.frames[dice.below(trace.frames.size())]); break;
      case 1: frame.resize(frame.size() + (std::size_t{1} << (10 + dice.below(16)))); break;  // compresses to almost nothing
      default: mutate(frame, dice);
    }
  }
  return repacked(trace, dice);
}

TEST(FuzzedTrace, OfTheCorpusIsReadOrRefused) {
  ASSERT_FALSE(corpus().empty());
  for (const fs::path& file : corpus()) read_everything(file);
}

TEST(FuzzedTrace, WithDamagedBytesIsReadOrRefused) {
  const std::vector<fs::path> files = corpus();
  for (int seed = 0; seed < cases(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const fs::path& original = files[dice.below(files.size())];
    std::string bytes = content_of(original);
    mutate(bytes, dice);
    const ScratchFile file("fuzzed" + original.extension().string());
    file.write(bytes);
    read_everything(file.path());
  }
}

TEST(FuzzedTrace, WithMaliciousFramesIsReadOrRefused) {
  const ScratchFile sound("sound.lbt");
  write(small_sample(), sound.path());
  const std::string bytes = sound.bytes();
  for (int seed = 0; seed < cases(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const ScratchFile file("malicious.lbt");
    file.write(with_malicious_frames(bytes, dice));
    read_everything(file.path());
  }
}

// ---- operations: what recorders might leave of killed programs ----

template <class T>
T named(const char* name) {
  T symbol;
  symbol.name = name;
  return symbol;
}

std::vector<Symbol> symbols_to_wait_with() {
  Object object = named<Object>("o");
  object.size = 16;
  std::vector<Symbol> symbols = {object, named<Lock>("l"), named<Lock>("m")};
  for (std::int64_t offset : {0, 8}) symbols.emplace_back(Word{.object = 0, .offset = offset});
  for (int parties : {1, 2}) symbols.emplace_back(Barrier{.name = "b", .parties = parties});
  for (const char* name : {"e", "f"}) symbols.emplace_back(Event{.name = name});
  for (int i = 0; i < 4; ++i) symbols.emplace_back(Stream{.name = "thread", .cpu = i % 2, .created = i > 1});
  for (int cpu : {0, 1}) symbols.emplace_back(Stream{.name = "handlers", .cpu = cpu, .vector = 1});
  return symbols;
}

// Only the first two streams use the barrier for two. With a third one, the order of arrival would decide which two meet.
Operation random_operation(Dice& dice, std::uint32_t stream) {
  constexpr std::array kWaiting = {Kind::signal,  Kind::wait,    Kind::barrier, Kind::await,       Kind::store,
                                   Kind::create,  Kind::join,    Kind::sleep,   Kind::wake,        Kind::timer,
                                   Kind::handler, Kind::acquire, Kind::release, Kind::handler_end, Kind::acquire_shared};
  Operation it;
  it.kind = kWaiting[dice.below(kWaiting.size())];
  it.id = static_cast<std::uint32_t>(dice.below(it.kind == Kind::create || it.kind == Kind::join ? 4 : 2));
  it.argument = dice.below(3);
  if (it.kind == Kind::barrier && stream > 1) it.id = 0;
  if (it.kind == Kind::await && dice.below(3) == 0) it.flags = kPaired;
  if (it.kind == Kind::store) it = {Kind::store, 8, kCounted, 0, 8 * dice.below(2)};
  if (it.kind == Kind::timer) it.id = 1;
  return it;
}

// Streams that end early say little about others, so most samples avoid what no stream may do by itself.
Sample random_sample(Dice& dice) {
  Sample sample;
  sample.definitions = symbols_to_wait_with();
  for (const Symbol& symbol : sample.definitions) sample.symbols.define(symbol);
  for (std::uint32_t stream = 0; stream < sample.symbols.streams.size(); ++stream) {
    std::vector<Operation>& operations = sample.streams.emplace_back();
    StreamRules rules(sample.symbols, stream);
    for (std::size_t left = dice.below(30); left > 0; --left) {
      const Operation next = random_operation(dice, stream);
      try {
        rules.follow(next);
      } catch (const FormatError&) {
        if (dice.below(40) != 0) continue;
      }
      operations.push_back(next);
    }
  }
  return sample;
}

TEST(FuzzedTrace, OfRandomOperationsIsKeptAsFarAsItMakesSense) {
  for (int seed = 0; seed < cases(); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const ScratchFile file("random.lbt");
    write(random_sample(dice), file.path());
    read_everything(file.path());
  }
}

TEST(FuzzedTrace, RepackedWithoutAChangeIsReadAsBefore) {
  const ScratchFile file("sound.lbt");
  write(small_sample(), file.path());
  const Unpacked frames = unpacked(file.bytes());
  std::string out = bytes_of(FileHead{});
  for (const std::string& frame : frames.frames) out += packed(frame);
  file.write(out);
  EXPECT_EQ(operations_of(Reader(file.path(), {.recover = true})), small_sample().streams);
}

}  // namespace
}  // namespace linebounce::trace
