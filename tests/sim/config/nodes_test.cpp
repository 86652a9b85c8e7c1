// Machines with several nodes: their keys, and the conditions between them.
#include <map>

#include "fixture.hpp"

namespace linebounce::sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Nodes : public ConfigFiles {
 protected:
  void SetUp() override {
    ConfigFiles::SetUp();
    write("n.toml", node_machine());
  }
  // The error message for node_machine() with one line replaced.
  std::string with(const std::string& part, const std::string& replacement) const {
    return machine_error(replace_line(node_machine(), part, replacement));
  }
  static std::string on_nodes(const std::string& more = "") {
    return replace_line(ConfigFiles::kExperiment, "machine", "machine = \"n.toml\"") + more;
  }
  std::string set_error(const std::string& path, const std::string& value) const {
    return experiment_error(on_nodes(), {{}, {{path, value}}, {}});
  }
};

TEST_F(Nodes, EveryKeyReachesItsMember) {
  const MachineSpec spec = load_machine(write("x.toml", R"(name = "m"
cpus = 8
nodes = 4
buses_per_node = 2
cpu_nodes = "0 1"
cpu.clock_mhz = 1000
cache.L1D = { size_kib = 16, ways = 4, line_bytes = 64, hit_latency_cycles = 3 }
bus = { protocol = "mesi_snoop", clock_mhz = 100, width_bytes = 8 }
memory = { latency_ns = 100, nodes = "2 3", placement = "interleaved", page_kib = 4 }
directory = { protocol = "mesi_directory", latency_ns = 1 }
[node]
protocol = "mesi_node"
latency_ns = 2
occupancy_ns = 3
request_crossing_ns = 4
line_crossing_ns = 5
cache_size_kib = 1024
cache_ways = 8
cache_latency_ns = 6
[network]
topology = "links"
header_bytes = 8
credits = 0
[network.link.1_2]
latency_ns = 10
[network.link.0_3]
latency_ns = 12
bandwidth_mb_per_s = 500
[network.link.0_1]
latency_ns = 11
)"))
                               .spec;
  EXPECT_EQ(spec.nodes, 4);
  EXPECT_EQ(spec.buses_per_node, 2);
  EXPECT_EQ(spec.cpu_nodes, "0 1");
  EXPECT_EQ(spec.memory.nodes, "2 3");
  EXPECT_EQ(spec.memory.placement, Placement::interleaved);
  EXPECT_EQ(spec.memory.page_kib, 4);
  EXPECT_EQ(spec.directory.protocol, "mesi_directory");
  EXPECT_DOUBLE_EQ(spec.directory.latency_ns, 1);
  EXPECT_TRUE(spec.has_nodes());
  EXPECT_EQ(spec.node.protocol, "mesi_node");
  EXPECT_DOUBLE_EQ(spec.node.latency_ns + 10 * spec.node.occupancy_ns, 32);
  EXPECT_DOUBLE_EQ(spec.node.request_crossing_ns + 10 * spec.node.line_crossing_ns, 54);
  EXPECT_EQ(spec.node.cache_size_kib, 1024);
  EXPECT_EQ(spec.node.cache_ways, 8);
  EXPECT_DOUBLE_EQ(spec.node.cache_latency_ns, 6);
  EXPECT_EQ(spec.network.topology, Topology::links);
  EXPECT_EQ(spec.network.header_bytes, 8);
  ASSERT_EQ(spec.network.links.size(), 3U);
  EXPECT_EQ(spec.network.links[0].name, "0_1");
  EXPECT_EQ(spec.network.links[1].name, "0_3");
  EXPECT_DOUBLE_EQ(spec.network.links[1].bandwidth_mb_per_s, 500);
  EXPECT_DOUBLE_EQ(spec.network.links[2].latency_ns, 10);
}

TEST_F(Nodes, AMachineThatIsOneBusShowsNothingOfNodes) {
  for (const auto& parameter : load_machine(path("m.toml")).parameters) {
    EXPECT_THAT(parameter.path, AllOf(Not(HasSubstr(".node")), Not(HasSubstr(".network")), Not(HasSubstr("memory.page"))));
  }
  const std::string text = to_toml(load(kExperiment).resolved);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("node")), Not(HasSubstr("network")), Not(HasSubstr("directory"))));
  // A value that the user has set explicitly stays.
  const Overrides set{{}, {{"machine.memory.placement", "interleaved"}}, {}};
  EXPECT_THAT(to_toml(load(kExperiment, set).resolved), HasSubstr("placement = \"interleaved\""));
}

TEST_F(Nodes, AResolvedMachineOfNodesReadsBackTheSame) {
  write("n.toml", replace_line(node_machine() + "[network.link.0_1]\nlatency_ns = 5\n", "topology", "topology = \"links\""));
  const Experiment first = load(on_nodes("[placement]\n\"a.b[0]\" = \"node 1\"\na = \"interleaved\"\n"));
  const std::string text = to_toml(first.resolved);
  EXPECT_THAT(text, HasSubstr("[machine.network.link.0_1]\n"));
  EXPECT_THAT(text, HasSubstr("[placement]\na = \"interleaved\"\n\"a.b[0]\" = \"node 1\"\n"));
  const Experiment second = load_experiment(write("config.toml", text), {}, test_catalogue());
  EXPECT_EQ(to_toml(second.resolved), text);
  EXPECT_EQ(configuration_hash(second.resolved), configuration_hash(first.resolved));
}

TEST_F(Nodes, TheHashFollowsTheTextOfEveryProtocol) {
  for (const std::string part : {"node", "directory"}) {
    copy_protocol("mesi_" + part, "mine.md");
    const std::string key = "\"machine." + part + ".protocol\"";
    const auto set = load(on_nodes("[set]\n" + key + " = \"mine.md\"\n")).resolved;
    const auto swept = load(on_nodes("[sweep]\n" + key + " = [\"mine.md\", \"mesi_" + part + "\"]\n")).resolved;
    const auto before = configuration_hash(set);
    const auto before_swept = configuration_hash(swept);
    std::ofstream(path("mine.md"), std::ios::app) << "\nmore prose\n";
    EXPECT_NE(configuration_hash(set), before) << part;
    EXPECT_NE(configuration_hash(swept), before_swept) << part;
  }
}

// Values that were calibrated for the large machine predict the small ones only if nothing is fitted again.
TEST_F(Nodes, TheItaniumMachinesDifferInTheirNumberOfCpusAndNodesOnly) {
  const auto values = [](const std::string& machine) {
    std::map<std::string, std::string> all;
    for (const auto& parameter : load_machine(machine).parameters) all[parameter.path] = parameter.value;
    for (const char* path : {"machine.cpus", "machine.nodes"}) EXPECT_EQ(all.erase(path), 1U) << path;
    return all;
  };
  EXPECT_EQ(values("itanium2_single_node"), values("itanium2_two_node_16way"));
  EXPECT_EQ(values("itanium2_split_node"), values("itanium2_two_node_16way"));
}

TEST_F(Nodes, NodesAndBusesNeedControllersAndDirectories) {
  EXPECT_EQ(machine_error(replace_line(kMachine, "cpus = 4", "cpus = 4\nnodes = 2")),
            "x.toml:4:9: nodes: 2 need controllers behind their buses: give node.protocol and directory.protocol; legal "
            "without: 1");
  EXPECT_THAT(machine_error(replace_line(kMachine, "cpus = 4", "cpus = 4\nbuses_per_node = 2")),
              HasSubstr("x.toml:4:18: buses_per_node: 2 need controllers"));
  const std::string two_lines = "[directory]\nprotocol = \"mesi_directory\"\n";
  std::string without = node_machine();
  EXPECT_EQ(machine_error(without.erase(without.find(two_lines), two_lines.size())),
            "x.toml: directory.protocol: is missing: with node.protocol, homes have directories; legal: the name of a protocol "
            "with a directory's table, or a path");
  EXPECT_EQ(machine_error(replace_line(kMachine, "[sources]", "[network]\nlatency_ns = 5\n[sources]")),
            "x.toml:24:14: network.latency_ns: has no effect, the machine is one bus: give node.protocol and "
            "directory.protocol, or leave this out");
  EXPECT_THAT(machine_error(replace_line(kMachine, "[sources]", "[directory]\nprotocol = \"mesi_directory\"\n[sources]")),
              HasSubstr("x.toml:24:12: directory.protocol: has no effect, the machine is one bus"));
}

TEST_F(Nodes, ProtocolsOfNodesAndDirectoriesAreLookedUpLikeTheBuses) {
  EXPECT_THAT(set_error("machine.node.protocol", "mesi_nod"),
              HasSubstr("--set: machine.node.protocol: protocol \"mesi_nod\" is not known; did you mean mesi_node"));
  EXPECT_THAT(set_error("machine.bus.protocol", "mesi_far_snoop"),
              HasSubstr("mesi_node is for mesi_snoop and mesi_directory, and can't be used with mesi_far_snoop and "
                        "mesi_directory; for those: mesi_node_far"));
  EXPECT_THAT(set_error("machine.directory.protocol", "x"), HasSubstr("--set: machine.directory.protocol: protocol \"x\""));
  copy_protocol("mesi_node", "mine.md");
  const auto text = on_nodes("[set]\n\"machine.node.protocol\" = \"mine.md\"\n");
  EXPECT_EQ(expand(load(text)).at(0).input.machine.node.protocol, path("mine.md"));
}

TEST_F(Nodes, CoresSpreadEvenlyOverBuses) {
  EXPECT_EQ(with("nodes = 2", "nodes = 3"),
            "x.toml:3:8: cpus: 4 cores do not spread evenly over 3 buses (3 nodes with CPUs, 1 buses each)");
  EXPECT_EQ(with("nodes = 2", "nodes = 3\ncpu_nodes = \"0 2\""), "no error");
  EXPECT_EQ(with("nodes = 2", "nodes = 2\ncpu_nodes = \"0 2\""),
            "x.toml:5:13: cpu_nodes: '2' is not a node of this machine; legal: \"all\", or numbers from 0 to 1");
}

TEST_F(Nodes, ADirectorysEntryHasABitForEachOf64Buses) {
  EXPECT_EQ(with("nodes = 2", "nodes = 65"), "x.toml:4:9: nodes: 65 is out of range; legal: 1 to 64");
  EXPECT_EQ(with("cpus = 4", "cpus = 513"), "x.toml:3:8: cpus: 513 is out of range; legal: 1 to 512");
  EXPECT_EQ(with("nodes = 2", "nodes = 64\ncpu_nodes = \"0\"\nbuses_per_node = 2"),
            "x.toml:6:18: buses_per_node: 64 nodes of 2 buses are 128 buses; a directory's entry has room for 64");
  EXPECT_EQ(with("nodes = 2", "nodes = 64\ncpu_nodes = \"0\""), "no error");
}

TEST_F(Nodes, SomeNodeHasMemory) {
  EXPECT_EQ(with("latency_ns = 100", "latency_ns = 100\nnodes = \"\""),
            "x.toml:24:9: memory.nodes: no node is named; legal: \"all\", or numbers, \"0 1\"");
  EXPECT_EQ(with("latency_ns = 100", "latency_ns = 100\nnodes = \"2\""),
            "x.toml:24:9: memory.nodes: '2' is not a node of this machine; legal: \"all\", or numbers from 0 to 1");
  EXPECT_EQ(with("latency_ns = 100", "latency_ns = 100\nnodes = \"1\""), "no error");
  EXPECT_EQ(with("latency_ns = 100", "latency_ns = 100\nplacement = \"remote\""),
            "x.toml:24:13: memory.placement: \"remote\" is not known; known: local, first_touch, interleaved");
}

TEST_F(Nodes, PagesAndTheCachesSetsArePowersOfTwo) {
  EXPECT_EQ(with("latency_ns = 100", "latency_ns = 100\npage_kib = 3"),
            "x.toml:24:12: memory.page_kib: 3 KiB is not a page size; legal: powers of two, at least a line of 64 bytes");
  EXPECT_EQ(with("[directory]", "cache_size_kib = 48\ncache_ways = 4\n[directory]"),
            "x.toml:26:18: node.cache_size_kib: 48 KiB in 4 ways of 64-byte lines make 192 sets; the number of sets must be a "
            "power of two");
  EXPECT_EQ(with("[directory]", "cache_size_kib = 64\ncache_ways = 4\n[directory]"), "no error");
}

TEST_F(Nodes, ATopologyFitsTheNumberOfNodes) {
  EXPECT_THAT(
      with("topology", "topology = \"web\""),
      HasSubstr("x.toml:29:12: network.topology: \"web\" is not known; known: crossbar, fully_connected, ring, mesh, "));
  EXPECT_EQ(machine_error(replace_line(replace_line(node_machine(), "topology", "topology = \"hypercube\""), "nodes = 2",
                                       "nodes = 3\ncpu_nodes = \"0 1\"")),
            "x.toml:30:12: network.topology: 3 nodes make no hypercube; legal: 1, 2, 4, 8, 16, 32 or 64 nodes, or another "
            "topology");
  EXPECT_EQ(with("topology", "topology = \"mesh\"\ncolumns = 3"),
            "x.toml:30:11: network.columns: 2 nodes make no whole rows of 3; legal: a divisor of 2, or 0");
}

TEST_F(Nodes, ListedLinksJoinNodesThatExist) {
  const auto listed = [this](const std::string& links) {
    return machine_error(replace_line(node_machine() + links, "topology", "topology = \"links\""));
  };
  EXPECT_EQ(listed("[network.link.0_1]\nlatency_ns = 5\n"), "no error");
  EXPECT_EQ(listed(""),
            "x.toml:29:12: network.topology: no links lead from node 1 to node 0; every node must be reached from every other");
  EXPECT_EQ(listed("[network.link.0_2]\nlatency_ns = 5\n"),
            "x.toml:35:14: network.link.0_2: there is no node 2; the machine's nodes are 0 to 1");
  const std::string form =
      "a link's name is the numbers of the two nodes that it joins, the lower one first: [network.link.0_1]";
  EXPECT_EQ(listed("[network.link.1_0]\nlatency_ns = 5\n"), "x.toml:34:15: network.link.1_0: " + form);
  EXPECT_EQ(listed("[network.link.left]\nlatency_ns = 5\n"), "x.toml:34:15: network.link.left: " + form);
  EXPECT_EQ(listed("[network.link.0_1]\nbandwidth_mb_per_s = 5\n"),
            "x.toml: network.link.0_1.latency_ns: this key is missing and has no default (from one end to the other, in ns)");
  EXPECT_EQ(listed("[network.link.0_1]\nlatency_us = 5\n"),
            "x.toml:35:14: network.link.0_1.latency_us: unknown key; did you mean latency_ns, in ns?");
  EXPECT_EQ(machine_error(node_machine() + "[network.link.0_1]\nlatency_ns = 5\n"),
            "x.toml:35:14: network.link.0_1: links are listed for topology = \"links\" only; choose that, or leave them out");
}

// A ring of 6 nodes whose links have room for 4 messages: the messages around the ring could all wait for the next link.
TEST_F(Nodes, LinksWithLittleRoomMustNotWaitInACircle) {
  const auto six = replace_line(node_machine(), "nodes = 2", "nodes = 6\ncpu_nodes = \"0 1\"");
  EXPECT_EQ(machine_error(replace_line(six, "topology", "topology = \"ring\"\ncredits = 4")),
            "x.toml:31:11: network.credits: with room for 4 messages, links of this topology can wait for each other in a "
            "circle; legal: 0, or a topology whose ways make no circle (crossbar, fully_connected, mesh, hypercube)");
  EXPECT_EQ(machine_error(replace_line(six, "topology", "topology = \"mesh\"\ncredits = 4")), "no error");
}

TEST_F(Nodes, ObjectsAreToldWhereTheirMemoryIs) {
  const auto text = on_nodes(
      "[placement]\n\"rq[3]\" = \"node 1\"\nlist = \"interleaved\"\n[sweep]\n\"placement.lock\" = [\"local\", "
      "\"first_touch\"]\n");
  const auto points = expand(load(text, {{}, {{"placement.list", "node 0"}}, {}}));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].input.placement,
            (std::map<std::string, Home>{
                {"rq[3]", Home::on_os_node(1)}, {"list", Home::on_os_node(0)}, {"lock", Home::by(Placement::local)}}));
  EXPECT_EQ(points[1].input.placement.at("lock"), Home::by(Placement::first_touch));
  EXPECT_NE(configuration_hash(points[0].resolved), configuration_hash(points[1].resolved));
  EXPECT_TRUE(load(on_nodes(), {{}, {{"placement.x", "local"}}, {}}).overridden);
}

TEST_F(Nodes, APlaceIsAPolicyOrANodeWithMemory) {
  write("n.toml", replace_line(node_machine(), "latency_ns = 100", "latency_ns = 100\nnodes = \"1\""));
  const std::string legal = " is not a place; legal: local, first_touch, interleaved, or a node with memory: node 1";
  EXPECT_EQ(experiment_error(on_nodes("[placement]\nx = \"node 0\"\n")), "e.toml:12:5: placement.x: \"node 0\"" + legal);
  EXPECT_EQ(experiment_error(on_nodes("[placement]\nx = \"node\"\n")), "e.toml:12:5: placement.x: \"node\"" + legal);
  EXPECT_EQ(experiment_error(on_nodes("[placement]\nx = 1\n")),
            "e.toml:12:5: placement.x: expected a string, found an integer (1)");
  EXPECT_EQ(set_error("placement.x", "node 7"), "--set: placement.x: \"node 7\"" + legal);
  EXPECT_EQ(experiment_error(kExperiment, {{}, {{"placement.x", "node 0"}}, {}}), "no error");
}

}  // namespace
}  // namespace linebounce::sim
