// Recognises the forms that a text may have from its content. Each example is output of the form's own tool.
#include <gmock/gmock.h>

#include <algorithm>

#include "forms/number_grid.hpp"
#include "forms/tests/converted.hpp"
#include "trace/error.hpp"

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
  EXPECT_THAT(recognised("0 1000\n1 1004\n"), UnorderedElementsAre("per-core", "dinero", "ramulator", "matrix"));
  EXPECT_THAT(recognised("0 1000\n2 1004\n1 ff\n"), UnorderedElementsAre("per-core", "dinero"));
  EXPECT_THAT(recognised("0 1000\n2 1004\n0 ff\n"), UnorderedElementsAre("per-core", "dinero", "smpcache"));
  EXPECT_THAT(recognised("0 1000\n4 0\n0 1004 a comment\n"), ElementsAre("dinero"));
  EXPECT_THAT(recognised("0 1000\n3 1004\n2 ff\n"), UnorderedElementsAre("dinero", "smpcache"));
}

TEST(Recognise, TheFilesNameDecidesWhereItsContentDoesNot) {
  EXPECT_THAT(recognised("0 1000\n2 1004\n0 ff\n", "run.din"), ElementsAre("dinero"));
  EXPECT_THAT(recognised("0 1000\n2 1004\n0 ff\n", "run.prg"), ElementsAre("smpcache"));
  EXPECT_THAT(recognised("0 1000\n1 1004\n", "run.prg"), UnorderedElementsAre("per-core", "dinero", "ramulator", "matrix"));
  EXPECT_THAT(recognised("/* offset |  size */  type = struct job {\n/* 0 | 4 */ int a;\n"), ElementsAre("ptype!"));
}

TEST(Recognise, TracesOfRamulatorAreToldByTheirNumbersOrAskedFor) {
  EXPECT_THAT(recognised("3 20734016\n1 20846400\n0 20846464\n"), UnorderedElementsAre("dinero", "ramulator"));
  EXPECT_THAT(recognised("3 20734016\n6 20846400\n0 20846464\n"), ElementsAre("ramulator"));
  EXPECT_THAT(recognised("3 20734016\n8 20841280 20841280\n"), ElementsAre("ramulator"));
  EXPECT_THAT(recognised("0 1 55\n0 2 60\n1 2 58\n"), ElementsAre("matrix!")) << "CPUs and their latency";
  EXPECT_THAT(recognised("10 50 60\n50 10 70\n60 70 10\n"), UnorderedElementsAre("matrix", "numa"));
  EXPECT_THAT(recognised("0 0x4000 R\n1 0x4000 W\n"), ElementsAre("ordered")) << "CPUs 0 and 1";
  EXPECT_THAT(recognised("0 0x4000 R\n35 0x4000 W\n"), UnorderedElementsAre("ordered", "ramulator"));
  EXPECT_THAT(recognised("LD 0x4000\nST 4096\n"), ElementsAre("read-write")) << "decimal only if the user says so";
}

TEST(Recognise, TracesOfCadssAreToldFromLackeysByRegistersAndInstructions) {
  EXPECT_THAT(recognised("L 0x5f60, 4\nS 10,4\n"), ElementsAre("lackey")) << "means the same";
  EXPECT_THAT(recognised("L 5f60,4 7\nS 10,4\n"), ElementsAre("cadss"));
  EXPECT_THAT(recognised("A 7f23 0, 3, -1\nL 10,4\n"), ElementsAre("cadss"));
  EXPECT_THAT(recognised("B 0x40 0x44\nB 0x40 0x54 3\n"), ElementsAre("cadss"));
}

TEST(Recognise, TheAmsterdamLaboratorysTracesNameThemselves) {
  EXPECT_THAT(recognised(std::string("4TRF\0\0\0\1", 8), "run.trf"), ElementsAre("trf!"));
}

// The message that refuses a text before its form is looked for; empty: not refused.
std::string wrapped_as(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "mail", std::ios::binary) << text;
  try {
    excerpt_of(folder / "mail");
  } catch (const trace::TraceError& error) {
    return error.what();
  }
  return "";
}

TEST(Recognise, ATextThatAnEditorATerminalOrAPageHasWrappedIsRefusedWithWhatUnwrapsIt) {
  const std::string rows = "0 r 1f00\n1 w 1f00\n";
  EXPECT_EQ(wrapped_as(rows), "");
  EXPECT_EQ(wrapped_as("\xef\xbb\xbf" + rows), "") << "a mark of byte order is passed over";
  EXPECT_THAT(wrapped_as(std::string("\xff\xfe", 2) + std::string("0\0 \0r\0", 6)), HasSubstr("iconv -f UTF-16"));
  EXPECT_THAT(wrapped_as("0 r 1f00\r1 w 1f00\r"), HasSubstr("tr '\\r' '\\n'"));
  EXPECT_THAT(wrapped_as("\x1b[0m0 r 1f00\x1b[K\n"), HasSubstr("escape sequences"));
  EXPECT_THAT(wrapped_as("0\xc2\xa0r\xc2\xa0"
                         "1f00\n1\xc2\xa0w 1f00\n"),
              HasSubstr("no-break spaces"));
  EXPECT_THAT(wrapped_as("P0: write 120 &lt;-- 80\n"), HasSubstr("html.unescape"));
  EXPECT_EQ(wrapped_as("<?xml version=\"1.0\"?>\n<info value=\"a &lt; b\"/>\n"), "");
  EXPECT_THAT(wrapped_as("!<arch>\na.o/"), HasSubstr("archive"));
  std::string numbered, matrix;
  for (int i = 1; i <= 12; ++i) {
    numbered += std::to_string(i) + ":0 r 1f00\n";
    matrix += std::to_string(i) + "\tnan\t40\t4e1\n";
  }
  EXPECT_THAT(wrapped_as(numbered), HasSubstr("line numbers"));
  EXPECT_EQ(wrapped_as(matrix), "") << "rows of a matrix have labels";
}

TEST(Recognise, AnEMailsQuotedPrintableTextIsRefusedWithWhatDecodesIt) {
  const auto& refused = wrapped_as;
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
  EXPECT_THAT(recognised("[000h 0000   4] Signature : \"HMAT\"\n[028h 0040   2] Structure Type : 0001\n"),
              ElementsAre("numa!"));
  EXPECT_THAT(recognised("10 21\n21 10\n"), UnorderedElementsAre("matrix", "numa"));
  EXPECT_THAT(recognised("Processor Information\n\tVersion: AMD EPYC 7763\n\tStatus: Populated, Enabled\n"),
              ElementsAre("dmi!"));
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

TEST(Recognise, ACpuOrATimeInFrontIsNeitherDinerosLabelNorAnInstruction) {
  EXPECT_THAT(recognised("0 0 0x10\n1 1 0x20\n"), ElementsAre("ordered"));
  EXPECT_THAT(recognised("1 0 R 0x10\n2 1 W 0x20\n"), ElementsAre("ordered"));
  EXPECT_THAT(recognised("c0: R 0x10\nc1: W 0x20\n"), ElementsAre("ordered"));
  EXPECT_THAT(recognised("R 0 0x10\nW 1 0x20\n"), UnorderedElementsAre("ordered", "read-write"));
  EXPECT_THAT(recognised("r 0x1000 4\nw 0x1004 4\n"), ElementsAre("read-write"));
  // USIMM: a number of instructions, and behind a read the address of its instruction.
  EXPECT_THAT(recognised("0 R 0x1000 0x400\n12 W 0x2000\n"), IsEmpty());
}

// How a text of this matrix is split, as rows of cells, or its problem.
std::string grid_of(const std::string& text) {
  const NumberGrid grid = split_grid(text);
  if (!grid.problem.empty()) return grid.problem;
  std::string shown;
  for (const GridRow& row : grid.rows) {
    for (const GridCell& cell : row) shown += (cell.text.empty() ? "." : std::string(cell.text)) + " ";
    shown += "/ ";
  }
  return shown + (grid.in_cycles ? "cycles" : "ns");
}

TEST(Recognise, AMatrixMayHaveTitlesUnitsOneSideOfTheDiagonalAndMarksOnIt) {
  const std::string whole = ". 40 90 / 40 . 91 / 90 91 . / ns", lower = ". . . / 40 . . / 90 91 . / ns";
  for (const char* const text :
       {"nan 40 90\n40 nan 91\n90 91 nan\n", "\"\",40,90\n40,\"\",91\n90,91,\"\"\n", "-,40ns,90 ns\n40ns,-,91ns\n90ns,91ns,-\n",
        "x;40;90;\n40;x;91;\n90;91;x;\n", "Latency (ns)\n\nCPU,0,1,2\n0,-,40,90\n1,40,-,91\n2,90,91,-\n",
        "Core to core latency\n0 1 2\n0 - 40 90\n1 40 - 91\n2 90 91 -\n"})
    EXPECT_EQ(grid_of(text), whole) << text;
  for (const char* const text : {"  0 1 2\n0\n1 40\n2 90 91\n", "CPU 0 1 2\n0 -\n1 40 -\n2 90 91 -\n"})
    EXPECT_EQ(grid_of(text), lower) << text;
  EXPECT_EQ(grid_of("  0 1 2\n0 - 40 90\n1 - 91\n2 -\n"), ". 40 90 / . . 91 / . . . / ns");
  EXPECT_EQ(grid_of("0 1 40\n0 2 90\n1 2 91\n"), ". 40 90 / . . 91 / . . . / ns");
  EXPECT_EQ(grid_of("0 1 40\n0 2 90\n"), "0 1 40 / 0 2 90 / ns") << "a pair is missing";
  EXPECT_EQ(grid_of("cycles,0,1\n0,0,150\n1,150,0\n"), "0 150 / 150 0 / cycles");
  EXPECT_EQ(grid_of("core_a;core_b;Cycles\n0;1;40,5\n1;0;41\n"), ". 40,5 / 41 . / cycles");
  EXPECT_EQ(grid_of("Latency\n=======\n  CPU0 CPU1\nCPU0 0 40\nCPU1 41 0\n"), "0 40 / 41 0 / ns");
  EXPECT_TRUE(split_grid("0\t40,5\n41,5\t0\n").decimal_commas) << "a German spreadsheet's cells, copied";
  EXPECT_FALSE(split_grid("0\t1,040\n1,041\t0\n").decimal_commas) << "these may be thousands";
  EXPECT_THAT(grid_of("Bandwidth (GB/s)\nCPU 0 1\n0 60 10\n1 10 60\n"), HasSubstr("bandwidths"));
  EXPECT_THAT(grid_of("Latency (us)\nCPU 0 1\n0 0 10\n1 10 0\n"), HasSubstr("another unit"));
  EXPECT_THAT(grid_of("-,40,41\n40,-,42\n41,42,-\n"), HasSubstr("may be numbers of CPUs"));
}

TEST(OrderedTrace, ItsLinesAreSpelledInManyWays) {
  for (const char* const text :
       {"Core 0: load 0x10\nCORE 1: Store 0x20\n", "[0] R 0x10\n[1] W 0x20\n", "0;R;0x10\n1;W;0x20\n",
        "(0, \"R\", 0x10)\n(1, \"W\", 0x20)\n", "// a comment\n0 R 0x10 # first\n; another\n1 W 0x20 // second\n",
        "0 PrRd 0x10\n1 PrWr 0x20\n", "READ 0x10 CPU0\nWRITE 0x20 CPU1\n", "100: cpu0 R 0x10\n200: cpu1 W 0x20\n",
        "tid,type,addr,size\n0,R,0x10,4\n1,W,0x20,8\n", "0 r 0x10\n1 w 0x20 5\n", "P0 R 0x10\nP1 W 0x20 = 5\n",
        "0 0x401000: R 0x10\n1 0x401004: W 0x20\n", "0 0 0x10\n1 1 0x20\n"}) {
    const Converted it = converted("ordered", text);
    ASSERT_EQ(it.streams.size(), 2U) << text;
    EXPECT_EQ(it.symbols.streams[1].cpu, 1) << text;
    EXPECT_EQ(it.streams[0].front().kind, trace::Kind::load) << text;
    EXPECT_EQ(it.streams[1].back().kind, trace::Kind::store) << text;
    EXPECT_EQ(it.streams[1].back().argument, 0x20U) << text;
  }
}

TEST(OrderedTrace, AddressesThatMayBeDecimalAreDoubted) {
  const auto is_doubted = [](const std::string& text) {
    const std::vector<std::string> missing = converted("ordered", text).missing;
    return std::ranges::any_of(missing, [](const std::string& one) { return one.starts_with("No address begins"); });
  };
  EXPECT_TRUE(is_doubted("0 R 4096\n1 W 8192\n"));
  EXPECT_FALSE(is_doubted("0 R 4096\n1 W 0x8192\n"));
  EXPECT_FALSE(is_doubted("0 R 4096\n1 W 8f92\n"));
}

TEST(Dramsim, CommandsOfAllItsVersionsAreAccesses) {
  const std::string text = "0x1000 READ 0\n0x2000 P_MEM_WR 12\n0x3000 IFETCH 14\n0x4000 BOFF 20\n";
  EXPECT_THAT(recognised(text), ElementsAre("dramsim"));
  const Converted it = converted("dramsim", text);
  EXPECT_EQ(counts(it)[trace::Kind::load], 1);
  EXPECT_EQ(counts(it)[trace::Kind::store], 1);
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
