// Machines that nobody would build: with each number of a machine's file at both ends of its range, or with random values.
// Each machine is refused with a reason, or runs random references, whose values and sums are checked
// (Machine::require_conservation).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "commands/check/mutation.hpp"
#include "commands/check/run_cases.hpp"
#include "sim/config/machine_file.hpp"
#include "sim/config/schema.hpp"
#include "sim/point/config_error.hpp"

namespace linebounce::test {

using namespace sim;

namespace {

using Sets = std::vector<std::pair<std::string, std::string>>;

constexpr std::int64_t kReferences = 300;
constexpr CaseLimits kLimits{.at_once = 1, .seconds = 60};

struct End {
  std::string path;
  double value;
};

// Both ends of the range of each number that --set may change. For a machine with nodes, only numbers that need nodes and
// those of memory, because the machine without nodes covers the others.
std::vector<End> ends_of(const MachineSpec& machine) {
  TypedConfiguration configuration;
  configuration.machine = machine;
  std::vector<End> ends;
  SpecBinder keys([&](const SpecParameter& parameter) {
    if (machine.has_nodes() && parameter.traits.needs != kNeedsNodes && !parameter.path.starts_with("machine.memory.")) return;
    if (parameter.maximum == parameter.minimum || parameter.traits.structural || !parameter.path.starts_with("machine."))
      return;
    for (const double value : {parameter.minimum, parameter.maximum}) ends.push_back({parameter.path, value});
  });
  configuration.bind(keys);
  return ends;
}

// The settings that put one number at an end of its range, with matching line sizes of caches and bus, without which the
// machine would be refused.
Sets sets_for(const End& end, const MachineSpec& machine) {
  Sets sets = {{end.path, fmt::format("{}", end.value)}, {"engine.watchdog_us", "1000000000000"}};
  const bool of_cache = end.path.starts_with("machine.cache.") && end.path.ends_with(".line_bytes");
  if (!of_cache && end.path != "machine.bus.width_bytes") return sets;
  const int line = static_cast<int>(end.value);
  sets.emplace_back("machine.bus.line_bytes", "0");
  if (of_cache) sets.emplace_back("machine.bus.width_bytes", std::to_string(std::min(line, 256)));
  if (machine.has_nodes()) sets.emplace_back("machine.memory.page_kib", "4");
  for (const CacheSpec& cache : machine.caches) {
    const std::string at = "machine.cache." + cache.name + ".";
    if (at + "line_bytes" != end.path) sets.emplace_back(at + "line_bytes", std::to_string(std::max(line, 8)));
    sets.emplace_back(at + "size_kib", "64");
    sets.emplace_back(at + "ways", "2");
  }
  return sets;
}

std::string with(const Sets& sets) {
  std::string text;
  for (const auto& [path, value] : sets) text += fmt::format(" --set {}={}", path, value);
  return text;
}

// The message if a case fails in an unexpected way; else empty.
std::string trouble(const RandomBase& base, std::uint64_t seed, std::int64_t round) {
  InterruptGuard guard;
  const CaseRun run{[&] { return random_case(base, seed, round, kReferences); }, false};
  const CaseResult result = run_cases(base, {run}, kLimits, guard, {}).at(0);
  const bool is_bad = result.failure.code == ExitCode::internal_bug || result.verdict == Verdict::failed;
  const bool too_long = result.failure.message.find("simulate less time") != std::string::npos;
  return is_bad && !too_long ? result.failure.message : "";
}

class BothEnds : public testing::TestWithParam<const char*> {};

TEST_P(BothEnds, AreRefusedOrRun) {
  const std::string machine = GetParam();
  int refused = 0, ran = 0;
  const MachineSpec usual = random_base(machine, {}).spec;
  for (const End& end : ends_of(usual)) {
    const Sets sets = sets_for(end, usual);
    try {
      EXPECT_EQ(trouble(random_base(machine, sets), 1, ran), "") << machine << with(sets);
      ++ran;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()), "");
      ++refused;
    }
  }
  EXPECT_GT(ran, 2 * refused) << "most ends of ranges make machines";
}

INSTANTIATE_TEST_SUITE_P(Of, BothEnds, testing::Values("p3_xeon_4way", "numaq_16way"));

// ./dev fuzz tries many machines. `check --random` also tries five variants of each shipped one (test_check_random.py).
TEST(RandomMachines, LoseNothing) {
  const char* const wanted = std::getenv("LINEBOUNCE_FUZZ_MACHINES");
  const int count = wanted == nullptr ? 60 : std::atoi(wanted);
  std::vector<RandomBase> bases;
  for (const std::string& machine : machine_names()) bases.push_back(random_base(machine, {}));
  for (int round = 0; round < count; ++round) {
    const RandomBase& base = bases[static_cast<std::size_t>(round) % bases.size()];
    EXPECT_EQ(trouble(base, 1, round), "") << "linebounce check --random with machine " << base.machine << ", round " << round;
  }
}

}  // namespace
}  // namespace linebounce::test
