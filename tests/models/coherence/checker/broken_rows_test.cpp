// Breaks every row of every protocol file. The checker must notice: by a broken property, a row that never runs, or another
// number of states. Mutants that survive are listed: each of them is a correct protocol too, or reaches the same states.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <vector>

#include "models/coherence/checker/check_protocol.hpp"
#include "tests/models/coherence/checker/mutants.hpp"
#include "tests/models/coherence/shipped.hpp"

namespace linebounce::test {
namespace {

constexpr double kLeastShare = 0.95;
// A table without waiting states has few rows that can go wrong, so harmless mutants are a larger share of all.
constexpr double kLeastShareOfAtomic = 0.92;
// Nor can rows about how long a copy is worth its updates, or which tags wait for a line to pass: data is right in any case.
constexpr double kLeastShareWithCounts = 0.9;

// Why each survivor is correct:
// - "to E" in a state where a store waits: the store runs at once and takes E to M, as any store does.
// - "E, F, VE ... to M, O, Sm, D": the cache will write back data that memory has already.
// - "E, VE ... to S, F, Sc" and "M ... to O, Sm": the cache gives up the right to write, and requests it again when needed.
// - "F ... to S" and "FM_AD ... to SM_AD": memory answers in the cache's place.
// - "SM_AD, FM_AD ... to IM_AD, IU_A" and "SF_A ... to IF_A": the cache drops a good copy, which its request does not need or
//   fetches again.
// - On an atomic bus, "Own_BusRdX, Own_BusUpgr, Own_BusUpd ... to S, O, E, I" and the like: the waiting access runs at once,
//   and the cache issues another request if it needs one.
// - "S Own_BusRdX: without action 1" (take data): the copy is equal to memory's line.
// - "to T" and "T ... to I": the cache keeps a tag, or gives it up; either is without a copy.
// - "Sc, Sc1, Sc2 ... to" another of these: a copy counts wrongly, and gives up too early or too late.
// - "Other_Amo: without action 1" (assert owned): the owner still sends its data to memory, which operates on it.
// The good protocol reaches the same system states as such a mutant by other steps, so their numbers of states are equal,
// too.
struct Survivors {
  const char* protocol;
  std::vector<std::string> expected;
  double least_share = 0;  // 0: that of the kind of bus
};
void PrintTo(const Survivors& survivors, std::ostream* out) {
  *out << survivors.protocol;
}

const Survivors kSurvivors[] = {
    {"msi_snoop", {"cache SM_AD Other_GetS: to IM_AD", "cache SM_AD Other_PutM: to IM_AD"}},
    {"mesi_snoop",
     {"cache E Other_PutM: to S", "cache E Other_PutM: to M", "cache SM_AD Other_PutM: to IM_AD", "cache SM_AD Own_GetM: to E",
      "cache IM_D Data: to E"}},
    {"mesi_snoop_upgrade_retry",
     {"cache E Other_Upgrade: to M", "cache E Other_PutM: to S", "cache E Other_PutM: to M", "cache SM_AD Other_PutM: to IU_A",
      "cache SM_AD Own_Upgrade: to E", "cache IM_D Data: to E"}},
    {"mesif_snoop",
     {"cache F Other_PutM: to S", "cache E Other_PutM: to S", "cache E Other_PutM: to F", "cache E Other_PutM: to M",
      "cache SM_AD Own_GetM: to E", "cache SM_AD Other_PutM: to IM_AD", "cache FM_AD Own_GetM: to E",
      "cache FM_AD Other_PutM: to IM_AD", "cache FM_AD Other_PutM: to SM_AD", "cache IM_D Data: to E"}},
    {"moesi_snoop",
     {"cache E Other_GetS: to O", "cache E Other_PutM: to S", "cache E Other_PutM: to O", "cache E Other_PutM: to M",
      "cache M Other_PutM: to O", "cache SM_AD Own_GetM: to E", "cache SM_AD Other_PutM: to IM_AD",
      "cache OM_AD Own_GetM: to E", "cache IM_D Data: to E"}},
    {"dragon_snoop",
     {"cache E Other_GetS: to Sm", "cache E Other_PutM: to Sc", "cache E Other_PutM: to Sm", "cache E Other_PutM: to M",
      "cache M Other_PutM: to Sm", "cache ScM_A Own_BusUpd [alone]: to E", "cache SmM_A Own_BusUpd [alone]: to E",
      "cache IM_D Data: to E"}},
    {"mesi_far_snoop",
     {"cache E Other_PutM: to S", "cache E Other_PutM: to M", "cache M Other_Amo: without action 1",
      "cache SM_AD Own_GetM: to E", "cache SM_AD Other_PutM: to IM_AD", "cache IM_D Data: to E",
      "cache MI_A Other_Amo: without action 1", "cache SF_A Other_PutM: to IF_A"}},
    {"mesi_migratory_snoop",
     {"cache E Other_PutM: to S", "cache E Other_PutM: to M", "cache SM_AD Other_PutM: to IM_AD", "cache SM_AD Own_GetM: to E",
      "cache IM_D Data: to E"}},
    {"msi_atomic", {"cache I Own_BusRdX: to S", "cache S Own_BusUpgr: to I"}},
    {"mesi_atomic",
     {"cache I Own_BusRdX: to S", "cache I Own_BusRdX: to E", "cache S Own_BusUpgr: to I", "cache S Own_BusUpgr: to E"}},
    {"mosi_atomic",
     {"cache I Own_BusRdX: to S", "cache I Own_BusRdX: to O", "cache S Own_BusUpgr: to O", "cache O Own_BusUpgr: to S",
      "cache M Load: to O"}},
    {"moesi_atomic",
     {"cache I Own_BusRdX: to S", "cache I Own_BusRdX: to O", "cache I Own_BusRdX: to E", "cache S Own_BusUpgr: to O",
      "cache S Own_BusUpgr: to E", "cache O Own_BusUpgr: to S", "cache O Own_BusUpgr: to E", "cache E Store: to O",
      "cache E Other_BusRd: to O", "cache M Load: to O", "cache M Store: to O"}},
    {"moesif_atomic",
     {"cache I Own_BusRd [shared]: to O",
      "cache I Own_BusRdX: to S",
      "cache I Own_BusRdX: to F",
      "cache I Own_BusRdX: to O",
      "cache I Own_BusRdX: to E",
      "cache S Own_BusUpgr: to F",
      "cache S Own_BusUpgr: to O",
      "cache S Own_BusUpgr: to E",
      "cache F Load: to O",
      "cache F Other_BusRd: to O",
      "cache F Own_BusUpgr: to I",
      "cache F Own_BusUpgr: to S",
      "cache F Own_BusUpgr: to O",
      "cache F Own_BusUpgr: to E",
      "cache O Own_BusUpgr: to S",
      "cache O Own_BusUpgr: to F",
      "cache O Own_BusUpgr: to E",
      "cache E Store: to O",
      "cache E Other_BusRd: to S",
      "cache E Other_BusRd: to O",
      "cache M Load: to O",
      "cache M Store: to O"}},
    {"msi_rdx_atomic", {"cache I Own_BusRdX: to S", "cache S Own_BusRdX: to I", "cache S Own_BusRdX: without action 1"}},
    {"mesi_rdx_atomic",
     {"cache I Own_BusRdX: to S", "cache I Own_BusRdX: to E", "cache S Own_BusRdX: to I", "cache S Own_BusRdX: to E",
      "cache S Own_BusRdX: without action 1"}},
    {"illinois_atomic",
     {"cache I Own_BusRdX: to S", "cache I Own_BusRdX: to E", "cache S Own_BusUpgr: to I", "cache S Own_BusUpgr: to E"}},
    {"write_through_atomic", {}},
    {"write_through_allocate_atomic", {}},
    {"mesi_snarfing_atomic",
     {"cache I Own_BusRd [shared]: to T",
      "cache I Own_BusRd [alone]: to S",
      "cache I Own_BusRd [alone]: to M",
      "cache I Own_BusRd [alone]: to T",
      "cache I Own_BusRdX: to E",
      "cache I Own_BusRdX: to T",
      "cache I Other_BusRdX: to T",
      "cache I Other_BusUpgr: to T",
      "cache I Other_BusWB: to T",
      "cache S Own_BusUpgr: to I",
      "cache S Own_BusUpgr: to E",
      "cache S Own_BusUpgr: to T",
      "cache E Evict: to T",
      "cache T Evict: to T",
      "cache T Own_BusRd [shared]: to I",
      "cache T Own_BusRd [alone]: to I",
      "cache T Own_BusRd [alone]: to S",
      "cache T Own_BusRd [alone]: to M",
      "cache T Own_BusRdX: to I",
      "cache T Own_BusRdX: to E"},
     kLeastShareWithCounts},
    {"dragon_competitive_atomic",
     {"cache I Own_BusRd [shared]: to Sc1",
      "cache I Own_BusRd [shared]: to Sc2",
      "cache Sc Other_BusRd: to Sc1",
      "cache Sc Other_BusRd: to Sc2",
      "cache Sc Own_BusUpd [alone]: to I",
      "cache Sc Own_BusUpd [alone]: to Sm",
      "cache Sc Own_BusUpd [alone]: to E",
      "cache Sc Own_BusUpd [alone]: to Sc1",
      "cache Sc Own_BusUpd [alone]: to Sc2",
      "cache Sc Other_BusWB: to Sc1",
      "cache Sc Other_BusWB: to Sc2",
      "cache Sm Own_BusUpd [alone]: to Sc",
      "cache Sm Own_BusUpd [alone]: to E",
      "cache Sm Own_BusUpd [alone]: to Sc1",
      "cache Sm Own_BusUpd [alone]: to Sc2",
      "cache Sm Other_BusUpd: to Sc",
      "cache Sm Other_BusUpd: to Sc2",
      "cache E Store: to Sm",
      "cache E Other_BusRd: to Sm",
      "cache E Other_BusRd: to Sc1",
      "cache E Other_BusRd: to Sc2",
      "cache M Load: to Sm",
      "cache M Store: to Sm",
      "cache Sc1 Load: to Sc1",
      "cache Sc1 Load: to Sc2",
      "cache Sc1 Own_BusUpd [alone]: to I",
      "cache Sc1 Own_BusUpd [alone]: to Sc",
      "cache Sc1 Own_BusUpd [alone]: to Sm",
      "cache Sc1 Own_BusUpd [alone]: to E",
      "cache Sc1 Own_BusUpd [alone]: to Sc2",
      "cache Sc2 Load: to Sc1",
      "cache Sc2 Load: to Sc2",
      "cache Sc2 Own_BusUpd [alone]: to I",
      "cache Sc2 Own_BusUpd [alone]: to Sc",
      "cache Sc2 Own_BusUpd [alone]: to Sm",
      "cache Sc2 Own_BusUpd [alone]: to E",
      "cache Sc2 Own_BusUpd [alone]: to Sc1"},
     kLeastShareWithCounts},
    {"dragon_atomic",
     {"cache Sc Own_BusUpd [alone]: to I", "cache Sc Own_BusUpd [alone]: to Sm", "cache Sc Own_BusUpd [alone]: to E",
      "cache Sm Own_BusUpd [alone]: to Sc", "cache Sm Own_BusUpd [alone]: to E", "cache E Store: to Sm",
      "cache E Other_BusRd: to Sm", "cache M Load: to Sm", "cache M Store: to Sm"}},
    {"firefly_atomic",
     {"cache I Own_BusRd [alone]: to S", "cache I Own_BusRd [alone]: to D", "cache S Own_BusUpd [alone]: to S",
      "cache S Own_BusUpd [alone]: to D", "cache VE Load: to S", "cache VE Load: to D"}},
};

class BrokenRows : public testing::TestWithParam<Survivors> {};

bool noticed(const Protocol& mutant, std::size_t states_of_good) {
  const CheckOptions options;
  const CheckResult result = check_protocol(mutant, options);
  return !result.proved(options) || result.states != states_of_good;
}

TEST_P(BrokenRows, AreNoticedButForThoseThatDoNoHarm) {
  const Protocol good = shipped_protocol(GetParam().protocol);
  const std::size_t states = check_protocol(good, {}).states;
  const std::vector<Mutant> mutants = mutants_of(good);
  std::vector<std::string> survivors;
  for (const Mutant& mutant : mutants) {
    if (!noticed(mutant.of(good), states)) survivors.push_back(mutant.name);
  }
  const double share = 1.0 - static_cast<double>(survivors.size()) / static_cast<double>(mutants.size());
  fmt::print("{}: {} of {} mutants noticed, {:.1f} %\n", good.name, mutants.size() - survivors.size(), mutants.size(),
             100 * share);
  const double usual = good.bus == BusKind::atomic ? kLeastShareOfAtomic : kLeastShare;
  EXPECT_GE(share, GetParam().least_share > 0 ? GetParam().least_share : usual);
  EXPECT_THAT(survivors, testing::UnorderedElementsAreArray(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(Snooping, BrokenRows, testing::ValuesIn(kSurvivors),
                         [](const auto& instance) { return std::string(instance.param.protocol); });

}  // namespace
}  // namespace linebounce::test
