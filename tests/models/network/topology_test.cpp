#include "models/network/topology.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <stdexcept>

namespace linebounce {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

NetworkSpec network(Topology topology) {
  NetworkSpec spec;
  spec.topology = topology;
  spec.latency_ns = 20;
  spec.bandwidth_mb_per_s = 1000;
  return spec;
}

NetworkSpec listed(std::vector<LinkSpec> links) {
  NetworkSpec spec = network(Topology::links);
  spec.links = std::move(links);
  return spec;
}

std::size_t hops(const NetworkMap& map, int from, int to) {
  return map.way(from, to).size();
}

double latency_ns(const NetworkMap& map, int from, int to) {
  double sum = 0;
  for (const int link : map.way(from, to)) sum += map.links[static_cast<std::size_t>(link)].latency_ns;
  return sum;
}

// The nodes that a message visits on its way, its ends included.
std::vector<int> places(const NetworkMap& map, int from, int to) {
  std::vector<int> visited = {from};
  for (const int link : map.way(from, to)) visited.push_back(map.links[static_cast<std::size_t>(link)].to);
  return visited;
}

std::string refusal(const NetworkSpec& spec, int nodes) {
  try {
    lay_links(spec, nodes);
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "no error";
}

TEST(NetworkMap, ACrossbarIsEnteredWithItsWholeLatencyAndLeftWithNone) {
  const NetworkMap map = lay_links(network(Topology::crossbar), 4);
  EXPECT_EQ(map.links.size(), 8U);
  EXPECT_EQ(map.places, 5);
  EXPECT_THAT(places(map, 1, 3), ElementsAre(1, 4, 3));
  EXPECT_DOUBLE_EQ(map.links[static_cast<std::size_t>(map.way(1, 3)[0])].latency_ns, 20);
  EXPECT_DOUBLE_EQ(map.links[static_cast<std::size_t>(map.way(1, 3)[1])].latency_ns, 0);
  EXPECT_DOUBLE_EQ(map.links[static_cast<std::size_t>(map.way(1, 3)[1])].bandwidth_mb_per_s, 1000);
}

TEST(NetworkMap, FullyConnectedNodesAreOneLinkApart) {
  const NetworkMap map = lay_links(network(Topology::fully_connected), 5);
  EXPECT_EQ(map.links.size(), 5U * 4U);
  EXPECT_EQ(hops(map, 4, 0), 1U);
}

TEST(NetworkMap, ARingIsGoneAroundOnItsShorterSide) {
  const NetworkMap map = lay_links(network(Topology::ring), 8);
  EXPECT_EQ(map.links.size(), 16U);
  EXPECT_THAT(places(map, 1, 6), ElementsAre(1, 0, 7, 6));
  EXPECT_DOUBLE_EQ(latency_ns(map, 1, 6), 60);
}

TEST(NetworkMap, TwoNodesInARingHaveOneLinkEachWay) {
  EXPECT_EQ(lay_links(network(Topology::ring), 2).links.size(), 2U);
  EXPECT_EQ(lay_links(network(Topology::torus), 4).links.size(), 8U);
}

// 0 1 2 3
// 4 5 6 7
TEST(NetworkMap, AMeshIsAsSquareAsItCanBeAndWiderThanHigh) {
  const NetworkMap map = lay_links(network(Topology::mesh), 8);
  EXPECT_EQ(map.links.size(), 2U * 10U);
  EXPECT_EQ(hops(map, 0, 7), 4U);
  NetworkSpec line = network(Topology::mesh);
  line.columns = 8;
  EXPECT_EQ(hops(lay_links(line, 8), 0, 7), 7U);
}

TEST(NetworkMap, AMeshOfOneColumnIsALine) {
  NetworkSpec line = network(Topology::mesh);
  line.columns = 1;
  EXPECT_EQ(hops(lay_links(line, 9), 0, 8), 8U);
}

TEST(NetworkMap, ATorusClosesItsRowsAndColumns) {
  const NetworkMap map = lay_links(network(Topology::torus), 16);
  EXPECT_EQ(map.links.size(), 16U * 4U);
  EXPECT_EQ(hops(map, 0, 3), 1U);
  EXPECT_EQ(hops(map, 0, 15), 2U);
}

TEST(NetworkMap, InAHypercubeNodesAreAsFarApartAsTheirNumbersDifferInBits) {
  const NetworkMap map = lay_links(network(Topology::hypercube), 8);
  EXPECT_EQ(map.links.size(), 8U * 3U);
  EXPECT_EQ(hops(map, 0, 7), 3U);
  EXPECT_EQ(hops(map, 2, 3), 1U);
}

TEST(NetworkMap, OfWaysOfOneLengthTheOneToTheLowestNumberIsTaken) {
  EXPECT_THAT(places(lay_links(network(Topology::ring), 4), 0, 2), ElementsAre(0, 1, 2));
  EXPECT_THAT(places(lay_links(network(Topology::ring), 4), 3, 1), ElementsAre(3, 0, 1));
  EXPECT_THAT(places(lay_links(network(Topology::mesh), 9), 8, 0), ElementsAre(8, 5, 2, 1, 0));
}

TEST(NetworkMap, LatencyDecidesBeforeTheNumberOfLinks) {
  const NetworkMap map = lay_links(listed({{"0_1", 10, 0}, {"1_2", 10, 0}, {"0_2", 25, 0}}), 3);
  EXPECT_THAT(places(map, 0, 2), ElementsAre(0, 1, 2));
  const NetworkMap even = lay_links(listed({{"0_1", 10, 0}, {"1_2", 10, 0}, {"0_2", 20, 0}}), 3);
  EXPECT_THAT(places(even, 0, 2), ElementsAre(0, 2));
}

TEST(NetworkMap, WithoutAnyLatencyTheFewestLinksAreTaken) {
  NetworkSpec spec = network(Topology::ring);
  spec.latency_ns = 0;
  EXPECT_EQ(hops(lay_links(spec, 6), 0, 5), 1U);
}

// 0.1 + 0.2 is not 0.3 in binary fractions. Nevertheless both paths are equally long.
TEST(NetworkMap, LengthsAreComparedAsIntegers) {
  const NetworkMap map = lay_links(listed({{"0_1", 0.1, 0}, {"1_3", 0.2, 0}, {"0_2", 0.15, 0}, {"2_3", 0.15, 0}}), 4);
  EXPECT_THAT(places(map, 0, 3), ElementsAre(0, 1, 3));
  EXPECT_THAT(places(map, 3, 0), ElementsAre(3, 1, 0));
}

TEST(NetworkMap, OneNodeNeedsNoLinks) {
  for (const Topology topology : {Topology::crossbar, Topology::ring, Topology::torus, Topology::hypercube, Topology::links}) {
    EXPECT_THAT(lay_links(network(topology), 1).links, IsEmpty());
  }
}

TEST(NetworkMap, WhatMakesNoNetworkIsRefused) {
  EXPECT_EQ(refusal(network(Topology::hypercube), 3),
            "machine.network.topology: 3 nodes make no hypercube; legal: 1, 2, 4, 8, 16, 32 or 64 nodes, or another topology");
  NetworkSpec rows = network(Topology::mesh);
  rows.columns = 4;
  EXPECT_EQ(refusal(rows, 6), "machine.network.columns: 6 nodes make no whole rows of 4; legal: a divisor of 6, or 0");
  EXPECT_EQ(refusal(listed({{"0_1", 10, 0}}), 3),
            "machine.network.topology: no links lead from node 2 to node 0; every node must be reached from every other");
  EXPECT_EQ(refusal(listed({{"0_1", 10, 0}, {"1_4", 10, 0}}), 2),
            "machine.network.link.1_4: there is no node 4; the machine's nodes are 0 to 1");
}

TEST(NetworkMap, ALinksNameIsTwoNumbersTheLowerFirst) {
  EXPECT_EQ(parse_link_name("3_12").low, 3);
  EXPECT_EQ(parse_link_name("3_12").high, 12);
  for (const char* name : {"", "_", "0", "0_", "_1", "1_0", "2_2", "0-1", "a_b", "01_2", "0_1_2", "0_99999999999"}) {
    EXPECT_EQ(parse_link_name(name).low, -1) << name;
  }
}

// If links have room for few messages, the messages around a large ring could all wait for the next link.
TEST(NetworkMap, OnlyWaysThatGoAroundCanWaitInACircle) {
  EXPECT_EQ(circle_of_links(lay_links(network(Topology::ring), 5)).size(), 5U) << "no way has more than two links";
  EXPECT_EQ(circle_of_links(lay_links(network(Topology::ring), 6)).size(), 6U);
  EXPECT_FALSE(circle_of_links(lay_links(network(Topology::torus), 25)).empty());
  for (const Topology topology : {Topology::crossbar, Topology::fully_connected, Topology::mesh, Topology::hypercube}) {
    EXPECT_THAT(circle_of_links(lay_links(network(topology), 16)), IsEmpty());
    EXPECT_THAT(circle_of_links(lay_links(network(topology), 64)), IsEmpty());
  }
}

RC_GTEST_PROP(NetworkMap, EveryWayArrivesAndIsAsLongAsTheWayBack, ()) {
  const auto topology =
      *rc::gen::element(Topology::crossbar, Topology::fully_connected, Topology::ring, Topology::mesh, Topology::torus);
  const int nodes = *rc::gen::inRange(1, 20);
  const NetworkMap map = lay_links(network(topology), nodes);
  for (int from = 0; from < nodes; ++from) {
    for (int to = 0; to < nodes; ++to) {
      RC_ASSERT(places(map, from, to).back() == to);
      RC_ASSERT(latency_ns(map, from, to) == latency_ns(map, to, from));
      RC_ASSERT(hops(map, from, to) == hops(map, to, from));
    }
  }
}

TEST(NetworkMap, AListedLinksTwoWaysMayDiffer) {
  const NetworkMap map = lay_links(listed({{.name = "0_1", .latency_ns = 10, .bandwidth_mb_per_s = 100, .back_latency_ns = 30},
                                           {.name = "1_2", .latency_ns = 7, .back_bandwidth_mb_per_s = 5}}),
                                   3);
  EXPECT_DOUBLE_EQ(latency_ns(map, 0, 2), 17);
  EXPECT_DOUBLE_EQ(latency_ns(map, 2, 0), 37);
  EXPECT_DOUBLE_EQ(map.links[static_cast<std::size_t>(map.way(1, 0)[0])].bandwidth_mb_per_s, 100);
  EXPECT_DOUBLE_EQ(map.links[static_cast<std::size_t>(map.way(1, 2)[0])].bandwidth_mb_per_s, 0);
  EXPECT_DOUBLE_EQ(map.links[static_cast<std::size_t>(map.way(2, 1)[0])].bandwidth_mb_per_s, 5);
}

TEST(NetworkMap, APairMayHaveACostBesideItsLinks) {
  NetworkSpec spec = network(Topology::ring);
  spec.pairs = {{.name = "0_2", .latency_ns = 4, .back_latency_ns = 9}, {.name = "1_3", .latency_ns = 2}};
  const auto costs = pair_costs_ns(spec, 4);
  EXPECT_THAT(costs[0], ElementsAre(0, 0, 4, 0));
  EXPECT_THAT(costs[2], ElementsAre(9, 0, 0, 0));
  EXPECT_THAT(costs[3], ElementsAre(0, 2, 0, 0));
  spec.pairs = {{.name = "0_4", .latency_ns = 4}};
  EXPECT_THROW(pair_costs_ns(spec, 4), std::invalid_argument);
}

}  // namespace
}  // namespace linebounce
