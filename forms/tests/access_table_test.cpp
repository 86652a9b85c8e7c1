#include "forms/access_table.hpp"

#include <gmock/gmock.h>

#include "forms/access_trace.hpp"
#include "forms/tests/converted.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::Kind;

// A table framed by rules of "=", as in newer files of the kernel.
constexpr const char* kRuled = R"(.. SPDX-License-Identifier: GPL-2.0
.. threads: rx=3
.. objects: 5

=====================================
conn struct fast path usage breakdown
=====================================

============== ============ ================== ================== =======
Type           Name         fastpath_tx_access fastpath_rx_access comment
============== ============ ================== ================== =======
u16            ports                           read_mostly        lookup, of all
atomic_t       users        read_write         read_write/8
u8:3           state        read_mostly
u8:5           retries
struct_sock*   owner        -                  write_mostly
u32[4]         sums
============== ============ ================== ================== =======
)";

AccessTable table_of(const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder / "table.rst") << text;
  return read_access_table(folder / "table.rst");
}

std::string table_error(const std::string& text) {
  try {
    table_of(text);
  } catch (const trace::TraceError& error) {
    return error.what();
  }
  return "";
}

TEST(AccessTable, SaysWhoTouchesWhat) {
  const AccessTable table = table_of(kRuled);
  EXPECT_EQ(table.structure, "conn");
  EXPECT_THAT(table.paths, ElementsAre("tx", "rx"));
  EXPECT_EQ(table.threads.at("rx"), 3);
  EXPECT_EQ(table.objects, 5);
  ASSERT_EQ(table.rows.size(), 6U);
  EXPECT_EQ(table.rows[0].uses[0].use, FieldUse::none);
  EXPECT_EQ(table.rows[0].uses[1].use, FieldUse::read);
  EXPECT_EQ(table.rows[0].comment, "lookup, of all");
  EXPECT_EQ(table.rows[1].uses[1].use, FieldUse::read_write);
  EXPECT_EQ(table.rows[1].uses[1].once_in, 8);
  EXPECT_EQ(table.rows[2].bits, 3);
  EXPECT_EQ(table.rows[4].uses[1].use, FieldUse::write);
  EXPECT_EQ(table.rows[5].elements, 4);
  EXPECT_FALSE(table.rows[5].is_touched());
}

TEST(AccessTable, MayNameItsStructureInARowAndHaveNoRules) {
  const AccessTable table = table_of(
      "Type        Name     fastpath_tx_access  Comments\n"
      "..struct    ..conn                       \n"
      "u32         sent     read_write          tcp_send(tx)\n");
  EXPECT_EQ(table.structure, "conn");
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0].uses[0].use, FieldUse::read_write);
}

TEST(AccessTable, AWordThatIsNotAUseIsRefusedByItsLine) {
  EXPECT_THAT(table_error("Type  Name  tx_access  Comments\nu32   sent  sometimes  a\n"),
              AllOf(HasSubstr("line 2"), HasSubstr("column tx_access"), HasSubstr("sometimes")));
  EXPECT_THAT(table_error("Type  Name  tx_access\nu32 n  read\n"), HasSubstr("read stands in front of the column tx_access"));
  EXPECT_THAT(table_error("Name  Type\n"), HasSubstr("expected titles of columns"));
}

TEST(AccessTable, TypesAloneLayOutAStructureAsACompilerDoes) {
  std::vector<std::string> left_out;
  const workloads::Layout layout = layout_of_types(table_of(kRuled), {}, left_out);
  std::vector<std::string> places;
  for (const workloads::Field& field : layout.fields)
    places.push_back(field.name + "@" + std::to_string(field.offset) + ":" + std::to_string(field.size));
  EXPECT_THAT(places, ElementsAre("ports@0:2", "users@4:4", "state|retries@8:1", "owner@16:8", "sums@24:16"));
  EXPECT_EQ(layout.size, 40);
  EXPECT_TRUE(left_out.empty());
}

TEST(AccessTable, ATouchedFieldOfAnUnknownTypeNeedsItsSize) {
  const AccessTable table = table_of("Type  Name  tx_access\nstruct_odd   odd  read\nstruct_rare rare  -\n");
  std::vector<std::string> left_out;
  EXPECT_THROW(layout_of_types(table, {}, left_out), trace::TraceError);
  EXPECT_EQ(layout_of_types(table, {{"struct_odd", 24}}, left_out).size, 24);
  EXPECT_THAT(left_out, ElementsAre("struct_rare"));
}

TEST(AccessTrace, EachPathTouchesItsFieldsInItsShare) {
  const Converted it = converted("accesses", kRuled);
  ASSERT_EQ(it.streams.size(), 16U) << "3 that the table states, and 13 for the other path";
  std::map<std::string, std::map<Kind, std::int64_t>> counts;
  for (std::size_t i = 0; i < it.streams.size(); ++i) {
    const std::string path = it.symbols.streams[i].name.substr(0, 2);
    for (const trace::Operation& operation : it.streams[i]) ++counts[path][operation.kind];
  }
  // tx: adds to users and reads state in each pass. rx: reads ports, writes owner, adds to users in one pass of eight.
  EXPECT_EQ(counts["tx"][Kind::fetch_add], counts["tx"][Kind::load]);
  EXPECT_EQ(counts["tx"][Kind::store], 0);
  EXPECT_EQ(counts["rx"][Kind::load], counts["rx"][Kind::store]);
  EXPECT_NEAR(static_cast<double>(counts["rx"][Kind::fetch_add]), static_cast<double>(counts["rx"][Kind::load]) / 8,
              static_cast<double>(counts["rx"][Kind::load]) / 40);
  EXPECT_EQ(it.symbols.objects.size(), 5U);
}

TEST(AccessTrace, AReportOfPerfC2cBecomesATableOfItsFunctions) {
  const workloads::Layout layout{.name = "job", .size = 128, .fields = {{"count", 0, 8}, {"flags", 8, 4}, {"next", 64, 8}}};
  const auto use = [](std::uint64_t offset, const char* function, std::vector<int> cpus) {
    C2cUse out;
    out.offset = offset;
    out.function = function;
    out.cpus = std::move(cpus);
    return out;
  };
  C2cUse add = use(0, "add", {1, 2}), look = use(8, "look", {3}), other = use(0, "other", {});
  add.local_hitm = 40;
  add.stores = 400;
  look.remote_hitm = 100;
  other.stores = 9;
  C2cReport report;
  report.lines.resize(2);
  report.lines[0].address = 0x1000;
  report.lines[0].uses = {add, look};
  report.lines[1].address = 0x9000;
  report.lines[1].uses = {other};
  const AccessTable table = table_of_c2c(report, layout, 0x1000);
  EXPECT_THAT(table.paths, ElementsAre("add", "look"));
  EXPECT_EQ(table.threads.at("add"), 2);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].name, "count");
  EXPECT_EQ(table.rows[0].uses[0].use, FieldUse::read_write);
  EXPECT_EQ(table.rows[1].name, "flags");
  EXPECT_EQ(table.rows[1].uses[1].once_in, 4) << "100 samples, where the most touched field has 400";
  EXPECT_THROW(table_of_c2c(report, layout, 0x5000), trace::TraceError);
}

}  // namespace
}  // namespace linebounce::sim
