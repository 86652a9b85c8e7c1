#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/trace/sample.hpp"

namespace linebounce::trace {
namespace {

// The reader's message for a text with these lines after the first, without the file's name; empty if there is none.
std::string text_error(const std::string& lines) {
  const ScratchFile file("trace.txt");
  file.write("linebounce trace 1\n" + lines);
  try {
    const Reader reader(file.path());
    return "";
  } catch (const TraceError& error) {
    return std::string(error.what()).substr(file.path().string().size() + 2);
  }
}

TEST(TextTrace, ReadsWhatAPersonWrites) {
  const ScratchFile file("trace.txt");
  file.write(
      "linebounce trace 1\n"
      "# Two threads add to one counter.\n"
      "structure counter size=16 fields=hits:0:8,misses:8:8\n"
      "object totals structure=counter size=16   # one line\n"
      "stream first\n"
      "stream second cpu=1\n"
      "\n"
      "first  fetch_add totals.hits 8\n"
      "second fetch_add totals.misses+4 4\n"
      "second load totals+8 8 repeats=0\n"
      "end\n");
  const Reader reader(file.path());
  EXPECT_EQ(operations_of(reader), (std::vector<std::vector<Operation>>{
                                       {{Kind::fetch_add, 8, 0, 0, 0}},
                                       {{Kind::fetch_add, 4, 0, 0, 12}, {Kind::load, 8, 0, 0, 8}},
                                   }));
}

TEST(TextTrace, NamesHowAnAtomicOperationChangesItsWord) {
  const std::string lines =
      "linebounce trace 1\nobject count size=8\nstream main\nmain fetch_add count+0 8 adds unused\n"
      "main fetch_add count+0 8 subtracts used\nmain fetch_add count+0 8 no_sum used\n"
      "main compare_exchange count+0 8 adds\nmain load count+0 4 repeats=1\nend\n";
  const ScratchFile file("trace.txt");
  file.write(lines);
  const std::vector<Operation> read = operations_of(Reader(file.path())).at(0);
  EXPECT_EQ(read.at(0), (Operation{Kind::fetch_add, 8, kAdds | kResultUnused, 0, 0}));
  EXPECT_EQ(read.at(1), (Operation{Kind::fetch_add, 8, kSubtracts | kResultUsed, 0, 0}));
  EXPECT_EQ(read.at(2), (Operation{Kind::fetch_add, 8, kNoSum | kResultUsed, 0, 0}));
  EXPECT_EQ(read.at(3), (Operation{Kind::compare_exchange, 8, kAdds, 0, 0}));
  EXPECT_EQ(read.at(0).repeats(), 0) << "these flags are in the place of a load's repeats";
  const ScratchFile again("again.txt");
  {
    Writer writer(again.path());
    writer.define(Object{"count", kNone, 8, 0, "", std::nullopt, kNone});
    writer.define(Stream{"main", -1, -1, false});
    for (const Operation& each : read) writer.append(0, each);
    writer.finish({});
  }
  EXPECT_EQ(again.bytes(), lines);
  EXPECT_EQ(
      text_error("object o size=8\nstream a\na fetch_add o+0 8 sums\nend\n"),
      "line 4: \"sums\" is not known here; known are counted, paired, release, failed, for_write, adds, subtracts, no_sum, "
      "used, unused, repeats=N");
}

TEST(TextTrace, KeepsTheOrderInWhichStreamsTookTurns) {
  const ScratchFile file("trace.txt");
  Writer writer(file.path());
  writer.define(Stream{"a", -1, -1, false});
  writer.define(Stream{"b", -1, -1, false});
  writer.append(1, {Kind::clock, 0, 0, 0, 0});
  writer.append(0, {Kind::fence, 0, 0, 0, 0});
  writer.append(1, {Kind::execute, 0, 0, 0, 3});
  writer.finish({});
  EXPECT_EQ(file.bytes(), "linebounce trace 1\nstream a\nstream b\nb clock\na fence\nb execute 3\nend\n");
}

TEST(TextTrace, TellsSymbolsOfOneNameApartByNumber) {
  const ScratchFile file("trace.txt");
  Writer writer(file.path());
  for (int i = 0; i < 2; ++i) writer.define(Object{"node", kNone, 64, 0, "", std::nullopt, kNone});
  for (const char* name : {"lock", "", "#1"}) writer.define(Stream{name, -1, -1, false});
  for (std::uint32_t stream = 0; stream < 3; ++stream) writer.append(stream, {Kind::load, 8, 0, stream % 2, 8});
  writer.finish({});
  EXPECT_EQ(file.bytes(),
            "linebounce trace 1\nobject node size=64\nobject node size=64\nstream lock\nstream \"\"\nstream \"#1\"\n"
            "\"lock\" load node+8 8\n\"\" load node#1+8 8\n\"#1\" load node+8 8\nend\n");
  EXPECT_EQ(operations_of(Reader(file.path())).at(1), (std::vector<Operation>{{Kind::load, 8, 0, 1, 8}}));
}

TEST(TextTrace, ShowsBytesThatNoPersonCanReadEscaped) {
  EXPECT_EQ(text_error("stream a\na load \xff\x1b[2J 8\nend\n"), "line 3: no object named \"\" is defined before this line");
  EXPECT_EQ(text_error("stream a\na fence \xff\x1b\nend\n"),
            "line 3: \"\\xff\\x1b\" is not known here; known are counted, paired, release, failed, for_write, repeats=N");
  EXPECT_EQ(text_error("stream a\na compute \xfe\nend\n"),
            "line 3: the argument has to be a number from 0 to 2^64 - 1, not \"\\xfe\"");
  EXPECT_EQ(text_error("object o size=\x80\nend\n"), "line 2: size has to be a number from 0 to 2^64 - 1, not \"\\x80\"");
}

TEST(TextTrace, HoldsEvenWhatMakesNoSense) {
  const std::vector<Operation> odd = {
      {Kind::fence, 3, 0xFFFF, 9, 77}, {Kind::load, 200, kFailed, 12345, 6}, {Kind::acquire, 0, 0, 5, 1}};
  const ScratchFile file("trace.txt");
  {
    Writer writer(file.path());
    writer.define(Stream{"main", -1, -1, false});
    for (const Operation& each : odd) writer.append(0, each);
    writer.finish({});
  }
  EXPECT_EQ(operations_of(Reader(file.path())).at(0), odd);
}

TEST(TextTrace, NamesTheLineAndTheLegalValuesOfAMistake) {
  std::string legal = "load";
  for (std::size_t kind = 2; kind < kKinds; ++kind) legal += fmt::format(", {}", kKindFacts[kind].name);
  EXPECT_EQ(text_error("stream a\na lod x 8\nend\n"), "line 3: no operation is called \"lod\"; legal: " + legal);
  EXPECT_EQ(text_error("b clock\nend\n"), "line 2: no stream named \"b\" is defined before this line");
  EXPECT_EQ(text_error("stream a\na acquire\nend\n"), "line 3: a name is missing");
  EXPECT_EQ(text_error("stream a\na acquire l\nend\n"), "line 3: no lock named \"l\" is defined before this line");
  EXPECT_EQ(text_error("stream a\na execute many\nend\n"),
            "line 3: the argument has to be a number from 0 to 2^64 - 1, not \"many\"");
  EXPECT_EQ(text_error("object o size=8\nstream a\na load o.f 8\nend\n"), "line 4: \"o\" has no field \"f\"");
  EXPECT_EQ(text_error("object o size=8\nstream a\na load o+0 8 fast\nend\n"),
            "line 4: \"fast\" is not known here; known are counted, paired, release, failed, part, repeats=N");
  EXPECT_EQ(text_error("object o colour=red\nend\n"),
            "line 2: \"colour\" is not known; known are structure, size, alignment, home, address, page_bytes, of_lock, "
            "movable, source");
  for (const char* bytes : {"1", "2048", "12288", "2147483647"})
    EXPECT_EQ(text_error(fmt::format("object o page_bytes={}\nend\n", bytes)),
              fmt::format("line 2: its page_bytes are {}; legal: 0 and powers of two from 2^12 to 2^30", bytes));
  EXPECT_EQ(text_error("object o home=moon\nend\n"),
            "line 2: its home is \"moon\"; legal: node N, first_touch, interleaved, local");
  EXPECT_EQ(text_error("lock l sleeps=maybe\nend\n"), "line 2: sleeps is \"maybe\"; legal: yes, no");
  EXPECT_EQ(text_error("barrier b\nend\n"), "line 2: its parties are 0; legal: 1 and more");
  EXPECT_EQ(text_error("stream a\n"), "line 2: the text ends without a line \"end\"");
  EXPECT_EQ(text_error("end\nstream a\n"), "line 3: a line behind \"end\"");
  EXPECT_EQ(text_error("stream \"a\nend\n"), "line 2: a name in quotes that does not end, or is no JSON string");
}

TEST(TextTrace, NamesTheVersionItKnows) {
  const ScratchFile file("trace.txt");
  file.write("linebounce trace 2\nend\n");
  EXPECT_THROW(
      {
        try {
          const Reader reader(file.path());
        } catch (const TraceError& error) {
          EXPECT_EQ(error.what(),
                    file.path().string() + ": line 1: this is \"linebounce trace 2\"; legal: \"linebounce trace 1\"");
          throw;
        }
      },
      TraceError);
}

TEST(TextTrace, RecoversWhatComesBeforeTheFirstMistake) {
  const ScratchFile file("trace.txt");
  file.write("linebounce trace 1\nstream a\na clock\na exec");
  const Reader reader(file.path(), {.recover = true});
  EXPECT_EQ(reader.operations(), 1U);
  EXPECT_TRUE(reader.damage().starts_with("line 4: no operation is called \"exec\"")) << reader.damage();
}

}  // namespace
}  // namespace linebounce::trace
