// Recognises the forms that a text may have from its content. Each example is output of the form's own tool.
#include <gmock/gmock.h>

#include "tests/sim/sources/converted.hpp"

namespace linebounce::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST(Recognise, TracesAreToldByAllOfTheirLines) {
  EXPECT_THAT(recognised("0 r 1f00\n1 W 0x1f00\n"), ElementsAre("ordered"));
  EXPECT_THAT(recognised("P0 read 1f00\ncpu1: write 1f00\n"), ElementsAre("ordered"));
  EXPECT_THAT(recognised("r 1f00\nw 1f04\n"), ElementsAre("read-write"));
  EXPECT_THAT(recognised("0x401000: R 0x7ffe10\n#eof\n"), ElementsAre("pinatrace"));
  EXPECT_THAT(recognised("r,8192,64,256,700\n"), ElementsAre("gem5-packets"));
  EXPECT_THAT(recognised("12,w,8192,64,700,4198400\n"), ElementsAre("gem5-packets"));
  EXPECT_THAT(recognised("I  400000,3\n L 1004,16\n"), ElementsAre("lackey"));
  EXPECT_THAT(recognised("==7== Lackey, an example Valgrind tool\nhello from the program\nI  400000,3\n"),
              ElementsAre("lackey!"));
}

TEST(Recognise, ALineOfDigitsMayHaveSeveralForms) {
  EXPECT_THAT(recognised("0 1000\n1 1004\n"), UnorderedElementsAre("per-core", "dinero", "matrix"));
  EXPECT_THAT(recognised("0 1000\n2 1004\n1 ff\n"), UnorderedElementsAre("per-core", "dinero"));
  EXPECT_THAT(recognised("0 1000\n2 1004\n0 ff\n"), UnorderedElementsAre("per-core", "dinero", "smpcache"));
  EXPECT_THAT(recognised("0 1000\n4 0\n0 1004 a comment\n"), ElementsAre("dinero"));
  EXPECT_THAT(recognised("0 1000\n3 1004\n2 ff\n"), UnorderedElementsAre("dinero", "smpcache"));
}

TEST(Recognise, TheFilesNameDecidesWhereItsContentDoesNot) {
  EXPECT_THAT(recognised("0 1000\n2 1004\n0 ff\n", "run.din"), ElementsAre("dinero"));
  EXPECT_THAT(recognised("0 1000\n2 1004\n0 ff\n", "run.prg"), ElementsAre("smpcache"));
  EXPECT_THAT(recognised("0 1000\n1 1004\n", "run.prg"), UnorderedElementsAre("per-core", "dinero", "matrix"));
  EXPECT_THAT(recognised("/* offset |  size */  type = struct job {\n/* 0 | 4 */ int a;\n"), ElementsAre("ptype!"));
}

TEST(Recognise, AnEMailsQuotedPrintableTextIsRefusedWithWhatDecodesIt) {
  const auto refused = [](const std::string& text) {
    const TemporaryFolder folder;
    std::ofstream(folder / "mail") << text;
    try {
      excerpt_of(folder / "mail");
    } catch (const trace::TraceError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string broken = "     0  1163  1003" + std::string(54, ' ') + "=\n 0x7fecc2ffa340\n";
  EXPECT_THAT(refused(broken + broken), HasSubstr("python3 -m quopri -d"));
  EXPECT_THAT(refused("X86 SB\n{ x=3D0; y=3D0; }\n"), HasSubstr("quopri"));
  EXPECT_EQ(refused(std::string(70, '=') + "\n" + std::string(70, '=') + "\n"), "");
  EXPECT_EQ(refused("{ x=3; y=0; }\n"), "");
  EXPECT_EQ(refused("cpus=20\nways=20\nlatency=20\n"), "");
  EXPECT_EQ(refused("a=3D b=3D c=4\n"), "");
}

TEST(Recognise, RulesOfEqualsSignsAreNotValgrind) {
  EXPECT_THAT(recognised("=====\n  Shared Data Cache Line Table  \n=====\n"), ElementsAre("perf-c2c!"));
  EXPECT_THAT(recognised("=====\nsomething\n=====\n"), IsEmpty());
}

TEST(Recognise, MatricesAreSquareOrNumbered) {
  EXPECT_THAT(recognised("0,40\n41,0\n"), ElementsAre("matrix"));
  EXPECT_THAT(recognised("0;40\n41;0\n"), ElementsAre("matrix"));
  EXPECT_THAT(recognised(" CPU    0    1\n   0    0   40\n   1   41    0\n"), ElementsAre("matrix!"));
  EXPECT_THAT(recognised("0,40\n41,0\n1,2\n"), IsEmpty());
  // A cell is missing: this is not a matrix, and no trace of Dinero with comments either.
  EXPECT_THAT(recognised("0 45 100\n1 0 102 99\n2 102 0 45\n"), IsEmpty());
  EXPECT_THAT(recognised("#m #HWCs 2 #Nodes 1 SMT 1\n0 0 0\n0 1 88\n1 0 88\n1 1 0\n"), ElementsAre("mctop!"));
}

TEST(Recognise, DistancesOfNodesAreToldByTheirPathsOrTitlesOrAskedAbout) {
  EXPECT_THAT(recognised("node 0 cpus: 0\nnode distances:\nnode   0 \n  0:  10 \n"), ElementsAre("numa!"));
  EXPECT_THAT(recognised("/sys/devices/system/node/node0/access0/initiators/read_latency:110\n"), ElementsAre("numa!"));
  EXPECT_THAT(recognised("10 21\n21 10\n"), UnorderedElementsAre("matrix", "numa"));
  EXPECT_THAT(recognised("0 21\n21 0\n"), ElementsAre("matrix"));
}

TEST(Recognise, MapsOfBpftraceAndTypesOfBtfAreToldByOneLine) {
  EXPECT_THAT(recognised("Attaching 2 probes...\n^C\n@[\n    pipe_write+10\n]: 4\n"), ElementsAre("bpftrace!"));
  EXPECT_THAT(recognised("@wait_ns: 12\n"), ElementsAre("bpftrace!"));
  EXPECT_THAT(recognised("@someone wrote:\n"), IsEmpty());
  EXPECT_THAT(recognised("> [7] STRUCT 'job' size=8 vlen=1\n> \t'id' type_id=1 bits_offset=0\n"), ElementsAre("btf!"));
  EXPECT_THAT(recognised("LISA MP\n{ }\n P0 ;\n f[mb] ;\nexists (0:r1=1)\n"), ElementsAre("litmus!"));
}

TEST(Recognise, AMailsQuoteMarksAreNotPartOfIt) {
  EXPECT_THAT(recognised("> 0 r 1f00\n> > 1 w 1f00\n>\n"), ElementsAre("ordered"));
}

TEST(Recognise, OwnFilesAreNotDataOfOthers) {
  EXPECT_THAT(recognised("linebounce trace 1\nend\n"), ElementsAre("trace!"));
  EXPECT_THAT(recognised("name = \"x\"\n[workload]\n", "x.toml"), ElementsAre("toml!"));
}

TEST(Recognise, AnUnknownTextIsAnsweredWithTheFirstLineThatFitsNothing) {
  const Recognised unknown = recognise(excerpt_of_text("0 r 1f00\n\n1 w 1f00\noops\n", "in"));
  EXPECT_THAT(unknown.candidates, IsEmpty());
  EXPECT_THAT(unknown.why_none, HasSubstr("Up to line 3 it could be ordered"));
  EXPECT_THAT(unknown.why_none, HasSubstr("line 4 matches no known form: \"oops\""));
}

TEST(Recognise, EveryFormIsNamedOnceAndSaysWhatItIs) {
  std::vector<std::string_view> names;
  for (const Form& form : all_forms()) names.push_back(form.name);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  for (const Form& form : all_forms()) {
    EXPECT_FALSE(form.what.empty()) << form.name;
    EXPECT_FALSE(form.marks.empty()) << form.name;
    EXPECT_EQ(form.kind == FormKind::trace, static_cast<bool>(form.convert)) << form.name;
    EXPECT_EQ(form.kind == FormKind::locks, static_cast<bool>(form.read_locks)) << form.name;
  }
}

TEST(OrderedTrace, ACpuSleepsUntilTheOneBeforeItWakesIt) {
  using trace::Kind;
  const Converted it = converted("ordered", "3 w 1000\n3 r 1004\n5 r 1000\n3 r 1000\n");
  ASSERT_EQ(it.streams.size(), 2U);
  EXPECT_EQ(it.symbols.streams[0].cpu, 3);
  EXPECT_EQ(it.symbols.streams[1].cpu, 5);
  std::vector<Kind> first, second;
  for (const trace::Operation& operation : it.streams[0]) first.push_back(operation.kind);
  for (const trace::Operation& operation : it.streams[1]) second.push_back(operation.kind);
  EXPECT_THAT(first, ElementsAre(Kind::store, Kind::load, Kind::fence, Kind::wake, Kind::sleep, Kind::load));
  EXPECT_THAT(second, ElementsAre(Kind::sleep, Kind::load, Kind::wake));
}

TEST(PerCore, SeveralFilesAreCpusByTheNumbersInTheirNames) {
  const Converted it = converted("per-core", std::vector<std::string>{"0 1000\n", "1 1000\n2 ff\n"});
  ASSERT_EQ(it.symbols.streams.size(), 2U);
  EXPECT_EQ(it.symbols.streams[1].cpu, 1);
  EXPECT_EQ(it.symbols.objects.size(), 1U) << "one address is one object's in both";
  EXPECT_EQ(it.streams[1].back().kind, trace::Kind::compute);
  EXPECT_EQ(it.streams[1].back().argument, 255U);
}

}  // namespace
}  // namespace linebounce::sim
