#include "sim/studies/advice/source_edit.hpp"

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
  ~SourceEdits() override { fs::remove_all(folder_); }

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

TEST_F(SourceEdits, WhatIsAlignedAlreadyIsLeftAlone) {
  const std::string file = source("struct alignas(32) counts {\n  long lines;\n};\n", "x.cpp");
  EXPECT_THAT(edited({.structure = structure("counts", file + ":1")}).why_not, HasSubstr("has an alignment already"));
}

TEST_F(SourceEdits, ABlockIsAskedForWithItsAlignment) {
  const std::string file =
      source("#include <stdlib.h>\nstruct s { long a; };\nstruct s* f(int n) { return malloc(n * sizeof(struct s)); }\n");
  const std::uint32_t id = structure("s", file + ":2");
  const std::string text = text_after({.structure = id, .objects = {object("s[0]", file + ":3", true, id)}});
  EXPECT_THAT(text, HasSubstr("return aligned_alloc(64, n * sizeof(struct s));"));
}

TEST_F(SourceEdits, ABlockOfZerosStaysOne) {
  const std::string file = source("#include <stdlib.h>\nstruct s { long a; };\nstruct s* f(int n) { return calloc(n, 8); }\n");
  const std::uint32_t id = structure("s", file + ":2");
  const std::string text = text_after({.structure = id, .objects = {object("s[0]", file + ":3", true, id)}});
  EXPECT_THAT(text, HasSubstr("#include <stdlib.h>\n#include <string.h>\n"));
  EXPECT_THAT(text, HasSubstr("return memset(aligned_alloc(64, (n) * (8)), 0, (n) * (8));"));
}

TEST_F(SourceEdits, AnArrayOfScalarsBecomesOneOfStructuresWithItsUses) {
  const std::string file =
      source("static volatile long hits[8];\nlong sum(int i) { return hits[i] + hits[(i + 1) % 8]; }  // hits[0]\n");
  const std::string text = text_after({.objects = {object("hits", file + ":1")}, .spread = {{"", 8}}});
  EXPECT_EQ(text,
            "static volatile struct { long value __attribute__((aligned(64))); } hits[8];\n"
            "long sum(int i) { return hits[i].value + hits[(i + 1) % 8].value; }  // hits[0]\n");
}

TEST_F(SourceEdits, AnArrayThatIsUsedAsAWholeIsLeftAlone) {
  const std::string file = source("static long hits[8];\nvoid f(void) { clear(hits); }\n");
  EXPECT_THAT(edited({.objects = {object("hits", file + ":1")}, .spread = {{"", 8}}}).why_not,
              HasSubstr(":2: uses hits not only by its elements"));
}

TEST_F(SourceEdits, ThreadsThatUseSeveralElementsAreNoCaseForIt) {
  const std::string file = source("static int hits[8];\n");
  EXPECT_THAT(edited({.objects = {object("hits", file + ":1")}, .spread = {{"", 8}}}).why_not,
              HasSubstr("threads use 8 bytes each, which is not one int"));
}

TEST_F(SourceEdits, MembersMoveBehindTheOthersEachGroupToALine) {
  const std::string file = source("struct queue {\n  long head;  // of the consumer\n  long size;\n  long tail;\n};\n");
  const LayoutEdit edit = {.structure = structure("queue", file + ":1"), .split = {{"head"}, {"tail"}}};
  EXPECT_EQ(text_after(edit),
            "struct queue {\n  long size;\n"
            "  __attribute__((aligned(64))) long head;  // of the consumer\n"
            "  __attribute__((aligned(64))) long tail;\n};\n");
  EXPECT_THAT(edited(edit).cautions.front(), HasSubstr("initialisers"));
}

TEST_F(SourceEdits, MembersThatShareALineAreLeftToPeople) {
  const std::string file = source("struct queue {\n  long head, tail;\n};\n");
  EXPECT_THAT(edited({.structure = structure("queue", file + ":1"), .split = {{"head"}}}).why_not,
              HasSubstr("head has no line of its own in queue"));
}

TEST_F(SourceEdits, ASourceThatHasChangedSinceIsNotWhatRan) {
  const std::string file = source("struct counts {\n  long lines;\n};\n");
  const auto before = fs::last_write_time(file) - std::chrono::seconds(1);
  EXPECT_THAT(source_edit({{.structure = structure("counts", file + ":1")}}, symbols_, 64, before).why_not,
              HasSubstr("has changed since the program was recorded"));
}

TEST_F(SourceEdits, WhatHasNoPlaceInTheSourceHasNoEdit) {
  EXPECT_THAT(edited({.structure = structure("counts", "")}).why_not, HasSubstr("debug information"));
  EXPECT_THAT(edited({.structure = structure("gone", "/nowhere/x.c:3")}).why_not, HasSubstr("cannot be read"));
  EXPECT_THAT(edited({.structure = structure("rust", source("struct A {\n a: u64,\n}\n", "a.rs") + ":1")}).why_not,
              HasSubstr("neither C nor C++"));
}

}  // namespace
}  // namespace linebounce::sim
