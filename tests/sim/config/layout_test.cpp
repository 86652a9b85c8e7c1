// Layout files, and the effect of [[layout.change]] on their structures.
#include "fixture.hpp"
#include "sim/config/layout_changes.hpp"
#include "sim/config/toml_text.hpp"

namespace linebounce::sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kLayouts = R"(name = "l"
title = "a layout"
[structure.rq]
size_bytes = 64
base_offset_bytes = 80
subsystem = "scheduler"
fields = [
  { name = "lock", offset_bytes = 0, size_bytes = 4 },
  { name = "nr_running", offset_bytes = 8, size_bytes = 8 },
  { name = "wait.next", offset_bytes = 16, size_bytes = 8 },
  { name = "wait.prev", offset_bytes = 24, size_bytes = 8 },
  { name = "cpu", offset_bytes = 32, size_bytes = 4 },
  { name = "flags", offset_bytes = 36, size_bytes = 1 },
  { name = "clock", offset_bytes = 40, size_bytes = 8 },
  { name = "alien", offset_bytes = 48, size_bytes = 16 },
]
)";

// "field@offset" for each field of the section, in the layout's order.
std::vector<std::string> places(const Layout& layout, Section section = Section::own) {
  std::vector<std::string> out;
  for (const Field& field : layout.fields) {
    if (field.section == section) out.push_back(field.name + "@" + std::to_string(field.offset));
  }
  return out;
}

class LayoutFiles : public ConfigFiles {
 protected:
  LayoutFile file(const std::string& text = kLayouts) const { return load_layout_file(write("l.toml", text), ""); }
  std::string file_error(const std::string& part, const std::string& replacement) const {
    return error_of([&] { file(replace_line(kLayouts, part, replacement)); });
  }
  std::vector<LayoutChange> changes(const std::string& text) const {
    const auto table = parse_toml(text, "e.toml");
    return read_layout_changes(*table["layout"]["change"].as_array(), "e.toml");
  }
  Layout rq(const std::string& text, int line_bytes = 128) const {
    return changed_layouts(file(), changes(text), line_bytes).find("rq");
  }
  std::string change_error(const std::string& text) const {
    return error_of([&] { rq(text); });
  }
};

TEST_F(LayoutFiles, SayWhereFieldsAreAndWhereObjectsBeginInTheirLine) {
  const Layout rq = file().layouts.find("rq");
  EXPECT_EQ(rq.base_offset, 80);
  EXPECT_EQ(rq.subsystem, "scheduler");
  EXPECT_EQ(places(rq).front(), "lock@0");
}

TEST_F(LayoutFiles, FieldsThatOverlapAreRefusedWithAPlaceThatIsFree) {
  EXPECT_THAT(file_error("nr_running", "  { name = \"nr_running\", offset_bytes = 2, size_bytes = 8 },"),
              AllOf(StartsWith("l.toml:9:"), HasSubstr("structure.rq.fields[1].offset_bytes"),
                    HasSubstr("nr_running (bytes 2 to 9) overlaps lock (bytes 0 to 3)"),
                    HasSubstr("the first legal offset for its 8 bytes is 8")));
  EXPECT_THAT(file_error("size_bytes = 64", "size_bytes = 16\n#"), HasSubstr("l.toml:11:"));
  EXPECT_THAT(file_error("alien", "  { name = \"alien\", offset_bytes = 20, size_bytes = 44 },"),
              HasSubstr("its 44 bytes fit nowhere before rq ends at 64: size_bytes must grow"));
}

TEST_F(LayoutFiles, ANameStandsOnce) {
  EXPECT_THAT(file_error("nr_running", "  { name = \"lock\", offset_bytes = 8, size_bytes = 8 },"),
              AllOf(StartsWith("l.toml:9:"), HasSubstr("lock is in rq twice")));
}

TEST_F(LayoutFiles, AnAlignmentIsAPowerOfTwo) {
  EXPECT_THAT(file_error("base_offset", "alignment_bytes = 24"),
              AllOf(StartsWith("l.toml:5:19: structure.rq.alignment_bytes"), HasSubstr("16 and 32")));
}

TEST_F(LayoutFiles, ABaseOffsetIsAPlaceInALineThatKeepsFieldsAligned) {
  EXPECT_THAT(file_error("base_offset", "base_offset_bytes = 128"),
              AllOf(StartsWith("l.toml:5:21: structure.rq.base_offset_bytes"), HasSubstr("0 to 127")));
  EXPECT_THAT(file_error("base_offset", "base_offset_bytes = 84"),
              AllOf(StartsWith("l.toml:5:21"), HasSubstr("multiples of 8 below 128")));
  EXPECT_EQ(file_error("title", "title = \"t\"\nline_bytes = 64").substr(0, 11), "l.toml:6:21") << "80 lies in no line of 64";
}

// The same size as sizeof for a C structure with that alignment. A smaller one would let the next object on the heap share
// the line.
TEST_F(LayoutFiles, AnAlignedObjectsSizeIsAMultipleOfItsAlignment) {
  const int size = file().layouts.find("rq").size;
  const int aligned = rq("[[layout.change]]\nstructure = \"rq\"\nalign_bytes = 512\n").size;
  EXPECT_EQ(aligned, (size + 511) / 512 * 512);
  EXPECT_NE(aligned, size);
  EXPECT_EQ(rq("[[layout.change]]\nstructure = \"rq\"\norder = [\"clock\"]\nalign_bytes = 512\n").size % 512, 0);
}

TEST_F(LayoutFiles, AnAlignedObjectHasNoBaseOffset) {
  const Layout layout = rq("[[layout.change]]\nstructure = \"rq\"\nalign_bytes = 128\n");
  EXPECT_EQ(layout.alignment, 128);
  EXPECT_FALSE(layout.base_offset);
  EXPECT_EQ(places(layout), places(file().layouts.find("rq")));
  EXPECT_EQ(rq("[[layout.change]]\nstructure = \"rq\"\nbase_offset_bytes = 96\n").base_offset, 96);
}

TEST_F(LayoutFiles, AnOrderPutsFieldsFirstAndPacksAsACompilerDoes) {
  const Layout layout = rq("[[layout.change]]\nstructure = \"rq\"\norder = [\"flags\", \"wait\", \"cpu\"]\n");
  EXPECT_THAT(places(layout), ElementsAre("flags@0", "wait.next@8", "wait.prev@16", "cpu@24", "lock@28", "nr_running@32",
                                          "clock@40", "alien@48"));
  EXPECT_EQ(layout.size, 64);
  EXPECT_EQ(layout.base_offset, 80);
}

TEST_F(LayoutFiles, AnOrderMaySayWhereEachFieldBegins) {
  const Layout layout =
      rq("[[layout.change]]\nstructure = \"rq\"\norder = [\"wait\", \"lock\", \"clock\"]\nat_bytes = [0, 20, 128]\n");
  EXPECT_THAT(places(layout), ElementsAre("wait.next@0", "wait.prev@8", "lock@20", "clock@128", "nr_running@136", "cpu@144",
                                          "flags@148", "alien@152"));
  EXPECT_EQ(layout.size, 168);
}

TEST_F(LayoutFiles, FieldsGoOnlyWhereTheyFit) {
  const auto with = [this](const std::string& offsets) {
    return change_error("[[layout.change]]\nstructure = \"rq\"\norder = [\"wait\", \"lock\"]\nat_bytes = " + offsets + "\n");
  };
  EXPECT_THAT(with("[0]"), AllOf(StartsWith("e.toml:4"), HasSubstr("1 offsets for the 2 fields")));
  EXPECT_THAT(with("[0, 12]"), AllOf(StartsWith("e.toml:4:16"), HasSubstr("lock cannot begin at 12")));
  EXPECT_THAT(with("[0, 18]"), AllOf(StartsWith("e.toml:4:16"), HasSubstr("lock cannot begin at 18")));
  EXPECT_THAT(with("[-8, 20]"), AllOf(StartsWith("e.toml:4:13"), HasSubstr("expected an offset")));
}

TEST_F(LayoutFiles, BytesThatTheFileDoesNotNameStayWhereTheirNeighboursAre) {
  const Layout layout = changed_layouts(file(replace_line(kLayouts, "nr_running", "")),
                                        changes("[[layout.change]]\nstructure = \"rq\"\norder = [\"clock\"]\n"), 128)
                            .find("rq");
  // the file names no field for the 12 bytes between lock and wait
  EXPECT_THAT(places(layout),
              ElementsAre("clock@0", "lock@8", "wait.next@24", "wait.prev@32", "cpu@40", "flags@44", "alien@48"));
}

TEST_F(LayoutFiles, SplitFieldsBeginLinesOfTheirOwnBehindAllOthers) {
  const Layout layout = rq("[[layout.change]]\nstructure = \"rq\"\nsplit = [[\"lock\", \"cpu\"], \"clock\"]\n");
  EXPECT_THAT(places(layout), ElementsAre("nr_running@0", "wait.next@8", "wait.prev@16", "flags@24", "alien@32", "lock@48",
                                          "cpu@52", "clock@176"));
  EXPECT_EQ((*layout.base_offset + 48) % 128, 0);
  EXPECT_EQ((*layout.base_offset + layout.size) % 128, 0) << "nothing else lies in the last line";
}

TEST_F(LayoutFiles, ALineThatIsSplitOffStaysOneWhateverTheNextChangeDoes) {
  const Layout layout =
      rq("[[layout.change]]\nstructure = \"rq\"\nsplit = [\"lock\"]\n"
         "[[layout.change]]\nstructure = \"rq\"\nalign_bytes = 128\n"
         "[[layout.change]]\nstructure = \"rq\"\norder = [\"clock\"]\n");
  EXPECT_EQ(places(layout).front(), "clock@0");
  EXPECT_EQ(places(layout).back(), "lock@128");
  EXPECT_EQ(layout.size, 256);
  EXPECT_EQ(rq("[[layout.change]]\nstructure = \"rq\"\nsplit = [\"lock\"]\nalign_bytes = 64\n", 64).alignment, 64);
}

// rq begins 80 bytes into a line of 128 bytes, so the next lines begin at its offsets 48, 176, ...
TEST_F(LayoutFiles, AnArraysElementsAreSpreadOverLinesOfTheirOwn) {
  const Layout layout = rq("[[layout.change]]\nstructure = \"rq\"\nspread = [\"alien\"]\nelement_bytes = 8\n");
  EXPECT_THAT(places(layout), ElementsAre("lock@0", "nr_running@8", "wait.next@16", "wait.prev@24", "cpu@32", "flags@36",
                                          "clock@40", "alien[0]@48", "alien[1]@176"));
  EXPECT_EQ(layout.size, 304);
  EXPECT_EQ(layout.moved.back(), (MovedBytes{56, 8, 176, Section::own}));
}

TEST_F(LayoutFiles, NumberedPartsSayThemselvesWhereElementsBegin) {
  const std::string text = std::string(kLayouts) + "[structure.t]\nsize_bytes = 32\nfields = [\n" +
                           "{ name = \"s[0].a\", offset_bytes = 0, size_bytes = 8 },\n" +
                           "{ name = \"s[0].b\", offset_bytes = 8, size_bytes = 4 },\n" +
                           "{ name = \"s[1].a\", offset_bytes = 16, size_bytes = 8 },\n" +
                           "{ name = \"s[1].b\", offset_bytes = 24, size_bytes = 4 },\n]\n";
  const auto spread = changes("[[layout.change]]\nstructure = \"t\"\nspread = [\"s\"]\n");
  const Layout layout = changed_layouts(file(text), spread, 64).find("t");
  EXPECT_THAT(places(layout), ElementsAre("s[0].a@0", "s[0].b@8", "s[1].a@64", "s[1].b@72"));
  EXPECT_EQ(layout.alignment, 64);
}

TEST_F(LayoutFiles, AnObjectWithoutFieldsCanBeAnArrayAsAWhole) {
  const std::string text = std::string(kLayouts) + "[structure.counts]\nsize_bytes = 16\nfields = []\n";
  const auto spread = changes("[[layout.change]]\nstructure = \"counts\"\nelement_bytes = 8\n");
  const Layout layout = changed_layouts(file(text), spread, 64).find("counts");
  EXPECT_EQ(layout.size, 128);
  EXPECT_THAT(layout.moved, ElementsAre(MovedBytes{0, 8, 0}, MovedBytes{8, 8, 64}));
}

TEST_F(LayoutFiles, AFieldThatIsNotAnArrayIsNotSpread) {
  const auto with = [&](const std::string& change) {
    return change_error("[[layout.change]]\nstructure = \"rq\"\n" + change + "\n");
  };
  EXPECT_THAT(with("spread = [\"alien\"]\nelement_bytes = 5"),
              AllOf(StartsWith("e.toml:4:17: layout.change.element_bytes"), HasSubstr("alien of 16 bytes")));
  EXPECT_THAT(with("spread = [\"alien\"]"), AllOf(StartsWith("e.toml:3:11"), HasSubstr("give element_bytes")));
  EXPECT_THAT(with("element_bytes = 8\nsplit = [\"cpu\"]"), AllOf(StartsWith("e.toml:3:17"), HasSubstr("whole object")));
}

TEST_F(LayoutFiles, SectionsArePackedAndLeaveTheOthersWhereTheyAre) {
  const Layout layout =
      rq("[[layout.change]]\nstructure = \"rq\"\nread_mostly = [\"cpu\", \"alien\"]\nper_cpu = [\"nr_running\"]\n");
  EXPECT_THAT(places(layout), ElementsAre("lock@0", "wait.next@16", "wait.prev@24", "flags@36", "clock@40"));
  EXPECT_THAT(places(layout, Section::read_mostly), ElementsAre("cpu@0", "alien@8"));
  EXPECT_THAT(places(layout, Section::per_cpu), ElementsAre("nr_running@0"));
  EXPECT_EQ(layout.size, 64);
}

TEST_F(LayoutFiles, AChangeMustNameAnExistingField) {
  EXPECT_THAT(change_error("[[layout.change]]\nstructure = \"rqq\"\nalign_bytes = 8\n"),
              AllOf(StartsWith("e.toml:2:13: layout.change.structure"), HasSubstr("known: rq"), HasSubstr("did you mean rq?")));
  EXPECT_THAT(change_error("[[layout.change]]\nstructure = \"rq\"\norder = [\"cpu\",\n  \"nr_runing\"]\n"),
              AllOf(StartsWith("e.toml:4:3: layout.change.order"), HasSubstr("clock"), HasSubstr("did you mean nr_running?")));
}

TEST_F(LayoutFiles, HalfOfAListHeadDoesNotMove) {
  EXPECT_THAT(change_error("[[layout.change]]\nstructure = \"rq\"\nsplit = [\"wait.next\"]\n"),
              AllOf(StartsWith("e.toml:3:10: layout.change.split"),
                    HasSubstr("wait.next is a part of wait (wait.next, wait.prev)"), HasSubstr("name wait")));
}

TEST_F(LayoutFiles, ChangesThatCannotBeMeantAreRefusedWhereTheyStand) {
  const auto with = [&](const std::string& lines) { return change_error("[[layout.change]]\nstructure = \"rq\"\n" + lines); };
  EXPECT_THAT(with("align_bytes = 100\n"),
              AllOf(StartsWith("e.toml:3:15: layout.change.align_bytes"), HasSubstr("64 and 128")));
  EXPECT_THAT(with("align_bytes = 128\nbase_offset_bytes = 8\n"),
              AllOf(StartsWith("e.toml:4:21"), HasSubstr("one of the two")));
  EXPECT_THAT(with("base_offset_bytes = 136\n"), AllOf(StartsWith("e.toml:3:21"), HasSubstr("multiples of 8 below 128")));
  EXPECT_THAT(with("base_offset_bytes = 4\n"), HasSubstr("multiples of 8 below 128"));
  EXPECT_THAT(with("split = [\"lock\"]\nalign_bytes = 64\n"), AllOf(StartsWith("e.toml:4:15"), HasSubstr("at least 128")));
  EXPECT_THAT(with("order = [\"cpu\"]\nsplit = [[\"cpu\"]]\n"),
              AllOf(StartsWith("e.toml:4:11"), HasSubstr("cpu is named twice")));
  EXPECT_THAT(with("order = []\n"), AllOf(StartsWith("e.toml:3:9"), HasSubstr("an empty one")));
  EXPECT_THAT(with("order = [3]\n"), AllOf(StartsWith("e.toml:3:10"), HasSubstr("an integer (3)")));
  EXPECT_THAT(with("orders = [\"cpu\"]\n"), AllOf(StartsWith("e.toml:3:1"), HasSubstr("did you mean layout.change.order?")));
  EXPECT_THAT(with(""), AllOf(StartsWith("e.toml:1:1"), HasSubstr("changes nothing of rq"), HasSubstr("read_mostly")));
  EXPECT_THAT(with("name = \"all\"\nalign_bytes = 8\n"), StartsWith("e.toml:3:8: layout.change.name"));
  EXPECT_THAT(with("name = \"a b\"\nalign_bytes = 8\n"), HasSubstr("no blanks"));
}

// ---- experiments with changes ----

class ChangedExperiment : public ConfigFiles {
 protected:
  static constexpr const char* kStart = R"(name = "e"
title = "t"
machine = "m.toml"
[workload]
name = "dbench"
)";
  static constexpr const char* kChanges = R"([[layout.change]]
name = "aligned"
structure = "dentry"
align_bytes = 256
[[layout.change]]
name = "moved"
structure = "dentry"
order = ["d_lru"]
)";
  static std::string text(const std::string& more = "") { return std::string(kStart) + more + kChanges; }
  std::vector<Point> points(const std::string& text, const Overrides& overrides = {}) const {
    return expand(load_experiment(write("e.toml", text), overrides));
  }
  static Layout dentry(const Point& point) { return point.input.layouts.find("dentry"); }
  std::string error(const std::string& text, const Overrides& overrides = {}) const {
    return error_of([&] { points(text, overrides); });
  }
};

TEST_F(ChangedExperiment, AllChangesApplyUnlessTheSettingChooses) {
  const Point all = points(text()).at(0);
  EXPECT_EQ(dentry(all).alignment, 256);
  EXPECT_EQ(offset_of(dentry(all), "d_lru"), 0U);
  const Point none = points(text("[layout]\nchanges = \"none\"\n")).at(0);
  EXPECT_EQ(dentry(none).alignment, 128);
  EXPECT_EQ(offset_of(dentry(none), "d_lru"), 32U);
  const Point one = points(text(), {{}, {{"layout.changes", "moved"}}, {}}).at(0);
  EXPECT_EQ(dentry(one).alignment, 128);
  EXPECT_EQ(offset_of(dentry(one), "d_lru"), 0U);
  const Point both = points(text(), {{}, {{"layout.changes", "moved, aligned"}}, {}}).at(0);
  EXPECT_EQ(dentry(both), dentry(all));
}

TEST_F(ChangedExperiment, TheChoiceIsSweptAndMakesOtherPoints) {
  const auto all = points(text("[sweep]\n\"layout.changes\" = [\"none\", \"aligned\"]\n"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(std::get<std::string>(all[1].at.at(0).second), "aligned");
  EXPECT_EQ(dentry(all[0]).alignment, 128);
  EXPECT_EQ(dentry(all[1]).alignment, 256);
  EXPECT_NE(configuration_hash(all[0].resolved), configuration_hash(all[1].resolved));
}

TEST_F(ChangedExperiment, AChangeIsPartOfTheHashAndOfTheResolvedText) {
  const Point point = points(text()).at(0);
  const Point other = points(replace_line(text(), "align_bytes", "align_bytes = 512")).at(0);
  EXPECT_NE(configuration_hash(point.resolved), configuration_hash(other.resolved));
  const auto again = points(to_toml(point.resolved));
  EXPECT_EQ(to_toml(again.at(0).resolved), to_toml(point.resolved));
  EXPECT_EQ(dentry(again.at(0)), dentry(point));
}

TEST_F(ChangedExperiment, TheCommandLinesChoiceIsAnOverride) {
  EXPECT_TRUE(load_experiment(write("e.toml", text()), {{}, {{"layout.changes", "none"}}, {}}).overridden);
  EXPECT_FALSE(load_experiment(write("e.toml", text()), {}).overridden);
}

TEST_F(ChangedExperiment, AnUnknownChoiceIsRefusedWithTheNames) {
  EXPECT_THAT(error(text("[layout]\nchanges = \"align\"\n")),
              AllOf(StartsWith("e.toml:7:11: layout.changes"), HasSubstr("all, none, aligned, moved")));
  EXPECT_THAT(error(text("[sweep]\n\"layout.changes\" = [\"none\", \"movd\"]\n")),
              AllOf(StartsWith("e.toml:7:20: layout.changes"), HasSubstr("did you mean moved?")));
  EXPECT_THAT(error(text(), {{}, {{"layout.changes", "x"}}, {}}), HasSubstr("--set: layout.changes: \"x\" is not known"));
  EXPECT_THAT(error(text("[layout]\nchanges = \"all moved\"\n")), HasSubstr("all stands alone"));
  EXPECT_THAT(error(kStart, {{}, {{"layout.changes", "none"}}, {}}), HasSubstr("no [[layout.change]] to choose from"));
}

TEST_F(ChangedExperiment, AChangeThatIsNotChosenMustBeRight) {
  EXPECT_THAT(error(replace_line(text("[layout]\nchanges = \"none\"\n"), "order", "order = [\"d_lur\"]")),
              AllOf(StartsWith("e.toml:15:10: layout.change.order"), HasSubstr("d_lru")));
}

TEST_F(ChangedExperiment, AWorkloadWithoutLayoutHasNothingToChange) {
  EXPECT_THAT(error(replace_line(text(), "dbench", "name = \"critical_section\"")),
              AllOf(StartsWith("e.toml:6:1: layout.change"), HasSubstr("critical_section has no parameter `layout`")));
}

TEST_F(ChangedExperiment, AFieldOfAProgramThatKeepsItsObjectsTogetherStaysInTheObject) {
  const Point point = points(text() + "per_cpu = [\"d_count\"]\n").at(0);
  EXPECT_THROW(offset_of(dentry(point), "d_count"), std::invalid_argument);
}

}  // namespace
}  // namespace linebounce::sim
