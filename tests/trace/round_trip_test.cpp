#include <gtest/gtest.h>

#include "tests/trace/sample.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace linebounce::trace {
namespace {

void expect_round_trip(const Sample& sample, const std::string& name) {
  const ScratchFile file(name);
  write(sample, file.path());
  const Reader reader(file.path());
  EXPECT_EQ(reader.symbols().structures, sample.symbols.structures);
  EXPECT_EQ(reader.symbols().objects, sample.symbols.objects);
  EXPECT_EQ(reader.symbols().functions, sample.symbols.functions);
  EXPECT_EQ(reader.symbols().locks, sample.symbols.locks);
  EXPECT_EQ(reader.symbols().barriers, sample.symbols.barriers);
  EXPECT_EQ(reader.symbols().events, sample.symbols.events);
  EXPECT_EQ(reader.symbols().words, sample.symbols.words);
  EXPECT_EQ(reader.symbols().streams, sample.symbols.streams);
  EXPECT_EQ(reader.symbols().placed.size(), sample.symbols.placed.size());
  EXPECT_EQ(reader.summary(), sample.summary);
  EXPECT_EQ(operations_of(reader), sample.streams);
  EXPECT_EQ(reader.operations(0), sample.streams[0].size());
  EXPECT_EQ(reader.damage(), "");
}

TEST(BinaryTrace, GivesBackEverySymbolTheSummaryAndEveryOperationInOrder) {
  expect_round_trip(large_sample(), "trace.lbt");
}

TEST(TextTrace, GivesBackEverySymbolTheSummaryAndEveryOperationInOrder) {
  expect_round_trip(large_sample(), "trace.txt");
}

TEST(BinaryTrace, IsTheSameBytesWheneverItIsWritten) {
  const ScratchFile first("a.lbt");
  const ScratchFile second("b.lbt");
  write(large_sample(), first.path());
  write(large_sample(), second.path());
  EXPECT_EQ(first.bytes(), second.bytes());
  EXPECT_EQ(Reader(first.path()).fingerprint(), Reader(second.path()).fingerprint());
}

TEST(BinaryTrace, HasAnotherFingerprintWhenOneOperationDiffers) {
  const ScratchFile first("a.lbt");
  const ScratchFile second("b.lbt");
  Sample sample = large_sample();
  write(sample, first.path());
  sample.streams[1][7].argument ^= 8;
  write(sample, second.path());
  EXPECT_NE(Reader(first.path()).fingerprint(), Reader(second.path()).fingerprint());
}

}  // namespace
}  // namespace linebounce::trace
