// Incomplete binary files: the reader's message, and the operations that it still delivers.
#include <gtest/gtest.h>
#include <zstd.h>

#include <cstring>

#include "tests/trace/sample.hpp"
#include "trace/binary.hpp"

namespace linebounce::trace {
namespace {

std::string intact() {
  const ScratchFile file("trace.lbt");
  write(large_sample(), file.path());
  return file.bytes();
}

std::vector<IndexEntry> index_of(const std::string& bytes) {
  FileTail tail;
  std::memcpy(static_cast<void*>(&tail), bytes.data() + bytes.size() - sizeof tail, sizeof tail);
  std::string payload(1 << 20, '\0');
  payload.resize(
      ZSTD_decompress(payload.data(), payload.size(), bytes.data() + tail.index, bytes.size() - sizeof tail - tail.index));
  std::vector<IndexEntry> index((payload.size() - sizeof(FrameHead)) / sizeof(IndexEntry));
  std::memcpy(static_cast<void*>(index.data()), payload.data() + sizeof(FrameHead), index.size() * sizeof(IndexEntry));
  return index;
}

// The second frame of stream 1: operations 8192 to 16383.
std::uint64_t offset_of_second_frame(const std::string& bytes) {
  int met = 0;
  for (const IndexEntry& entry : index_of(bytes)) {
    if (entry.type == kOperationsFrame && entry.stream == 1 && ++met == 2) return entry.offset;
  }
  return 0;
}

// The message for a file with these bytes, read to its end, without the file's name; empty if there is none.
std::string said_of(const std::string& bytes) {
  const ScratchFile file("trace.lbt");
  file.write(bytes);
  try {
    operations_of(Reader(file.path()));
    return "";
  } catch (const TraceError& error) {
    return std::string(error.what()).substr(file.path().string().size() + 2);
  }
}

constexpr const char* kHint = " (--recover reads what comes before)";

TEST(DamagedTrace, SaysWhatItBeginsWithIfThatIsNotATrace) {
  EXPECT_EQ(said_of("\x7f"
                    "ELF and so on")
                .find("byte 0: this is not a trace but a program; record it: linebounce-record -- "),
            0);
  EXPECT_EQ(
      said_of("\x7f\x01\x02\x03 and so on"),
      "byte 0: this is not a trace: it begins with the bytes 7f 01 02 03; a binary trace begins with the bytes 5b 2a 4d 18, "
      "a text trace with \"linebounce trace 1\"; `linebounce import` reads traces of other tools");
  EXPECT_EQ(said_of("\xe7\xf0\x01\x02zzzz").find("byte 0: this is not a trace: it begins with the bytes e7 f0 01 02; "), 0);
  EXPECT_EQ(said_of("dear reader").find("byte 0: this is not a trace: it begins with \"dear\"; "), 0);
  EXPECT_NE(said_of(""), "");
}

TEST(DamagedTrace, NamesTheVersionsThatCanBeRead) {
  std::string bytes = intact();
  bytes[24] = 9;
  EXPECT_EQ(said_of(bytes), "byte 24: the format's version is 9; legal: 1 and 2");
}

TEST(DamagedTrace, NamesTheFrameWhoseBitHasFlipped) {
  std::string bytes = intact();
  const std::uint64_t offset = offset_of_second_frame(bytes);
  bytes[offset + 100] ^= 4;
  const std::string said = said_of(bytes);
  EXPECT_TRUE(said.starts_with("byte " + std::to_string(offset) + ": frame ")) << said;
  EXPECT_NE(said.find("(stream 1 \"worker\", operations 8192 to 16383): "), std::string::npos) << said;
  EXPECT_TRUE(said.ends_with(kHint)) << said;
}

TEST(DamagedTrace, NamesTheChecksumThatDoesNotMatch) {
  std::string bytes = intact();
  const std::vector<IndexEntry> index = index_of(bytes);
  bytes[index[1].offset - 1] ^= 1;
  EXPECT_EQ(said_of(bytes), std::string("byte 28: frame 0 (symbols): checksum does not match") + kHint);
}

TEST(DamagedTrace, YieldsAllOperationsBeforeAFlippedBit) {
  std::string bytes = intact();
  bytes[offset_of_second_frame(bytes) + 100] ^= 4;
  const ScratchFile file("trace.lbt");
  file.write(bytes);
  const Reader reader(file.path(), {.recover = true});
  std::vector<std::vector<Operation>> expected = large_sample().streams;
  expected[1].resize(8192);
  EXPECT_EQ(operations_of(reader), expected);
  EXPECT_EQ(reader.operations(1), 8192U);
  EXPECT_EQ(reader.summary(), large_sample().summary);
  EXPECT_NE(reader.damage().find("(stream 1 \"worker\", operations 8192 to 16383)"), std::string::npos) << reader.damage();
}

TEST(DamagedTrace, SaysThatAFileWasCutOffAndGivesWhatComesBefore) {
  const std::string whole = intact();
  const std::string bytes = whole.substr(0, offset_of_second_frame(whole) + 100);
  EXPECT_EQ(said_of(bytes), "byte " + std::to_string(bytes.size()) +
                                ": no index at the end: the file was cut off, or its writer did not get to its end" + kHint);
  const ScratchFile file("trace.lbt");
  file.write(bytes);
  const Reader reader(file.path(), {.recover = true});
  EXPECT_EQ(reader.operations(1), 8192U);
  const std::vector<Operation> expected = large_sample().streams[1];
  EXPECT_EQ(operations_of(reader)[1], std::vector<Operation>(expected.begin(), expected.begin() + 8192));
  EXPECT_EQ(reader.symbols().locks, large_sample().symbols.locks);
}

TEST(DamagedTrace, IsReadWithRecoverWhereverItWasCutOff) {
  const std::string whole = intact();
  const std::vector<std::vector<Operation>> all = large_sample().streams;
  for (std::size_t length = sizeof(FileHead); length < whole.size(); length += 97) {
    const ScratchFile file("trace.lbt");
    file.write(whole.substr(0, length));
    const Reader reader(file.path(), {.recover = true});
    EXPECT_NE(reader.damage(), "");
    const std::vector<std::vector<Operation>> got = operations_of(reader);
    for (std::size_t stream = 0; stream < got.size(); ++stream) {
      ASSERT_TRUE(std::equal(got[stream].begin(), got[stream].end(), all[stream].begin())) << length;
    }
  }
}

TEST(DamagedTrace, OfAWriterThatWasNotFinishedHoldsAllThatCame) {
  const ScratchFile file("trace.lbt");
  {
    Writer writer(file.path());
    writer.define(Stream{"main", -1, -1, false});
    writer.append(0, {Kind::clock, 0, 0, 0, 0});
    writer.flush();
    EXPECT_EQ(Reader(file.path(), {.recover = true}).operations(), 1U);
    writer.append(0, {Kind::fence, 0, 0, 0, 0});
  }
  EXPECT_EQ(Reader(file.path(), {.recover = true}).operations(), 2U);
}

TEST(DamagedTrace, EndsEveryStreamWhereSymbolsAreMissing) {
  const ScratchFile file("trace.lbt");
  {
    Writer writer(file.path());
    writer.define(Stream{"main", -1, -1, false});
    for (int i = 0; i < 3; ++i) {
      writer.append(0, {Kind::acquire, 0, 0, writer.define(Lock{}), 0});
      writer.flush();
    }
    writer.finish({});
  }
  std::string bytes = file.bytes();
  bytes[index_of(bytes)[3].offset - 1] ^= 1;  // the second frame of symbols
  bytes[index_of(bytes)[2].offset + 12] ^= 1;
  file.write(bytes);
  const Reader reader(file.path(), {.recover = true});
  EXPECT_EQ(reader.operations(0), 1U);
  EXPECT_EQ(reader.symbols().locks.size(), 1U);
}

TEST(Writer, SaysThatTheDiskIsFull) {
  try {
    Writer writer("/dev/full");
    writer.define(Stream{"main", -1, -1, false});
    for (int i = 0; i < 100000; ++i) writer.append(0, {Kind::compute, 0, 0, 0, static_cast<std::uint64_t>(i) * 7919});
    writer.finish({});
    FAIL();
  } catch (const WriteError& error) {
    EXPECT_STREQ(error.what(), "/dev/full: cannot be written: No space left on device");
  }
}

TEST(Writer, SaysWhereItCannotWrite) {
  EXPECT_THROW(Writer("/no/such/directory/trace.lbt"), WriteError);
}

}  // namespace
}  // namespace linebounce::trace
