#include "fixture.hpp"
#include "sim/config/frequency.hpp"
#include "sim/config/schema.hpp"
#include "sim/config/suggestions.hpp"

namespace linebounce::sim {
namespace {

TEST(Frequencies, TheSmallestDenominatorWithinATenthOfAThousandthIsTaken) {
  EXPECT_EQ(to_frequency(700), (Frequency{700, 1}));
  EXPECT_EQ(to_frequency(666.667), (Frequency{2000, 3}));
  EXPECT_EQ(to_frequency(533.333), (Frequency{1600, 3}));
  EXPECT_EQ(to_frequency(133.33), (Frequency{400, 3}));
  EXPECT_EQ(to_frequency(66.5), (Frequency{133, 2}));
  EXPECT_EQ(to_frequency(0), std::nullopt);
  EXPECT_EQ(to_frequency(1.2345), std::nullopt);
}

TEST(Suggestions, UnitsAreTheEndsOfKeys) {
  EXPECT_EQ(unit_suffix("memory.bandwidth_mb_per_s"), "mb_per_s");
  EXPECT_EQ(unit_suffix("latency_ns"), "ns");
  EXPECT_EQ(unit_suffix("ns"), "");
  EXPECT_EQ(same_in_other_unit("memory.latency_us", {"memory.latency_ns"}), "memory.latency_ns");
  EXPECT_EQ(same_in_other_unit("memory.latency_us", {"bus.latency_ns"}), "");
}

TEST(Schema, EveryDefaultIsALegalValue) {
  const PartNames parts = {{"L1D"}, {"0_1"}};
  Settings settings;
  for (const auto& key : schema_keys(parts)) {
    // Required parameters have no default that could be wrong.
    if (!key.default_value) settings.emplace(key.path, Setting{});
  }
  fill_defaults(settings, parts, "", Origin{"default"});
  for (const auto& key : schema_keys(parts)) {
    const Setting& setting = settings.at(key.path);
    if (setting.origin.place == "default") {
      EXPECT_NO_THROW(checked(key, setting.value, setting.origin)) << key.path;
    }
    EXPECT_FALSE(key.meaning.empty()) << key.path;
  }
}

TEST(ProjectRoot, IsTheEnvironmentsOrAboveTheProgram) {
  setenv("LINEBOUNCE_ROOT", LINEBOUNCE_SOURCE_DIR, 1);
  EXPECT_EQ(project_root(), LINEBOUNCE_SOURCE_DIR);
  setenv("LINEBOUNCE_ROOT", "/", 1);
  try {
    project_root();
    FAIL() << "the root folder is no project";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "LINEBOUNCE_ROOT=/: this folder has no configs/ and models/protocols/");
  }
  setenv("LINEBOUNCE_ROOT", LINEBOUNCE_SOURCE_DIR, 1);
}

}  // namespace
}  // namespace linebounce::sim
