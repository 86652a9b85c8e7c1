// What does it cost a CPU to access a line that another CPU has? Measures every ordered pair of CPUs, every home of the line,
// and every state in which the giver leaves it.
//
// One CPU works at a time. A measurement consists of a few steps. The CPU of a step writes into the mailbox of the CPU of the
// next step; all others spin on their own mailboxes. So only the measured access is in flight when it is measured. Only the
// giver, the receiver and, for Shared, one more reader touch the measured line. Every measurement uses a line that no cache has
// seen. The receiver reads its own clock before and after the access.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <stdexcept>

#include "workloads/program/random.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

enum StartState { kModified, kExclusive, kShared, kStates };
constexpr std::array<const char*, kStates> kStateNames = {"Modified", "Exclusive", "Shared"};
constexpr std::array<const char*, kStates> kStateKeys = {"modified", "exclusive", "shared"};  // names in parameters and metrics

// The receiver waits this long after it was called, until all traffic of the call itself is over. It waits up to
// kReceiverPhases cycles more, so that measurements meet every phase of the slower clocks.
constexpr std::int64_t kReceiverSettleCycles = 2000;
constexpr std::uint64_t kReceiverPhases = 256;

// The positions of giver, receiver and home relative to each other.
enum Where { kSameNode, kOtherNode, kThirdNodeHome, kWheres };
constexpr std::array<const char*, kWheres> kWhereNames = {"same_node", "other_node", "third_node_home"};

struct CoreToCoreOptions {
  std::int64_t repetitions = 8;
  std::string states = "all";
  std::string homes = "all";
  std::string access = "load";
  std::int64_t sharers = 1;

  void bind(ParameterBinder& parameters) {
    parameters.number("repetitions", repetitions, 1, 10000,
                      "of each measurement, each on a new line and in another phase of the clocks");
    parameters.text("states", states, "in which the giver leaves the line", {"all", "modified", "exclusive", "shared"});
    parameters.text(
        "homes", homes,
        "nodes that the lines are at home on: \"all\" that have memory, or numbers, \"0 1\"; \"near\": of each pair's own "
        "nodes those that have memory, and all if neither has");
    parameters.text("access", access,
                    "what the receiver does; upgrade: an atomic operation on a line that it has loaded before",
                    {"load", "atomic", "upgrade"});
    parameters.number("sharers", sharers, 1, kMostCpus,
                      "CPUs that have loaded a Shared line before the giver, those of its node first; at most all others");
  }
};

class CoreToCore final : public Workload {
 public:
  explicit CoreToCore(const Parameters& parameters) : options_(read_options<CoreToCoreOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  [[nodiscard]] bool ends() const override { return true; }
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  enum class Act : std::uint8_t { read, write, measure };
  struct Step {
    int cpu = 0;
    Act act = Act::read;
    std::size_t row = 0;
    Address line = 0;
  };
  struct Row {
    int from = 0;
    int to = 0;
    int home = 0;
    StartState state = kModified;
    double ns = 0;  // sum over all repetitions
    int repetitions = 0;
  };

  [[nodiscard]] std::vector<int> homes_of_lines(const MachineLayout& layout) const;
  [[nodiscard]] bool measures(const Row& row, const MachineLayout& layout) const;
  void add_measurement(const Row& row, Address line);
  [[nodiscard]] std::vector<int> other_readers(int from, int to) const;
  void act(Cpu& cpu, const Step& step, Random& random);
  void measure(Cpu& cpu, const Step& step, Random& random);
  [[nodiscard]] Where where(const Row& row) const;
  [[nodiscard]] bool wants(StartState state) const { return options_.states == "all" || options_.states == kStateKeys[state]; }

  CoreToCoreOptions options_;
  std::uint64_t seed_ = 0;
  std::vector<int> node_of_;  // by CPU
  std::vector<Address> mailboxes_;
  std::vector<Step> steps_;
  std::vector<Row> rows_;
};

void CoreToCore::set_up(const WorkloadSetup& setting) {
  const MachineLayout& layout = setting.layout;
  const int cpus = setting.machine.cpus;
  if (cpus < 2) throw std::invalid_argument("workload core_to_core needs a machine with at least two CPUs in use");
  seed_ = setting.seed;
  AddressSpace& memory = setting.memory;
  const int line = memory.line_bytes();
  const Layout mailbox{.name = "mailbox", .size = line, .alignment = line, .fields = {{"step", 0}}};
  for (int cpu = 0; cpu < cpus; ++cpu) {
    node_of_.push_back(layout.cpus[cpu].node);
    mailboxes_.push_back(memory.place(mailbox, "mailbox[" + std::to_string(cpu) + "]", 0, Home::on(node_of_.back())));
  }
  const int pairs = cpus * (cpus - 1);
  for (const int home : homes_of_lines(layout)) {
    for (int state = 0; state < kStates; ++state) {
      // State Shared needs a third CPU.
      if (!wants(static_cast<StartState>(state)) || (state == kShared && cpus < 3)) continue;
      const std::string name = std::string(kStateKeys[state]) + "_lines_of_node[" + std::to_string(home) + "]";
      Address next = memory.place_array(name, pairs * options_.repetitions * line, Home::on(home));
      for (int pair = 0; pair < pairs; ++pair) {
        const int from = pair / (cpus - 1);
        const int to = pair % (cpus - 1);
        const Row row{from, to < from ? to : to + 1, home, static_cast<StartState>(state)};
        if (!measures(row, layout)) continue;
        rows_.push_back(row);
        for (std::int64_t i = 0; i < options_.repetitions; ++i, next += static_cast<Address>(line))
          add_measurement(rows_.back(), next);
      }
    }
  }
  if (rows_.empty()) throw std::invalid_argument("workload core_to_core: a Shared line needs three CPUs; nothing to measure");
  memory.preset(mailboxes_[steps_.front().cpu], 1);
}

std::vector<int> CoreToCore::homes_of_lines(const MachineLayout& layout) const {
  const bool all = options_.homes == "all" || options_.homes == "near";
  std::vector<int> homes;
  for (const int home : parse_nodes(all ? "all" : options_.homes, layout.nodes(), "workload.homes")) {
    if (std::ranges::binary_search(layout.nodes_with_memory, home)) {
      homes.push_back(home);
    } else if (!all) {
      throw std::invalid_argument("workload.homes: node " + std::to_string(home) + " has no memory");
    }
  }
  return homes;
}

bool CoreToCore::measures(const Row& row, const MachineLayout& layout) const {
  if (options_.homes != "near") return true;
  const int from = node_of_[row.from];
  const int to = node_of_[row.to];
  const auto has_memory = [&layout](int node) {
    return std::binary_search(layout.nodes_with_memory.begin(), layout.nodes_with_memory.end(), node);
  };
  return row.home == from || row.home == to || (!has_memory(from) && !has_memory(to));
}

// For a Shared line, the giver reads last, so that it becomes the forwarder in protocols that have one.
void CoreToCore::add_measurement(const Row& row, Address line) {
  const std::size_t number = rows_.size() - 1;
  if (row.state == kShared) {
    for (const int reader : other_readers(row.from, row.to)) steps_.push_back({reader, Act::read, number, line});
  }
  steps_.push_back({row.from, row.state == kModified ? Act::write : Act::read, number, line});
  steps_.push_back({row.to, Act::measure, number, line});
}

// CPUs of the giver's node come first, so that with few readers only that node has the line.
std::vector<int> CoreToCore::other_readers(int from, int to) const {
  std::vector<int> readers(node_of_.size());
  std::iota(readers.begin(), readers.end(), 0);
  std::erase(readers, from);
  std::erase(readers, to);
  std::stable_partition(readers.begin(), readers.end(), [&](int cpu) { return node_of_[cpu] == node_of_[from]; });
  if (std::ssize(readers) > options_.sharers) readers.resize(options_.sharers);
  return readers;
}

void CoreToCore::run(Cpu& cpu) {
  const int me = cpu.id().value;
  Random random(seed_, static_cast<std::uint64_t>(me), 0);
  const Address mailbox = mailboxes_[me];
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].cpu != me) continue;
    const Value number = i + 1;
    cpu.spin_until_acquire(mailbox, [number](Value called) { return called == number; });
    act(cpu, steps_[i], random);
    if (i + 1 == steps_.size()) return;
    cpu.store_release(mailboxes_[steps_[i + 1].cpu], number + 1);
  }
}

void CoreToCore::act(Cpu& cpu, const Step& step, Random& random) {
  switch (step.act) {
    case Act::read: cpu.load(step.line); break;
    case Act::write:
      cpu.store(step.line, 1);
      cpu.fence();
      break;
    case Act::measure: measure(cpu, step, random); break;
  }
}

void CoreToCore::measure(Cpu& cpu, const Step& step, Random& random) {
  const std::uint64_t phase = random.below(kReceiverPhases);
  if (options_.access == "upgrade") cpu.load(step.line);
  cpu.compute(kReceiverSettleCycles + static_cast<std::int64_t>(phase));
  const double begin = cpu.now_ns();
  if (options_.access == "load") {
    cpu.load(step.line);
  } else {
    cpu.fetch_add(step.line, 1);
  }
  const double end = cpu.now_ns();
  rows_[step.row].ns += end - begin;
  ++rows_[step.row].repetitions;
}

Where CoreToCore::where(const Row& row) const {
  const int from = node_of_[row.from];
  const int to = node_of_[row.to];
  if (from == to) return kSameNode;
  return row.home == from || row.home == to ? kOtherNode : kThirdNodeHome;
}

void CoreToCore::report(const RunFacts&, MetricSink& metrics) const {
  struct Sum {
    double ns = 0;
    int rows = 0;
  };
  std::array<Sum, kWheres> all;  // a home on any other node counts as third_node_home here
  std::array<std::map<std::string, Sum>, kWheres> by_state;
  for (const Row& row : rows_) {
    if (row.repetitions == 0) continue;  // the run was cut short
    const double ns = row.ns / row.repetitions;
    metrics.hand_off({row.from, row.to, row.home, kStateNames[row.state], ns});
    const Where where = this->where(row);
    for (Sum* sum : {&by_state[where][kStateKeys[row.state]], &all[where == kSameNode ? kSameNode : kOtherNode]}) {
      sum->ns += ns;
      ++sum->rows;
    }
  }
  metrics.mean("core_to_core.same_node_ns", "ns", kLower, "mean over pairs in one node, over all states and homes",
               all[kSameNode].ns, all[kSameNode].rows);
  metrics.mean("core_to_core.other_node_ns", "ns", kLower, "mean over pairs on two nodes, over all states and homes",
               all[kOtherNode].ns, all[kOtherNode].rows);
  const std::array<MetricFamily, kWheres> of_state = {
      metrics.family("core_to_core.<state>.same_node_ns", "ns", kLower, "mean over pairs in one node, of lines in that state"),
      metrics.family("core_to_core.<state>.other_node_ns", "ns", kLower,
                     "mean over pairs on two nodes, of lines in that state"),
      metrics.family("core_to_core.<state>.third_node_home_ns", "ns", kLower,
                     "mean over pairs on two nodes with the line's home on a third, of lines in that state")};
  for (std::size_t where = 0; where < kWheres; ++where) {
    for (const auto& [state, sum] : by_state[where]) of_state[where].add({state}, sum.ns / sum.rows);
  }
}

}  // namespace

WorkloadEntry core_to_core_workload() {
  return {"core_to_core",
          "What it costs to move a line from one CPU to another, for every pair, home and state",
          declare<CoreToCoreOptions>(),
          make_workload<CoreToCore>,
          {{"core_to_core.same_node_ns", "same node"}, {"core_to_core.other_node_ns", "other node"}}};
}

}  // namespace linebounce::workloads
