// Breaks every row of every network protocol. The checker must notice this: by a broken property, a row that never runs, or
// another number of states. Mutants that survive are listed below; each is a correct protocol, too, or reaches the same
// states.
//
// There are thousands of mutants. LINEBOUNCE_ALL_MUTANTS (set by ./dev fuzz) tries all of them, else only every kSampled-th
// is tried.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/models/coherence/checker/mutants.hpp"
#include "tests/models/coherence/checker/network_systems.hpp"

namespace linebounce::test {
namespace {

constexpr double kLeastNetworkShare = 0.95;
constexpr std::size_t kSampled = 97;
constexpr std::size_t kParts = 4;  // each part of a protocol's mutants is a separate test
// Why each survivor is correct:
// - "free" dropped: the next state says that the copy is gone. The checker does not model the storage that `free` releases.
// - "to E" in a state where a store waits: the store runs at once and takes E to M, as any store does.
// - IM_A, SM_A, OM_A for each other, and IM_C, IM_D likewise: the copy is the newest in all of them. They differ only in
//   whether it may be read while the cache waits for acknowledgements.
// - SM_AD without "take data": the data is what the cache's copy has already.
// - "to S" of a directory without sharers: the next reader gets S where it could have got E.
// - M for E and E for M in mesi_node and mesi_node_far, on GetS [owned]: the same order step continues with Bus_Data, which
//   makes it M.
// - MP_B for EP_B in mesi_node, moesi_node and mesif_node, and M for E in mesif_node: the node will write back data that
//   memory has already.
// - IM_AD, SM_AD for ER_D in mesi_node_tags: in all of them the node waits for Data and then runs the deferred request.
// - In moesi_directory_filter, "to S" of an entry that is being evicted, and R_A's Evict without "stall": to the checker, an
//   eviction that does nothing is one that has not begun. It does not model which line needs the slot.
// - E for M where the controller runs a GetM that a cache of the node answers (IM_B of mesif_node and mesif_broadcast_node):
//   the requester has M, and delivers the newest data whenever the node gives up the line.
// - In mesif_broadcast_node, a forwarder has the same data as memory. It makes no difference which of the two is kept, or
//   whether it is written to memory once more (IS_MD, IW_B, MS_B, MP_B).
// The good protocol reaches the same system states as such a mutant by other steps, so their numbers of states are equal,
// too.
struct NetworkSurvivors {
  const char* protocol;
  std::vector<std::string> expected;
};

const NetworkSurvivors kNetworkSurvivors[] = {
    {"mesi_directory",
     {"cache S Inv: without action 2", "cache E Fwd_GetM: without action 2", "cache M Fwd_GetM: without action 2",
      "cache IM_AD Data [no_acks]: to E", "cache IM_A Inv_Ack [last_ack]: to E", "cache IM_A Inv_Ack [more_acks]: to SM_A",
      "cache SM_AD Data [no_acks]: to E", "cache SM_AD Data [no_acks]: without action 1",
      "cache SM_AD Data [acks]: without action 1", "cache SM_A Load: to IM_A", "cache SM_A Inv_Ack [last_ack]: to E",
      "cache SM_A Inv_Ack [more_acks]: to IM_A", "cache MI_A Put_Ack: without action 1", "cache EI_A Put_Ack: without action 1",
      "cache SI_A Put_Ack: without action 1", "cache II_A Put_Ack: without action 1", "directory S PutS [last_sharer]: to S",
      "directory S_D Data [no_sharers]: to S"}},
    {"moesi_directory",
     {"cache S Inv: without action 2",
      "cache O Fwd_GetM: without action 2",
      "cache E Fwd_GetM: without action 2",
      "cache M Fwd_GetM: without action 2",
      "cache IM_AD Data [no_acks]: to E",
      "cache IM_A Inv_Ack [last_ack]: to E",
      "cache IM_A Inv_Ack [more_acks]: to SM_A",
      "cache IM_A Inv_Ack [more_acks]: to OM_A",
      "cache IM_C Acks [no_acks]: to E",
      "cache IM_C Acks [acks]: to OM_A",
      "cache IM_C Inv_Ack: to OM_AC",
      "cache IM_D DataO [no_acks]: to E",
      "cache IM_D DataO [acks]: to OM_A",
      "cache SM_AD Data [no_acks]: to E",
      "cache SM_AD Data [no_acks]: without action 1",
      "cache SM_AD Data [acks]: without action 1",
      "cache SM_AD DataO: without action 1",
      "cache SM_A Load: to IM_A",
      "cache SM_A Inv_Ack [last_ack]: to E",
      "cache SM_A Inv_Ack [more_acks]: to IM_A",
      "cache SM_A Inv_Ack [more_acks]: to OM_A",
      "cache OM_AC Acks [no_acks]: to E",
      "cache OM_A Inv_Ack [last_ack]: to E",
      "cache MI_A Put_Ack: without action 1",
      "cache EI_A Put_Ack: without action 1",
      "cache OI_A Put_Ack: without action 1",
      "cache SI_A Put_Ack: without action 1",
      "cache II_A Put_Ack: without action 1"}},
    {"mesi_node",
     {"node E GetS [owned]: to M", "node M GetS [owned]: to E", "node IM_A PutM: to SM_A", "node IM_A Ask_GetS: to SM_A",
      "node IM_A Ask_GetM: to SM_A", "node IM_A Inv_Ack [more_acks]: to SM_A", "node SM_AD Data [no_acks]: without action 1",
      "node SM_AD Data [acks]: without action 1", "node EP_B Ask_GetS: to MP_B", "node EP_B Ask_GetM: to MP_B"}},
    {"mesi_migratory_node",
     {"node E GetS [owned]: to M", "node M GetS [owned]: to E", "node IM_A PutM: to SM_A", "node IM_A Ask_GetS: to SM_A",
      "node IM_A Ask_GetM: to SM_A", "node IM_A Inv_Ack [more_acks]: to SM_A", "node SM_AD Data [no_acks]: without action 1",
      "node SM_AD Data [acks]: without action 1", "node EP_B Ask_GetS: to MP_B", "node EP_B Ask_GetM: to MP_B"}},
    {"moesi_node",
     {"node SM_AD Data [no_acks]: without action 1", "node SM_AD Data [acks]: without action 1",
      "node SM_AD DataO: without action 1", "node IM_C Inv_Ack: to OM_AC", "node EP_B Ask_GetS: to MP_B",
      "node EP_B Ask_GetM: to MP_B"}},
    {"mesi_node_far",
     {"node E GetS [owned]: to M", "node M GetS [owned]: to E", "node IM_A PutM: to SM_A", "node IM_A Ask_GetS: to SM_A",
      "node IM_A Ask_GetM: to SM_A", "node IM_A Ask_Amo: to SM_A", "node IM_A Inv_Ack [more_acks]: to SM_A",
      "node SM_AD Data [no_acks]: without action 1", "node SM_AD Data [acks]: without action 1", "node EP_B Ask_GetS: to MP_B",
      "node EP_B Ask_GetM: to MP_B", "node EP_B Ask_Amo: to MP_B"}},
    {"mesif_node",
     {"node E GetS [clean]: to M", "node SM_AD Data [no_acks]: without action 1", "node SM_AD Data [acks]: without action 1",
      "node SM_AD DataF: without action 1", "node IM_C Inv_Ack: to FM_AC", "node IM_B GetM [owned]: to E",
      "node EP_B Ask_GetS: to MP_B", "node EP_B Ask_GetM: to MP_B"}},
    {"moesi_broadcast_node", {}},
    {"mesif_broadcast_node",
     {"node E GetS [clean]: to M",
      "node EP_B Ask_GetM: to MP_B",
      "node EP_B Ask_GetS: to MP_B",
      "node ES_B Ask_GetM: to MS_B",
      "node ES_B Ask_GetS: to MS_B",
      "node IF_B Ask_GetM: to IW_B",
      "node IF_B Ask_GetS: to IW_B",
      "node IF_B PutM: to IW_B",
      "node IM_B GetM [owned]: to E",
      "node IS_D AckS [last_ack]: to IW_B",
      "node IS_D DataF [last_ack]: to IW_B",
      "node IS_D DataF [last_ack]: without action 1",
      "node IS_FD Ack [last_ack]: to IW_B",
      "node IS_FD Ack [more_acks]: to IS_MD",
      "node IS_FD Ack [more_acks]: to IS_SD",
      "node IS_FD AckS [more_acks]: to IS_SD",
      "node IS_FD Ask_GetM: to IS_MD",
      "node IS_FD Ask_GetM: to IS_SD",
      "node IS_FD Ask_GetS: to IS_MD",
      "node IS_FD Ask_GetS: to IS_SD",
      "node IS_FD Data [acks]: to IS_SD",
      "node IS_FD PutM: to IS_MD",
      "node IS_FD PutM: to IS_SD",
      "node IS_SD Ack [last_ack]: to IW_B",
      "node IS_SD Ask_GetM: to IS_MD",
      "node IS_SD Ask_GetS: to IS_MD",
      "node IS_SD DataF [last_ack]: without action 1",
      "node IS_SD DataF [more_acks]: to IS_SD",
      "node IS_SD PutM: to IS_MD"}},
    {"moesi_node_filter",
     {"node SM_AD Data [no_acks]: without action 1", "node SM_AD Data [acks]: without action 1",
      "node SM_AD DataO: without action 1", "node IM_C Inv_Ack: to OM_AC", "node EP_B Ask_GetS: to MP_B",
      "node EP_B Ask_GetM: to MP_B"}},
    {"mesi_node_tags",
     {"node E GetS [clean]: to IM_AD", "node E GetS [clean]: to SM_AD", "node IM_A PutM: to SM_A",
      "node IM_A Ask_GetS: to SM_A", "node IM_A Ask_GetM: to SM_A", "node IM_A Inv_Ack [more_acks]: to SM_A"}},
    {"mesif_directory", {}},
    {"mesi_migratory_directory", {"directory S_D Data [no_sharers]: to S"}},
    {"moesi_directory_filter", {"directory S Evict [no_sharers]: to S", "directory R_A Evict: without action 1"}},
    {"moesi_broadcast_home", {}},
    {"mesif_broadcast_home", {}},
    {"mesi_directory_tags", {}},
};

struct Part {
  const NetworkSurvivors* survivors;
  std::size_t number;
};
void PrintTo(const Part& part, std::ostream* out) {
  *out << part.survivors->protocol << ", part " << part.number;
}

std::vector<Part> all_parts() {
  std::vector<Part> parts;
  for (const NetworkSurvivors& survivors : kNetworkSurvivors) {
    for (std::size_t number = 0; number < kParts; ++number) parts.push_back({&survivors, number});
  }
  return parts;
}

// One system with the correct protocol, and the checker's result for it, which is computed on demand.
struct Reference {
  NetworkCheckOptions options;
  std::optional<NetworkCheckResult> result;
};

// Systems of growing size. Most mutants are noticed in the smallest.
std::vector<Reference> references(const NetworkProtocols& good) {
  std::vector<Reference> references = {{{.agents = 2, .caches = 1}, std::nullopt}};
  for (const NetworkCheckOptions& usual : default_systems(good)) references.push_back({usual, std::nullopt});
  return references;
}

// The protocol with this name: the directory's, or else the node's.
Protocol& part_of(NetworkProtocols& protocols, const std::string& name) {
  return protocols.directory.name == name ? protocols.directory : *protocols.node;
}

bool noticed(const NetworkProtocols& good, const NetworkProtocols& mutant, std::vector<Reference>& references) {
  return std::any_of(references.begin(), references.end(), [&](Reference& reference) {
    if (!reference.result) reference.result = check_network(good, reference.options);
    const NetworkCheckResult found = check_network(mutant, reference.options);
    return found.violation || found.states != reference.result->states ||
           found.unreached.size() != reference.result->unreached.size();
  });
}

class BrokenNetworkRows : public testing::TestWithParam<Part> {};

TEST_P(BrokenNetworkRows, AreNoticedButForThoseThatDoNoHarm) {
  const std::string name = GetParam().survivors->protocol;
  const NetworkProtocols good = shipped_network(name);
  std::vector<Reference> good_results = references(good);
  NetworkProtocols broken = good;
  const Protocol whole = part_of(broken, name);
  const std::vector<Mutant> mutants = mutants_of(whole);
  const std::size_t step = kParts * (std::getenv("LINEBOUNCE_ALL_MUTANTS") != nullptr ? 1 : kSampled);
  std::vector<std::string> survivors;
  std::size_t tried = 0;
  for (std::size_t i = GetParam().number; i < mutants.size(); i += step) {
    ++tried;
    part_of(broken, name) = mutants[i].of(whole);
    if (!noticed(good, broken, good_results)) survivors.push_back(mutants[i].name);
  }
  fmt::print("{} of {} mutants noticed\n", tried - survivors.size(), tried);
  EXPECT_THAT(survivors, testing::IsSubsetOf(GetParam().survivors->expected));
  EXPECT_GE(1.0 - static_cast<double>(GetParam().survivors->expected.size()) / static_cast<double>(mutants.size()),
            kLeastNetworkShare);
}

INSTANTIATE_TEST_SUITE_P(Networks, BrokenNetworkRows, testing::ValuesIn(all_parts()), [](const auto& instance) {
  return fmt::format("{}_{}", instance.param.survivors->protocol, instance.param.number);
});

}  // namespace
}  // namespace linebounce::test
