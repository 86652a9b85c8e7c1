// The functional machine performs each access at once, in the order of the calls. Whatever its caches do, a load must
// therefore return what a plain map contains.
#include "commands/bench/functional_machine.hpp"

#include <gmock/gmock.h>

#include <map>

#include "sim/config/protocol_file.hpp"

// Must follow GoogleTest, which this header uses without including it.
#include <rapidcheck/gtest.h>

namespace linebounce::sim {
namespace {

using Processor = FunctionalMachine::Processor;

constexpr Address kBase = 0x10000;
constexpr int kLineBytes = 32;
constexpr std::uint64_t kWords = 512;  // 128 lines, twice the capacity of small_machine()'s outer cache

// Caches so small that a random stream constantly evicts lines.
MachineSpec small_machine(int cpus) {
  MachineSpec machine;
  machine.cpus = cpus;
  machine.caches = {{"L1D", 1, 2, kLineBytes, 3}, {"L2", 2, 2, kLineBytes, 9}};
  return machine;
}

enum class Kind : std::uint8_t { load, store, add };

struct Reference {
  int cpu = 0;
  Address address = 0;
  Kind kind = Kind::load;
  Value value = 0;
};

std::vector<Reference> any_references(int cpus, std::uint64_t words) {
  const auto reference = rc::gen::apply(
      [](int cpu, std::uint64_t word, int kind, Value value) {
        return Reference{cpu, kBase + word * 8, static_cast<Kind>(kind), value};
      },
      rc::gen::inRange(0, cpus), rc::gen::inRange<std::uint64_t>(0, words), rc::gen::inRange(0, 3),
      rc::gen::arbitrary<Value>());
  // Streams are long, because short ones never fill a set.
  return *rc::gen::resize(2000, rc::gen::container<std::vector<Reference>>(reference));
}

std::ostream& operator<<(std::ostream& out, const Reference& reference) {
  return out << "cpu " << reference.cpu << " word " << (reference.address - kBase) / 8 << " kind "
             << static_cast<int>(reference.kind) << " value " << reference.value;
}

// A functional machine, and a map with the values that its loads must return.
class Pair {
 public:
  Pair(const Protocol& protocol, int cpus) : machine_(small_machine(cpus), protocol) {
    for (int cpu = 0; cpu < cpus; ++cpu) processors_.emplace_back(machine_, cpu);
  }

  void run(const Reference& reference) {
    Processor& processor = processors_[static_cast<std::size_t>(reference.cpu)];
    Value& expected = memory_[reference.address];
    if (reference.kind == Kind::load) {
      RC_ASSERT(processor.load(reference.address) == expected);
    } else if (reference.kind == Kind::store) {
      processor.store(reference.address, reference.value);
      expected = reference.value;
    } else {
      RC_ASSERT(processor.fetch_add(reference.address, reference.value) == expected);
      expected += reference.value;
    }
  }

  // Bit n is set if CPU n has a copy.
  std::uint64_t holders(Address address) {
    LineStore& store = machine_.store();
    return store.holders(store.slot(store.line_of(address)));
  }

 private:
  FunctionalMachine machine_;
  std::vector<Processor> processors_;
  std::map<Address, Value> memory_;
};

TEST(FunctionalMachine, AStoreIsSeenByTheOtherCpus) {
  const Protocol protocol = load_protocol("mesi_snoop");
  FunctionalMachine machine(small_machine(2), protocol);
  Processor first(machine, 0);
  Processor second(machine, 1);
  EXPECT_EQ(second.load(kBase), 0U);
  first.store(kBase, 7);
  EXPECT_EQ(second.load(kBase), 7U);
  EXPECT_EQ(second.fetch_add(kBase, 3), 7U);
  EXPECT_EQ(first.load(kBase), 10U);
}

TEST(FunctionalMachine, TheFirstLoadReturnsTheInitialContentOfMemory) {
  const Protocol protocol = load_protocol("mesi_snoop");
  FunctionalMachine machine(small_machine(1), protocol);
  machine.store().preset(kBase + 8, 8, 42);
  Processor cpu(machine, 0);
  EXPECT_EQ(cpu.load(kBase + 8), 42U);
  EXPECT_EQ(cpu.load(kBase), 0U);
}

TEST(FunctionalMachine, DirtyLinesSurviveTheirEviction) {
  const Protocol protocol = load_protocol("mesi_snoop");
  FunctionalMachine machine(small_machine(1), protocol);
  Processor cpu(machine, 0);
  for (Address word = 0; word < kWords; ++word) cpu.store(kBase + word * 8, word + 1);
  LineStore& store = machine.store();
  EXPECT_EQ(store.holders(store.slot(store.line_of(kBase))), 0U) << "nothing was evicted: the test is too small";
  for (Address word = 0; word < kWords; ++word) EXPECT_EQ(cpu.load(kBase + word * 8), word + 1);
}

RC_GTEST_PROP(FunctionalMachine, OneCpuSeesWhatAPlainMapHolds, ()) {
  const Protocol protocol = load_protocol("mesi_snoop");
  Pair pair(protocol, 1);
  for (const Reference& reference : any_references(1, kWords)) pair.run(reference);
}

RC_GTEST_PROP(FunctionalMachine, SeveralCpusSeeOneMemoryWhateverTheProtocol, ()) {
  const Protocol protocol = load_protocol(*rc::gen::element<std::string>(
      "mesi_snoop", "mesi_snoop_upgrade_retry", "msi_snoop", "dragon_snoop", "mesi_far_snoop", "mesi_migratory_snoop"));
  Pair pair(protocol, 4);
  for (const Reference& reference : any_references(4, kWords)) pair.run(reference);
}

// Few lines, so that CPUs share them: after a write, only the writer has a copy.
RC_GTEST_PROP(FunctionalMachine, AWriterIsTheOnlyHolder, ()) {
  const Protocol protocol = load_protocol("mesi_snoop");
  Pair pair(protocol, 4);
  for (const Reference& reference : any_references(4, 16)) {
    pair.run(reference);
    const std::uint64_t mine = std::uint64_t{1} << reference.cpu;
    const std::uint64_t holders = pair.holders(reference.address);
    RC_ASSERT((holders & mine) == mine);
    if (reference.kind != Kind::load) RC_ASSERT(holders == mine);
  }
}

}  // namespace
}  // namespace linebounce::sim
