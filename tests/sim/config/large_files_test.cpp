// Files with thousands of entries are read in time proportional to their size, not to its square.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <limits>

#include "fixture.hpp"
#include "sim/config/layout_file.hpp"

namespace linebounce::sim {
namespace {

using ::testing::HasSubstr;

double processor_seconds(const std::function<void()>& work) {
  const std::clock_t before = std::clock();
  work();
  return static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
}

// How many times as long 20,000 entries take as 4,000: about 5 times if time is linear in their number, 25 times if
// quadratic. Takes the minimum of several attempts, because other programs disturb the measurement.
double growth(const std::function<std::string(int)>& text, const std::function<void(const std::string&)>& read) {
  double few = std::numeric_limits<double>::infinity();
  double many = few;
  const std::string small = text(4000);
  const std::string large = text(20000);
  for (int attempt = 0; attempt < 3; ++attempt) {
    few = std::min(few, processor_seconds([&] { read(small); }));
    many = std::min(many, processor_seconds([&] { read(large); }));
  }
  return many / few;
}

constexpr double kMost = 8;

std::string layout_of(int fields) {
  std::string text = fmt::format("name = \"l\"\ntitle = \"t\"\n[structure.s]\nsize_bytes = {}\nfields = [\n", 8 * fields);
  for (int i = 0; i < fields; ++i)
    text += fmt::format("{{ name = \"field_{}\", offset_bytes = {}, size_bytes = 8 }},\n", i, 8 * i);
  return text + "]\n";
}

std::string union_of(int members) {
  std::string text = "struct s {\n\tunion {\n";
  for (int i = 0; i < members; ++i) text += fmt::format("\t\tlong member_{}; /* 0 8 */\n", i);
  return text + "\t}; /* 0 8 */\n\t/* size: 8 */\n};\n";
}

std::string bitfields(int bits) {
  std::string text = "struct s {\n";
  for (int i = 0; i < bits; ++i) text += fmt::format("\tunsigned int bit_{}:1; /* {}: {} 4 */\n", i, i / 32 * 4, i % 32);
  return text + fmt::format("\t/* size: {} */\n}};\n", (bits / 32 + 1) * 4);
}

class LargeFiles : public ConfigFiles {};

TEST_F(LargeFiles, FieldsOfALayout) {
  EXPECT_LT(growth(layout_of, [](const std::string& text) { read_layout_file(text, "l.toml"); }), kMost);
}

TEST_F(LargeFiles, ALayoutsErrorNamesAFreePlaceAtOnce) {
  const auto with_overlap = [](int fields) {
    std::string text = layout_of(fields);
    text.insert(text.size() - 2, "{ name = \"last\", offset_bytes = 4, size_bytes = 1 },\n");
    return text;
  };
  const auto read = [this](const std::string& text) {
    EXPECT_THAT(error_of([&] { read_layout_file(text, "l.toml"); }), HasSubstr("its 1 bytes fit nowhere"));
  };
  EXPECT_LT(growth(with_overlap, read), kMost);
}

TEST_F(LargeFiles, MembersOfAUnion) {
  EXPECT_LT(growth(union_of, [](const std::string& text) { read_layout_file(text, "s.pahole"); }), kMost);
}

TEST_F(LargeFiles, Bitfields) {
  EXPECT_LT(growth(bitfields, [](const std::string& text) { read_layout_file(text, "s.pahole"); }), kMost);
}

std::string list_to(int last) {
  std::string text = "[";
  for (int i = 1; i <= last; ++i) text += fmt::format("{}, ", i);
  return text;
}

// An error behind the swept values ends the reading there; making all points would take much longer.
TEST_F(LargeFiles, SweptValues) {
  const auto sweep_of = [](int values) {
    return fmt::format("{}[sweep]\n\"workload.increments\" = {} 1]\n", kExperiment, list_to(values));
  };
  EXPECT_LT(growth(sweep_of, [this](const std::string& text) { EXPECT_THAT(experiment_error(text), HasSubstr("twice")); }),
            kMost);
}

TEST_F(LargeFiles, SweptValuesThatGoTogetherAndOneOfThemIsSet) {
  const auto sweep_of = [](int values) {
    const std::string list = list_to(values);
    return fmt::format("{}[[sweep.together]]\n\"workload.increments\" = {}]\n\"machine.memory.latency_ns\" = {}]\n",
                       kExperiment, list, list);
  };
  const Overrides sets{{}, {{"machine.memory.latency_ns", "5"}, {"workload.unknown", "1"}}, {}};
  const auto read = [&](const std::string& text) { EXPECT_THAT(experiment_error(text, sets), HasSubstr("unknown key")); };
  EXPECT_LT(growth(sweep_of, read), kMost);
}

}  // namespace
}  // namespace linebounce::sim
