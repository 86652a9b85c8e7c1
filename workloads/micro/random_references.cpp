// A tester in the form of a workload: every CPU does random operations of every kind on a few shared lines, and on lines of
// its own (random_player.hpp). The CPUs check their loads at once. Sums are checked when all programs have ended.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "workloads/locks/lock_set.hpp"
#include "workloads/micro/random_player.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {

namespace random_references {
namespace {

constexpr int kOfEachLock = 2;  // number of locks of each kind: two, so that a CPU may hold two of one kind
// Locks with every way of waiting. A fixed list, so that a new lock in the registry leaves the runs of all seeds unchanged.
constexpr std::array kLocks = {"tas",    "ttas",   "ttas_backoff", "ticket", "mcs",   "clh", "qspinlock",
                               "rwlock", "brlock", "seqlock",      "rcu",    "mutex", "none"};

struct Options {
  std::int64_t operations = 0;
  std::int64_t shared_lines = 4;
  std::int64_t private_lines = 40;
  std::array<std::uint64_t, kShares.size()> shares = {35, 25, 12, 6, 2, 10, 3, 2, 3, 2, 0, 0};

  void bind(ParameterBinder& parameters) {
    parameters.number("operations", operations, 0, 1e12, "per CPU, then sums are checked; 0: until the run is over");
    parameters.number("shared_lines", shared_lines, 1, 10000, "lines that all CPUs use");
    parameters.number("private_lines", private_lines, 1, 100000, "lines of each CPU's own");
    for (std::size_t kind = 0; kind < shares.size(); ++kind)
      parameters.number(kShares[kind], shares[kind], 0, 1e6, "how often, against the other shares");
  }
};

class RandomReferences final : public Workload {
 public:
  explicit RandomReferences(const Parameters& parameters) : options_(read_options<Options>(parameters)) {}

  [[nodiscard]] bool ends() const override { return options_.operations > 0; }
  void set_up(const WorkloadSetup& setting) override {
    if (all_shares_ == 0) throw std::invalid_argument("workload: at least one of the shares must be more than 0");
    AddressSpace& space = setting.memory;
    const std::int64_t line = space.line_bytes();
    seed_ = setting.seed;
    memory_.cpus = setting.machine.cpus;
    memory_.programs_end = options_.operations > 0;
    memory_.line_bytes = static_cast<Address>(line);
    const std::int64_t shared_bytes = std::max<std::int64_t>(options_.shared_lines * line, kRecordBytes);
    memory_.records = shared_bytes / kRecordBytes;
    memory_.shared = space.place_array("records", shared_bytes);
    memory_.clock = space.place_array("clock", line);
    memory_.flags = space.place_array("flags", std::int64_t{8} * memory_.cpus);
    memory_.guarded = space.place_array("guarded", std::int64_t{kOfEachLock} * kGuardedLines * std::ssize(kLocks) * line);
    memory_.private_bytes = static_cast<Address>(options_.private_lines * line);
    for (int cpu = 0; cpu < memory_.cpus; ++cpu) {
      memory_.private_arrays.push_back(space.place_array(fmt::format("private[{}]", cpu), options_.private_lines * line));
    }
    for (int i = 0; i < kOfEachLock; ++i) {
      for (const char* lock : kLocks)
        memory_.locks.push_back(&setting.locks.create(lock, fmt::format("{}_{}", lock, i), {.figures = lock}));
    }
    memory_.user = space.function("user_code", Mode::user);
    memory_.handler = space.function("interrupt_handler", Mode::kernel);
    memory_.end = Barrier(space, "end", memory_.cpus);
    done_.resize(memory_.cpus);
  }

  void run(Cpu& cpu) override {
    Player player(cpu, memory_, done_[cpu.id().value], seed_);
    for (std::int64_t i = 0; options_.operations == 0 || i < options_.operations; ++i) {
      std::uint64_t draw = player.below(all_shares_);
      std::size_t kind = 0;
      while (draw >= options_.shares[kind]) draw -= options_.shares[kind++];
      player.play(kind);
    }
    cpu.disable_interrupts();
    memory_.end.wait(cpu);
    if (cpu.id().value == 0) check_sums(cpu);
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override {
    std::int64_t total = 0;
    Value checksum = 0;
    for (int cpu = 0; cpu < facts.cpus; ++cpu) {
      total += facts.cpu(cpu).tallied(kOperations);
      checksum = checksum * 31 + done_[cpu].checksum;
    }
    metrics.count("random.operations", "", kNeither, "operations of all CPUs", total);
    metrics.count("random.checksum", "", kNeither, "of all values that were loaded", static_cast<std::int64_t>(checksum >> 32));
  }

 private:
  // REQUIRES: every program has ended.
  void check_sums(Cpu& cpu) const {
    Value balance = 0;
    for (const Done& done : done_) balance += done.balance;
    for (std::size_t record = 0; record < memory_.records; ++record) {
      Value increments = 0;
      for (const Done& done : done_) increments += done.increments[record];
      const Value counter = cpu.load(memory_.field(record, kCounter));
      require(counter == increments, cpu, "atomic increments were lost", counter, increments);
      balance -= cpu.load(memory_.field(record, kSlot));
    }
    require(balance == 0, cpu, "exchanged tokens were lost or doubled", balance, 0);
    for (std::size_t which = 0; which < memory_.locks.size(); ++which) {
      Value entries = 0;
      for (const Done& done : done_) entries += done.entries[which];
      if (!memory_.locks[which]->traits().excludes) continue;
      const Value guarded = cpu.load(memory_.guarded_word(which, 0));
      require(guarded == entries, cpu, "increments under a lock were lost", guarded, entries);
    }
  }

  Options options_;
  std::uint64_t all_shares_ = std::accumulate(options_.shares.begin(), options_.shares.end(), std::uint64_t{0});
  std::uint64_t seed_ = 0;
  Memory memory_;
  std::vector<Done> done_;
};

}  // namespace

}  // namespace random_references

WorkloadEntry random_references_workload() {
  return {"random_references",
          "Random operations of every kind, checked as they go",
          declare<random_references::Options>(),
          make_workload<random_references::RandomReferences>,
          {{"random.operations", "operations"}}};
}

}  // namespace linebounce::workloads
