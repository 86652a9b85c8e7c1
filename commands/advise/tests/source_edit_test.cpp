#include "commands/advise/source_edit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SourceEdits : public testing::Test {
 protected:
  SourceEdits() : folder_(fs::temp_directory_path() / ("source_edit_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string source(const std::string& text, const std::string& name = "x.c") {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  std::uint32_t structure(const std::string& name, const std::string& place) {
    trace::Structure made;
    made.name = name;
    made.size = 32;
    made.source = place;
    return symbols_.define(made);
  }
  std::uint32_t object(const std::string& name, const std::string& place, bool movable = false,
                       std::uint32_t of = trace::kNone) {
    trace::Object made;
    made.name = name;
    made.structure = of;
    made.size = 32;
    made.movable = movable;
    made.source = place;
    return symbols_.define(made);
  }

  SourceEdit edited(const LayoutEdit& edit) { return source_edit({edit}, symbols_, 64, fs::file_time_type::max()); }
  std::string text_after(const LayoutEdit& edit) {
    const SourceEdit made = edited(edit);
    EXPECT_EQ(made.why_not, "");
    return made.files.empty() ? "" : made.files.front().text();
  }

  fs::path folder_;
  trace::Symbols symbols_;
};

TEST_F(SourceEdits, AStructureIsAlignedAtItsDefinition) {
  const std::string file = source("// struct of counts\nstruct counts {\n  long lines;\n};\n");
  const std::uint32_t id = structure("counts", file + ":2");
  EXPECT_THAT(text_after({.structure = id}), HasSubstr("struct __attribute__((aligned(64))) counts {\n"));
  EXPECT_EQ(edited({.structure = id}).place, file + ":2");
}

TEST_F(SourceEdits, ATypedefOfAStructureWithoutNameToo) {
  const std::string file = source("typedef struct {\n  long lines;\n} counts;\n");
  EXPECT_THAT(text_after({.structure = structure("counts", file + ":1")}),
              HasSubstr("typedef struct __attribute__((aligned(64))) {\n"));
}

TEST_F(SourceEdits, LeavesAnAlignedStructureAlone) {
  const std::string before = source("struct alignas(32) counts {\n  long lines;\n};\n", "x.cpp");
  EXPECT_THAT(edited({.structure = structure("counts", before + ":1")}).why_not,
              HasSubstr("expected a plain definition of counts"));
  const std::string behind = source("struct counts {\n  long lines;\n} __attribute__((aligned(16)));\n", "y.c");
  EXPECT_THAT(edited({.structure = structure("counts", behind + ":1")}).why_not, HasSubstr("has an alignment already"));
}

// A C file with a structure in line 2, and the allocation of a block of it in line 3.
constexpr const char* kBlock = "#include <stdlib.h>\nstruct s { long a; };\nstruct s* f(int n) { return CALL; }\n";

std::string with_call(const std::string& call) {
  std::string text = kBlock;
  return text.replace(text.find("CALL"), 4, call);
}

TEST_F(SourceEdits, ABlockIsAskedForWithItsAlignment) {
  const std::string file = source(with_call("malloc(n * sizeof(struct s))"));
  const std::uint32_t id = structure("s", file + ":2");
  object("s[0]", file + ":3", true, id);
  EXPECT_THAT(text_after({.structure = id}), HasSubstr("return aligned_alloc(64, n * sizeof(struct s));"));
  EXPECT_THAT(edited({.structure = id}).cautions, testing::Contains(HasSubstr("`s` grows")));
}

TEST_F(SourceEdits, ABlockOfZerosStaysOne) {
  const std::string file = source(with_call("calloc(n, sizeof(struct s))"));
  const std::uint32_t id = structure("s", file + ":2");
  object("s[0]", file + ":3", true, id);
  EXPECT_THAT(text_after({.structure = id}),
              HasSubstr("return __builtin_memset(aligned_alloc(64, n * sizeof(struct s)), 0, n * sizeof(struct s));"));
}

TEST_F(SourceEdits, BlocksThatAreAskedForOtherwiseHaveNoEdit) {
  for (const std::string call :
       {"calloc(next(), 8)", "pool.malloc(8)", "realloc(p, n)", "std::malloc(8)", "malloc(8), malloc(8)"}) {
    const std::string file = source(with_call(call));
    const std::uint32_t id = structure("s", file + ":2");
    object("s[0]", file + ":3", true, id);
    EXPECT_NE(edited({.structure = id}).why_not, "") << call;
    symbols_ = {};
  }
}

TEST_F(SourceEdits, AVariableOfTheNameNewIsNotANew) {
  const std::string file = source("struct s { long a; };\nstruct s* f(void) { struct s *new = malloc(8); return new; }\n");
  const std::uint32_t id = structure("s", file + ":1");
  object("s[0]", file + ":2", true, id);
  EXPECT_THAT(text_after({.structure = id}), HasSubstr("aligned_alloc(64, 8)"));
}

TEST_F(SourceEdits, DefinitionsThatAreNotPlainHaveNoEdit) {
  for (const std::string line : {"template <class T> struct s { T a; };", "struct outer { struct inner { long a; } s; };",
                                 "struct [[nodiscard]] s { long a; };", "struct t { long a; };", "typedef long s;"}) {
    const std::string file = source(line + "\n", "x.cpp");
    EXPECT_NE(edited({.structure = structure("s", file + ":1")}).why_not, "") << line;
    symbols_ = {};
  }
}

TEST_F(SourceEdits, AnArrayOfScalarsBecomesOneOfStructuresWithItsUses) {
  const std::string file = source(
      "static volatile long hits[8];\nlong sum(int i) { return hits[i] + 2 * hits[(i + 1) % 8]; }  // hits[0]\n"
      "void add(int i) { __atomic_fetch_add(&hits[i], 1, 0); }\n");
  EXPECT_EQ(text_after({.objects = {object("hits", file + ":1")}, .spread = {{"", 8}}}),
            "static struct { volatile long value __attribute__((aligned(64))); } hits[8];\n"
            "long sum(int i) { return hits[i].value + 2 * hits[(i + 1) % 8].value; }  // hits[0]\n"
            "void add(int i) { __atomic_fetch_add(&hits[i].value, 1, 0); }\n");
}

TEST_F(SourceEdits, AnArrayThatIsNotOnlyUsedByItsElementsIsLeftAlone) {
  for (const std::string use :
       {"clear(hits);", "memset(&hits[0], 0, 64);", "p->hits[1] = 2;", "long hits[4];", "sizeof hits;"}) {
    const std::string file = source("static long hits[8];\nvoid f(void) { " + use + " }\n");
    EXPECT_THAT(edited({.objects = {object("hits", file + ":1")}, .spread = {{"", 8}}}).why_not,
                HasSubstr(":2: uses hits not only by its elements"))
        << use;
    symbols_ = {};
  }
}

TEST_F(SourceEdits, ArraysThatOthersMayUseOrOfUnknownElementsAreLeftAlone) {
  for (const std::string declaration :
       {"long hits[8];", "extern long hits[8];", "static std::vector<long> hits[8];", "static long double hits[8];",
        "static long hits[8], more[8];", "static struct slot hits[8];"}) {
    const std::string file = source(declaration + "\n", "x.cpp");
    EXPECT_NE(edited({.objects = {object("hits", file + ":1")}, .spread = {{"", 8}}}).why_not, "") << declaration;
    symbols_ = {};
  }
}

TEST_F(SourceEdits, ThreadsThatUseSeveralElementsAreNotACaseForIt) {
  const std::string file = source("static int hits[8];\n");
  EXPECT_THAT(edited({.objects = {object("hits", file + ":1")}, .spread = {{"", 8}}}).why_not,
              HasSubstr("threads use 8 bytes each, which is not one int"));
}

TEST_F(SourceEdits, AVariableIsAlignedWhereItIsPlainlyDeclared) {
  const std::string file = source("static long hits;\nlong next(void) { static long hits; return hits++; }\n");
  EXPECT_THAT(text_after({.objects = {object("hits", file + ":1")}}),
              testing::StartsWith("__attribute__((aligned(64))) static long hits;\n"));
  symbols_ = {};
  EXPECT_THAT(edited({.objects = {object("hits", file + ":2")}}).why_not, HasSubstr("expected a plain declaration of hits"));
}

TEST_F(SourceEdits, MembersMoveBehindTheOthersEachGroupToALine) {
  const std::string file =
      source("struct queue {\n  long head;  // of the consumer\n  struct head *first;\n  long tail;\n};\n");
  const LayoutEdit edit = {.structure = structure("queue", file + ":1"), .split = {{"head"}, {"tail"}}};
  EXPECT_EQ(text_after(edit),
            "struct queue {\n  struct head *first;\n"
            "  __attribute__((aligned(64))) long head;  // of the consumer\n"
            "  __attribute__((aligned(64))) long tail;\n};\n");
  EXPECT_THAT(edited(edit).cautions, testing::Contains(HasSubstr("initialisers")));
}

TEST_F(SourceEdits, StructuresThatAreMoreThanAListOfMembersAreNotSplit) {
  for (const std::string body :
       {"  long head;\n  char data[1];\n", "  long head;\n  char data[];\n",
        "  long head;\n  union {\n  long bits; };  long tail;\n", "  long get() { return head; }\n  long head;\n",
        "  unsigned long\n  head;\n", "  public: long head;\n", "#ifdef A\n  long head;\n#endif\n",
        "  long head; /* a long\n  comment */\n  long b;\n", "  long head = next();\n",
        "  long head;\n  struct {\n#ifdef A\n  int a;\n#endif\n  } b;\n",
        "  long head;\n  struct { int a; private: int c; } b;\n"}) {
    const std::string file = source("struct queue {\n" + body + "};\n", "x.cpp");
    EXPECT_NE(edited({.structure = structure("queue", file + ":1"), .split = {{"head"}}}).why_not, "") << body;
    symbols_ = {};
  }
}

TEST_F(SourceEdits, UnionsNestedStructuresAndPointersToFunctionsMoveAsAWhole) {
  const std::string file = source(
      "struct job {\n  union {\n    long bits;\n    void *owner;\n  };  // of the owner\n  long done;\n  struct { int a, b; } "
      "pair;\n"
      "  int (*run)(struct job *);\n};\n");
  EXPECT_EQ(
      text_after({.structure = structure("job", file + ":1"), .split = {{"pair", "run"}, {"bits"}}}),
      "struct job {\n  long done;\n  __attribute__((aligned(64))) struct { int a, b; } pair;\n  int (*run)(struct job *);\n"
      "  __attribute__((aligned(64))) char line_of_2[0];\n  union {\n    long bits;\n    void *owner;\n  };  // of the owner\n"
      "};\n")
      << "GCC ignores an attribute in front of an anonymous union";
}

TEST_F(SourceEdits, AMemberWhoseTypeAnotherMemberNamesStaysInFrontOfIt) {
  const std::string file = source("struct job {\n  struct part { long k; } first;\n  struct part second;\n};\n");
  EXPECT_NE(edited({.structure = structure("job", file + ":1"), .split = {{"first"}}}).why_not, "");
}

TEST_F(SourceEdits, BitFieldsInARowMoveTogether) {
  const std::string file = source(
      "struct job {\n  unsigned closed : 1,  // state\n           kind : 3;\n  unsigned : 4;\n  long done;\n  int late : "
      "1;\n};\n");
  const std::uint32_t id = structure("job", file + ":1");
  EXPECT_EQ(text_after({.structure = id, .split = {{"done", "closed"}}}),
            "struct job {\n  int late : 1;\n  __attribute__((aligned(64))) long done;\n  unsigned closed : 1,  // state\n"
            "           kind : 3;\n  unsigned : 4;\n};\n");
  EXPECT_THAT(text_after({.structure = id, .split = {{"late"}}}),
              HasSubstr("  __attribute__((aligned(64))) char line_of_6[0];\n  int late : 1;\n};\n"))
      << "the attribute on a bit field would align each of its declarators";
}

TEST_F(SourceEdits, AMemberThatTwoBlocksMayDeclareIsNotMoved) {
  const std::string file = source("struct job {\n  union { long a; int b; };\n  struct { int a; } pair;\n};\n");
  EXPECT_NE(edited({.structure = structure("job", file + ":1"), .split = {{"a"}}}).why_not, "");
}

TEST_F(SourceEdits, MembersThatShareALineMoveOneByOne) {
  const std::string file = source("struct ring {\n  long head; long tail;\n  int a, *b, c[4];  // indices\n  char kind;\n};\n");
  const std::uint32_t id = structure("ring", file + ":1");
  EXPECT_EQ(text_after({.structure = id, .split = {{"tail", "b"}, {"c"}}}),
            "struct ring {\n  long head;\n  int a;  // indices\n  char kind;\n"
            "  __attribute__((aligned(64))) long tail;\n  int *b;\n  __attribute__((aligned(64))) int c[4];\n};\n");
  EXPECT_EQ(text_after({.structure = id, .split = {{"head", "tail"}}}),
            "struct ring {\n  int a, *b, c[4];  // indices\n  char kind;\n"
            "  __attribute__((aligned(64))) long head;\n  long tail;\n};\n");
}

TEST_F(SourceEdits, ALineThatIsMoreThanDeclarationsIsNotSplit) {
  const std::string file = source("struct ring {\n  long head; int get(void) { return 1; }\n  int flag : 3;\n};\n");
  EXPECT_THAT(edited({.structure = structure("ring", file + ":1"), .split = {{"head"}}}).why_not,
              HasSubstr(":2: has more than plain declarations of members"));
}

TEST_F(SourceEdits, VariablesThatShareALineAreAlignedOneByOne) {
  const std::string file = source("static long hits; static long misses;\nstatic int a = 1, b[2], c;\n");
  EXPECT_THAT(text_after({.objects = {object("misses", file + ":1")}}),
              HasSubstr("static long hits; __attribute__((aligned(64))) static long misses;\n"));
  EXPECT_THAT(text_after({.objects = {object("c", file + ":2")}}),
              HasSubstr("static int a = 1, b[2], c __attribute__((aligned(64)));\n"));
}

TEST_F(SourceEdits, AVariableOfALibrarysTypeIsAlignedAndTheTypeLeftAlone) {
  const std::string file = source(
      "static std::shared_ptr<Table> dictionary = std::make_shared<Table>();\n"
      "std::atomic<long> keys_added{0};\n",
      "x.cpp");
  const std::uint32_t pointer = structure("shared_ptr<Table>", "/usr/include/c++/12/bits/shared_ptr.h:175");
  EXPECT_THAT(text_after({.structure = pointer, .objects = {object("dictionary", file + ":1", false, pointer)}}),
              HasSubstr("__attribute__((aligned(64))) static std::shared_ptr<Table> dictionary = "));
  EXPECT_THAT(text_after({.objects = {object("keys_added", file + ":2")}}),
              HasSubstr("__attribute__((aligned(64))) std::atomic<long> keys_added{0};"));
}

TEST_F(SourceEdits, SayWhenOnlyALibraryCouldChangeTheStructure) {
  const std::string file = source("static auto dictionary = std::make_shared<Table>();\n", "x.cpp");
  const std::uint32_t counted = structure("_Sp_counted", "/usr/include/c++/12/bits/shared_ptr_base.h:580");
  const std::uint32_t block = object("_Sp_counted[0]", file + ":1", true, counted);
  EXPECT_THAT(edited({.structure = counted, .objects = {block}}).why_not,
              HasSubstr("expected exactly one plain call of malloc, calloc or new"));
  EXPECT_THAT(edited({.structure = counted, .objects = {block}, .split = {{"_M_use_count"}}}).why_not,
              HasSubstr("_Sp_counted is a library's type, whose members cannot be moved"));
}

TEST_F(SourceEdits, ASourceThatHasChangedSinceIsNotWhatRan) {
  const std::string file = source("struct counts {\n  long lines;\n};\n");
  const auto before = fs::last_write_time(file) - std::chrono::seconds(1);
  EXPECT_THAT(source_edit({{.structure = structure("counts", file + ":1")}}, symbols_, 64, before).why_not,
              HasSubstr("has changed since the program was recorded"));
}

TEST_F(SourceEdits, DoNotExistForAnObjectWithoutASourceLocation) {
  EXPECT_THAT(edited({.structure = structure("counts", "")}).why_not, HasSubstr("debug information"));
  EXPECT_THAT(edited({.structure = structure("gone", "/nowhere/x.c:3")}).why_not, HasSubstr("cannot be read"));
  EXPECT_THAT(edited({.structure = structure("rust", source("struct A {\n a: u64,\n}\n", "a.rs") + ":1")}).why_not,
              HasSubstr("neither C nor C++"));
}

}  // namespace
}  // namespace linebounce::sim
