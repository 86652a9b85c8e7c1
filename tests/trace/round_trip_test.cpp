#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/trace/sample.hpp"
#include "trace/byte_planes.hpp"
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
  EXPECT_EQ(reader.damage(), "");
}

TEST(BinaryTrace, GivesBackEverySymbolTheSummaryAndEveryOperationInOrder) {
  expect_round_trip(large_sample(), "trace.lbt");
}

TEST(TextTrace, GivesBackEverySymbolTheSummaryAndEveryOperationInOrder) {
  expect_round_trip(large_sample(), "trace.txt");
}

Operation any_operation() {
  Operation it;
  it.kind = static_cast<Kind>(*rc::gen::inRange(1, kKinds));
  it.bytes = *rc::gen::arbitrary<std::uint8_t>();
  it.flags = *rc::gen::arbitrary<std::uint16_t>();
  it.id = *rc::gen::inRange(0U, 9U);
  it.argument = *rc::gen::arbitrary<std::uint64_t>();
  return it;
}

// Checks that operations survive even if they make no sense.
void expect_any_operation_survives(const std::string& name) {
  Sample sample = small_sample();
  for (auto& stream : sample.streams) stream = *rc::gen::container<std::vector<Operation>>(rc::gen::exec(any_operation));
  const ScratchFile file(name);
  write(sample, file.path());
  RC_ASSERT(operations_of(Reader(file.path())) == sample.streams);
}

RC_GTEST_PROP(BinaryTrace, HoldsAnyOperation, ()) {
  expect_any_operation_survives("trace.lbt");
}

RC_GTEST_PROP(TextTrace, HoldsAnyOperation, ()) {
  expect_any_operation_survives("trace.txt");
}

// Names come from programs: they may have any characters, repeat, or be empty.
void expect_any_name_survives(const std::string& file_name) {
  const auto any_name =
      rc::gen::oneOf(rc::gen::string<std::string>(), rc::gen::element<std::string>("", "a", "a.b", "end", "#1", "x y"));
  const auto ascii = [](std::string text) {
    for (char& letter : text) letter = static_cast<char>(letter & 0x7F);
    return text;
  };
  Sample sample;
  for (const std::string& name : *rc::gen::container<std::vector<std::string>>(any_name)) {
    sample.definitions.emplace_back(Structure{ascii(name), 8, 8, {{ascii(name), 0, 8}}, {}, {}, ascii(name)});
    sample.definitions.emplace_back(Object{ascii(name), 0, 8, 0, "", {}, kNone});
    sample.definitions.emplace_back(Stream{ascii(name), -1, -1, false});
    sample.streams.push_back({{Kind::load, 8, 0, static_cast<std::uint32_t>(sample.streams.size()), 0}});
  }
  for (const Symbol& symbol : sample.definitions) sample.symbols.define(symbol);
  expect_round_trip(sample, file_name);
}

RC_GTEST_PROP(BinaryTrace, HoldsAnyName, ()) {
  expect_any_name_survives("trace.lbt");
}

RC_GTEST_PROP(TextTrace, HoldsAnyName, ()) {
  expect_any_name_survives("trace.txt");
}

TEST(BinaryTrace, OfVersionOneIsReadAsItWasWritten) {
  const Reader reader(std::filesystem::path(LINEBOUNCE_SOURCE_DIR) / "tests/fuzz/corpus/all_kinds.lbt");
  std::vector<std::vector<Operation>> expected = small_sample().streams;
  for (std::vector<Operation>& stream : expected)
    std::erase_if(stream, [](const Operation& operation) { return operation.kind > Kind::tally; });  // of later versions
  EXPECT_EQ(operations_of(reader), expected);
  EXPECT_EQ(reader.summary(), small_sample().summary);
}

TEST(BytePlanes, HaveEachByteOfAllOperationsInARow) {
  const std::vector<Operation> two = {{.kind = Kind::load, .bytes = 8, .id = 0x0403, .argument = 0x0A},
                                      {.kind = Kind::store, .bytes = 4, .flags = kRelease, .argument = 0x0B00}};
  std::string planes(2 * sizeof(Operation), '?');
  to_planes(two, planes);
  EXPECT_EQ(planes.substr(0, 6), std::string("\1\2\10\4\0\4", 6)) << "kinds, bytes, the lower half of the flags";
  EXPECT_EQ(planes.substr(16, 4), std::string("\12\0\0\13", 4)) << "the argument's two lowest bytes";
}

TEST(BytePlanes, AreUndoneWhateverTheirNumber) {
  std::vector<Operation> all;
  for (std::uint64_t count = 0; count < 40; ++count) {
    std::string planes(count * sizeof(Operation), '?');
    to_planes(all, planes);
    std::vector<Operation> back(count);
    from_planes(planes, back);
    EXPECT_EQ(back, all) << count;
    all.push_back({.kind = Kind::load,
                   .bytes = static_cast<std::uint8_t>(count),
                   .flags = static_cast<std::uint16_t>(count << 9),
                   .id = static_cast<std::uint32_t>(count * 0x01030507),
                   .argument = count * 0x0102040810204081});
  }
}

TEST(BinaryTrace, OfMoreStreamsThanAreBufferedWholeIsComplete) {
  constexpr std::uint32_t kStreams = 600;
  constexpr std::uint64_t kEach = 8000;
  const ScratchFile file("trace.lbt");
  {
    Writer writer(file.path());
    for (std::uint32_t i = 0; i < kStreams; ++i) writer.define(Stream{});
    for (std::uint64_t at = 0; at < kEach; ++at) {
      for (std::uint32_t stream = 0; stream < kStreams; ++stream) writer.append(stream, {Kind::compute, 0, 0, stream, at});
    }
    writer.finish({});
  }
  const Reader reader(file.path());
  EXPECT_EQ(reader.operations(), kStreams * kEach);
  std::uint64_t expected = 0;
  Reader::Cursor cursor = reader.open(kStreams - 1);
  for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
    for (const Operation& each : frame) ASSERT_EQ(each, (Operation{Kind::compute, 0, 0, kStreams - 1, expected++}));
  }
  EXPECT_EQ(expected, kEach);
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
