#include <algorithm>
#include <set>

#include "fixture.hpp"
#include "sim/config/schema.hpp"
#include "sim/config/suggestions.hpp"

namespace linebounce::sim {
namespace {

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
    // Required parameters have no default value.
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

TEST(Schema, EveryKeySetsAMemberOfItsOwn) {
  TypedConfiguration configuration;
  configuration.machine.caches.resize(1);
  configuration.machine.memory_of_node.resize(1);
  configuration.machine.groups.resize(1);
  configuration.machine.network.links.resize(1);
  configuration.machine.network.pairs.resize(1);
  std::set<std::string> keys;
  std::set<const void*> members;
  SpecBinder binder([&](const SpecParameter& parameter) {
    EXPECT_TRUE(keys.insert(parameter.path).second) << parameter.path;
    if (std::holds_alternative<WordMember>(parameter.member)) return;
    const auto place_of = [](const auto& member) -> const void* {
      if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(member)>>) return member;
      return nullptr;
    };
    EXPECT_TRUE(members.insert(std::visit(place_of, parameter.member)).second) << parameter.path;
  });
  configuration.bind(binder);
}

TEST(Schema, AKeyThatEndsInAUnitStatesIt) {
  for (const auto& key : schema_keys({{"L1D"}, {"0_1"}, {"0_1"}, {"L3"}, {"0"}})) {
    if (!unit_suffix(key.path).empty()) {
      EXPECT_NE(key.unit, "") << key.path;
    }
  }
}

TEST(Schema, KeysBelowAPrefixAreTheKeysThatBeginWithIt) {
  const PartNames parts = {{"L1D"}, {"0_1"}, {"0_1"}, {"L3"}, {"0"}};
  for (const char* prefix : {"machine.", "machine.cpu.", "machine.cache.L1D.", "machine.memory.node.", "run.", "engine."}) {
    std::vector<std::string> expected;
    for (const KeyInfo& key : schema_keys(parts)) {
      if (key.path.starts_with(prefix)) expected.push_back(key.path);
    }
    std::vector<std::string> paths;
    for (const KeyInfo& key : schema_keys(parts, {prefix})) paths.push_back(key.path);
    EXPECT_FALSE(paths.empty()) << prefix;
    EXPECT_EQ(paths, expected) << prefix;
  }
}

TEST(Schema, APartsParametersNeedWhatItNeedsUnlessTheySayOtherwise) {
  const std::vector<KeyInfo> keys = schema_keys({.links = {"0_1"}});
  const auto needs = [&keys](std::string_view path) {
    return std::find_if(keys.begin(), keys.end(), [path](const KeyInfo& key) { return key.path == path; })->needs;
  };
  EXPECT_EQ(needs("machine.network.link.0_1.latency_ns"), "machine.node.protocol");
  EXPECT_EQ(needs("machine.memory.page_kib"), "machine.node.protocol");
  EXPECT_EQ(needs("machine.memory.latency_ns"), "");
  EXPECT_EQ(needs("machine.bus.hop_ns"), "machine.bus.places");
}

TEST(ProjectRoot, IsTheEnvironmentsOrAboveTheProgram) {
  setenv("LINEBOUNCE_ROOT", LINEBOUNCE_SOURCE_DIR, 1);
  EXPECT_EQ(project_root(), LINEBOUNCE_SOURCE_DIR);
  setenv("LINEBOUNCE_ROOT", "/", 1);
  try {
    project_root();
    FAIL() << "the root folder is not a project";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "LINEBOUNCE_ROOT=/: this folder has no configs/ and models/protocols/");
  }
  setenv("LINEBOUNCE_ROOT", LINEBOUNCE_SOURCE_DIR, 1);
}

}  // namespace
}  // namespace linebounce::sim
