// A load like that of a database on a kernel, described by shares. Each CPU alternates between user and kernel mode. After a
// number of instructions, it visits a random line: one that all CPUs write (a few of these are hot, some are locks), one that
// the CPUs of a node write, or one that no cache has.
//
// A visit to a written line is one atomic addition and so one transaction: the line comes from the cache of its last writer. A
// visit to memory is a load of a line that was not used before or was evicted long ago. A store often follows; it makes the
// line dirty and so causes a writeback later. The lines of memory use only a few sets of each cache. These sets are full from
// the start, and all other lines have the rest of the cache to themselves.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "models/core/cpu_counters.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"
#include "workloads/program/zipf.hpp"

namespace linebounce::workloads {
namespace {

enum MixTally { kInstructions, kSpinTicks, kKernelHot, kKernelShared, kKernelNode, kKernelMemory, kUserShared, kUserMemory };
constexpr std::array<std::pair<MixTally, const char*>, 6> kVisitNames = {{{kKernelHot, "kernel_hot"},
                                                                          {kKernelShared, "kernel_shared"},
                                                                          {kKernelNode, "kernel_node"},
                                                                          {kKernelMemory, "kernel_memory"},
                                                                          {kUserShared, "user_shared"},
                                                                          {kUserMemory, "user_memory"}}};

constexpr std::uint64_t kPartsInPercent = 100;  // shares are drawn in hundredths of a percent
constexpr std::uint64_t kParts = 100 * kPartsInPercent;
constexpr std::int64_t kBurst = 2000;                         // kernel instructions between two stretches of user code
constexpr int kStreamSets = 16;                               // sets of the outermost cache that the lines of memory use
constexpr std::int64_t kStreamBytes = std::int64_t{1} << 30;  // address space for the lines of one CPU on one node

// Lines that several CPUs write.
struct Pool {
  std::vector<Address> lines;
  [[nodiscard]] Address draw(Random& random) const { return lines[random.below(lines.size())]; }
};

// Lines of one CPU's memory, homed on one node.
struct Stream {
  Address begin = 0;
  std::uint64_t next = 0;
};

struct NumaMixOptions {
  std::int64_t transaction_instructions = 69000;
  double user_per_kernel_instruction = 5.9;
  double kernel_base_cpi = 0.75;
  double user_base_cpi = 1;
  std::int64_t kernel_instructions_per_visit = 153;
  std::int64_t user_instructions_per_visit = 500;
  double shared_pct = 76;
  double node_shared_pct = 2;
  double hot_pct = 43;
  std::int64_t hot_lines = 500;
  double zipf_exponent = 0.9;
  double lock_pct = 40;
  std::int64_t hold_instructions = 60;
  double read_pct = 0;
  std::int64_t shared_lines = 8000;
  std::int64_t node_lines = 200;
  double kernel_remote_pct = 54;
  double user_shared_pct = 12;
  double user_shared_remote_pct = 20;
  std::int64_t user_lines = 500;
  double user_remote_pct = 6;
  double dirty_pct = 65;
  double dirty_remote_pct = 100;
  std::int64_t memory_kib = 0;

  void bind(ParameterBinder& parameters) {
    parameters.number("transaction_instructions", transaction_instructions, 1, 1e12,
                      "instructions, user and kernel, that count as one operation");
    parameters.number("user_per_kernel_instruction", user_per_kernel_instruction, 0.01, 1000,
                      "user instructions for each of the kernel");
    parameters.number("kernel_base_cpi", kernel_base_cpi, 0, 100,
                      "cycles of a kernel instruction beside its visits; at least what the core's issue width makes it");
    parameters.number("user_base_cpi", user_base_cpi, 0, 100, "the same for user code");
    parameters.number("kernel_instructions_per_visit", kernel_instructions_per_visit, 1, 1e6,
                      "mean, uniform from 1 to twice that");
    parameters.number("user_instructions_per_visit", user_instructions_per_visit, 1, 1e6, "the same for user code");
    parameters.number("shared_pct", shared_pct, 0, 100, "kernel's visits to lines that all CPUs write");
    parameters.number("node_shared_pct", node_shared_pct, 0, 100,
                      "kernel's visits to lines that the CPUs of a node write; the rest goes to memory");
    parameters.number("hot_pct", hot_pct, 0, 100, "of the visits to lines that all CPUs write: to the hot ones");
    parameters.number("hot_lines", hot_lines, 1, 65536, "lines that are hot, by Zipf's law");
    parameters.number("zipf_exponent", zipf_exponent, 0, 8, "of that law; 0: all alike");
    parameters.number("lock_pct", lock_pct, 0, 100,
                      "of the hot lines: locks, taken with compare_exchange and released with a store");
    parameters.number("hold_instructions", hold_instructions, 0, 1e6, "executed while a lock is held");
    parameters.number("read_pct", read_pct, 0, 100, "of the visits to written lines: that only read");
    parameters.number("shared_lines", shared_lines, 1, 65536, "lines that all CPUs write in the kernel, beside the hot ones");
    parameters.number("node_lines", node_lines, 1, 65536, "lines of each node that its CPUs write in the kernel");
    parameters.number("kernel_remote_pct", kernel_remote_pct, 0, 100,
                      "of the kernel's visits to memory: with their home on another node");
    parameters.number("user_shared_pct", user_shared_pct, 0, 100,
                      "user's visits to lines that several CPUs write; the rest goes to memory");
    parameters.number("user_shared_remote_pct", user_shared_remote_pct, 0, 100, "of these: supplied by another node");
    parameters.number("user_lines", user_lines, 1, 65536,
                      "lines that user code of all CPUs, and as many that that of each node writes");
    parameters.number("user_remote_pct", user_remote_pct, 0, 100,
                      "of the user's visits to memory: with their home on another node");
    parameters.number("dirty_pct", dirty_pct, 0, 100,
                      "of the lines of memory with their home on this node: written after the load");
    parameters.number("dirty_remote_pct", dirty_remote_pct, 0, 100, "the same for homes on other nodes");
    parameters.number("memory_kib", memory_kib, 0, 1 << 20,
                      "memory of each CPU on each node, visited at random; 0: lines that were used long ago or never");
  }
};

class NumaMix final : public Workload {
 public:
  explicit NumaMix(const Parameters& parameters) : options_(read_options<NumaMixOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;
  void run(Cpu& cpu) override;
  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  // The speed of instructions: the core's issue width, plus extra time per instruction to reach the CPI of the mode.
  struct Pace {
    std::int64_t extra_milli = 0;  // added to each instruction, in thousandths of a cycle
    std::int64_t per_visit = 0;    // mean number of instructions between visits
  };
  // State of one CPU's program.
  struct Walker {
    Cpu& cpu;
    Random random;
    int node = 0;
    std::uint64_t shared_user = 0;  // of user visits to written lines, the share that goes to lines which all nodes write
    std::int64_t owed_milli = 0;    // time that the CPU has yet to spend, in thousandths of a cycle
    std::int64_t kernel_over = 0;   // instructions by which the latest stretch of kernel code was too long
    std::int64_t user_over = 0;
  };
  using Visit = void (NumaMix::*)(Walker&, std::int64_t);

  static std::uint64_t parts(double percent) { return static_cast<std::uint64_t>(std::lround(percent * kPartsInPercent)); }
  static Pace pace(const MachineSpec& machine, double cpi, std::int64_t instructions_per_visit);
  Pool place_pool(AddressSpace& memory, const std::string& name, std::int64_t lines, const std::vector<int>& homes) const;
  void place_hot_lines(AddressSpace& memory);
  void place_streams(const WorkloadSetup& setting);
  [[nodiscard]] std::uint64_t to_all_nodes(int node) const;

  void fill_caches(Walker& at);
  std::int64_t stretch(Walker& at, const Pace& pace, std::int64_t instructions, Visit visit);
  void kernel_visit(Walker& at, std::int64_t instructions);
  void user_visit(Walker& at, std::int64_t instructions);
  void visit_hot(Walker& at, std::int64_t instructions);
  void visit_written(Walker& at, Address line);
  void visit_memory(Walker& at, std::uint64_t remote_parts);
  [[nodiscard]] Address next_line(Walker& at, int home);
  void lock(Walker& at, Address word);
  void pass(Walker& at, const Pace& pace, std::int64_t instructions) const;

  NumaMixOptions options_;
  std::uint64_t seed_ = 0;
  std::vector<int> node_of_;  // by CPU
  std::vector<int> homes_;    // nodes that have memory
  Pace kernel_, user_;
  std::int64_t user_burst_ = 0;
  std::uint64_t shared_ = 0, node_ = 0, hot_ = 0, read_ = 0;
  std::uint64_t kernel_remote_ = 0, user_remote_ = 0, user_shared_ = 0;
  std::uint64_t dirty_ = 0, dirty_remote_ = 0;
  std::vector<Zipf> zipf_;  // one
  std::vector<Address> hot_lines_;
  std::vector<bool> is_lock_;
  Pool shared_lines_, user_lines_;
  std::vector<Pool> node_lines_, user_node_lines_;  // by node
  std::vector<Stream> streams_;                     // by CPU, then by home
  std::int64_t stream_lines_ = 0;
  int stream_sets_ = 0;
  int sets_ = 0;
  int line_ = 0;
  std::int64_t fill_lines_ = 0;
  bool random_memory_ = false;
  FunctionId kernel_work_ = 0, kernel_lock_ = 0, user_work_ = 0;
};

void NumaMix::set_up(const WorkloadSetup& setting) {
  const MachineSpec& machine = setting.machine;
  seed_ = setting.seed;
  line_ = setting.memory.line_bytes();
  homes_ = setting.layout.nodes_with_memory;
  for (const CpuPlace& place : setting.layout.cpus) node_of_.push_back(place.node);
  shared_ = parts(options_.shared_pct);
  node_ = parts(options_.node_shared_pct);
  if (shared_ + node_ > kParts) {
    throw std::invalid_argument("workload.shared_pct and workload.node_shared_pct together are more than 100");
  }
  hot_ = parts(options_.hot_pct);
  read_ = parts(options_.read_pct);
  kernel_remote_ = parts(options_.kernel_remote_pct);
  user_remote_ = parts(options_.user_remote_pct);
  user_shared_ = parts(options_.user_shared_pct);
  dirty_ = parts(options_.dirty_pct);
  dirty_remote_ = parts(options_.dirty_remote_pct);
  kernel_ = pace(machine, options_.kernel_base_cpi, options_.kernel_instructions_per_visit);
  user_ = pace(machine, options_.user_base_cpi, options_.user_instructions_per_visit);
  user_burst_ = std::lround(static_cast<double>(kBurst) * options_.user_per_kernel_instruction);
  AddressSpace& memory = setting.memory;
  place_hot_lines(memory);
  shared_lines_ = place_pool(memory, "kernel_line", options_.shared_lines, homes_);
  user_lines_ = place_pool(memory, "user_line", options_.user_lines, homes_);
  for (int node = 0; node < setting.layout.nodes(); ++node) {
    const std::string of = "_of_node[" + std::to_string(node) + "]";
    node_lines_.push_back(place_pool(memory, "kernel_line" + of, options_.node_lines, {node}));
    user_node_lines_.push_back(place_pool(memory, "user_line" + of, options_.user_lines, {node}));
  }
  place_streams(setting);
  kernel_work_ = memory.function("kernel_work", Mode::kernel);
  kernel_lock_ = memory.function("kernel_lock", Mode::kernel);
  user_work_ = memory.function("user_work", Mode::user);
}

// A core whose issue width is too small for the requested CPI runs at the speed of its issue width.
NumaMix::Pace NumaMix::pace(const MachineSpec& machine, double cpi, std::int64_t instructions_per_visit) {
  const std::int64_t wanted = std::lround(cpi * 1000);
  return {std::max<std::int64_t>(0, wanted - 1000 / machine.cpu.issue_per_cycle), instructions_per_visit};
}

// Distributes the lines round-robin over `homes`. Each is an object, so that results list it separately. Lines of one home are
// adjacent.
Pool NumaMix::place_pool(AddressSpace& memory, const std::string& name, std::int64_t lines,
                         const std::vector<int>& homes) const {
  const Layout layout{.name = name, .size = line_, .alignment = line_, .fields = {{"count", 0}}};
  Pool pool{std::vector<Address>(lines)};
  for (std::size_t home = 0; home < homes.size(); ++home) {
    for (std::size_t i = home; i < pool.lines.size(); i += homes.size()) {
      pool.lines[i] = memory.place(layout, name + "[" + std::to_string(i) + "]", 0, Home::on(homes[home]));
    }
  }
  return pool;
}

void NumaMix::place_hot_lines(AddressSpace& memory) {
  const std::int64_t lines = options_.hot_lines;
  const std::int64_t locks = std::lround(options_.lock_pct * static_cast<double>(lines) / 100);
  zipf_.emplace_back(static_cast<int>(lines), static_cast<int>(std::lround(options_.zipf_exponent * 1000)));
  hot_lines_ = place_pool(memory, "hot_line", lines, homes_).lines;
  // Distributes the locks evenly over the ranks. The hottest line is not a lock, if possible.
  for (std::int64_t rank = 0; rank < lines; ++rank) is_lock_.push_back((rank + 1) * locks / lines > rank * locks / lines);
}

void NumaMix::place_streams(const WorkloadSetup& setting) {
  const CacheSpec& cache = setting.machine.caches.back();
  const std::int64_t area = options_.memory_kib * 1024;
  random_memory_ = area > 0;
  sets_ = std::max(1, cache.size_kib * 1024 / cache.ways / line_);
  stream_sets_ = std::min(kStreamSets, sets_);
  const std::int64_t way = std::int64_t{sets_} * line_;
  stream_lines_ = random_memory_ ? area / line_ : kStreamBytes / way * stream_sets_;
  fill_lines_ = random_memory_ ? stream_lines_ : std::int64_t{stream_sets_} * cache.ways;
  for (std::size_t cpu = 0; cpu < node_of_.size(); ++cpu) {
    for (const int home : homes_) {
      const std::string name = "memory_of_cpu[" + std::to_string(cpu) + "][" + std::to_string(home) + "]";
      const std::int64_t bytes = random_memory_ ? area : kStreamBytes;
      Address begin = setting.memory.place_array(name, bytes, Home::on(home));
      // All streams of a CPU use the same sets; streams of another CPU use other sets.
      if (!random_memory_) {
        const auto step = static_cast<Address>(way);
        const Address sets_before = cpu * static_cast<Address>(stream_sets_) % static_cast<Address>(sets_);
        begin = (begin + step - 1) / step * step + sets_before * static_cast<Address>(line_);
      }
      streams_.push_back({begin, 0});
    }
  }
  // `begin` was rounded up by less than the size of a way, and the offset of the CPU's sets is less than another.
  if (!random_memory_) stream_lines_ -= 2 * stream_sets_;
}

// The requested share is that of lines supplied by other nodes. A line that all CPUs write may also come from this node,
// because its last writer is any other CPU with equal probability. Returns the share of user visits to written lines that must
// go to such lines to make up for that.
std::uint64_t NumaMix::to_all_nodes(int node) const {
  const auto all = static_cast<std::uint64_t>(node_of_.size());
  const auto here = static_cast<std::uint64_t>(std::ranges::count(node_of_, node));
  if (here == all) return 0;
  return std::min(kParts, parts(options_.user_shared_remote_pct) * (all - 1) / (all - here));
}

void NumaMix::run(Cpu& cpu) {
  const int me = cpu.id().value;
  const int node = node_of_[me];
  Walker at{
      .cpu = cpu, .random = Random(seed_, static_cast<std::uint64_t>(me), 0), .node = node, .shared_user = to_all_nodes(node)};
  fill_caches(at);
  for (;;) {
    {
      const FunctionScope scope(cpu, user_work_);
      at.user_over = stretch(at, user_, user_burst_ - at.user_over, &NumaMix::user_visit);
    }
    {
      const FunctionScope scope(cpu, kernel_work_);
      at.kernel_over = stretch(at, kernel_, kBurst - at.kernel_over, &NumaMix::kernel_visit);
    }
  }
}

// Before the load begins, puts every written line into some cache, and fills the sets that the lines of memory use.
void NumaMix::fill_caches(Walker& at) {
  const FunctionScope scope(at.cpu, kernel_work_);
  const std::size_t me = at.cpu.id().value;
  const std::size_t node = at.node;
  for (const std::vector<Address>* lines : {&hot_lines_, &shared_lines_.lines, &user_lines_.lines}) {
    for (std::size_t i = me; i < lines->size(); i += node_of_.size()) at.cpu.store((*lines)[i], 0);
  }
  std::size_t before = 0;  // CPUs of this node with smaller numbers
  for (std::size_t cpu = 0; cpu < me; ++cpu) before += node_of_[cpu] == at.node ? 1 : 0;
  const std::size_t here = std::count(node_of_.begin(), node_of_.end(), at.node);
  for (const std::vector<Address>* lines : {&node_lines_[node].lines, &user_node_lines_[node].lines}) {
    for (std::size_t i = before; i < lines->size(); i += here) at.cpu.store((*lines)[i], 0);
  }
  for (std::int64_t i = 0; i < fill_lines_; ++i) visit_memory(at, user_remote_);
}

// Runs this many instructions or a few more, with their visits. Returns the excess.
std::int64_t NumaMix::stretch(Walker& at, const Pace& pace, std::int64_t instructions, Visit visit) {
  while (instructions > 0) {
    // Uniform around the mean, so that the CPUs do not run in lockstep.
    const auto until_next = static_cast<std::int64_t>(at.random.below(static_cast<std::uint64_t>(2 * pace.per_visit - 1))) + 1;
    (this->*visit)(at, until_next);
    at.cpu.tally(kInstructions, until_next);
    instructions -= until_next;
  }
  return -instructions;
}

void NumaMix::kernel_visit(Walker& at, std::int64_t instructions) {
  const std::uint64_t kind = at.random.below(kParts);
  if (kind < shared_) {
    if (at.random.below(kParts) < hot_) {
      visit_hot(at, instructions);
      return;
    }
    at.cpu.tally(kKernelShared);
    visit_written(at, shared_lines_.draw(at.random));
  } else if (kind < shared_ + node_) {
    at.cpu.tally(kKernelNode);
    visit_written(at, node_lines_[at.node].draw(at.random));
  } else {
    at.cpu.tally(kKernelMemory);
    visit_memory(at, kernel_remote_);
  }
  pass(at, kernel_, instructions);
}

void NumaMix::visit_hot(Walker& at, std::int64_t instructions) {
  at.cpu.tally(kKernelHot);
  const std::size_t rank = zipf_.front().draw(at.random);
  if (!is_lock_[rank]) {
    visit_written(at, hot_lines_[rank]);
    pass(at, kernel_, instructions);
    return;
  }
  const std::int64_t inside = std::min(options_.hold_instructions, instructions);
  lock(at, hot_lines_[rank]);
  pass(at, kernel_, inside);
  at.cpu.store_release(hot_lines_[rank], 0);
  pass(at, kernel_, instructions - inside);
}

void NumaMix::user_visit(Walker& at, std::int64_t instructions) {
  if (at.random.below(kParts) < user_shared_) {
    at.cpu.tally(kUserShared);
    const bool all = at.random.below(kParts) < at.shared_user;
    visit_written(at, (all ? user_lines_ : user_node_lines_[at.node]).draw(at.random));
  } else {
    at.cpu.tally(kUserMemory);
    visit_memory(at, user_remote_);
  }
  pass(at, user_, instructions);
}

void NumaMix::visit_written(Walker& at, Address line) {
  if (at.random.below(kParts) < read_) {
    at.cpu.load(line);
  } else {
    at.cpu.fetch_add(line, 1);
  }
}

void NumaMix::visit_memory(Walker& at, std::uint64_t remote_parts) {
  const bool far = at.random.below(kParts) < remote_parts;
  const auto local = std::find(homes_.begin(), homes_.end(), at.node);
  std::size_t home = local - homes_.begin();
  bool remote = local == homes_.end();
  if (remote) {
    home = at.random.below(homes_.size());
  } else if (far && homes_.size() > 1) {
    remote = true;
    home = (home + 1 + at.random.below(homes_.size() - 1)) % homes_.size();
  }
  const Address line = next_line(at, static_cast<int>(home));
  const Value value = at.cpu.load(line);
  if (at.random.below(kParts) < (remote ? dirty_remote_ : dirty_)) at.cpu.store(line, value + 1);
}

// Uses the stream's sets one after the other, first in one way's worth of addresses, then in the next.
Address NumaMix::next_line(Walker& at, int home) {
  Stream& stream = streams_[at.cpu.id().value * homes_.size() + home];
  const auto lines = static_cast<std::uint64_t>(stream_lines_);
  const auto line = static_cast<Address>(line_);
  if (random_memory_) return stream.begin + at.random.below(lines) * line;
  const std::uint64_t number = stream.next++ % lines;
  const auto sets = static_cast<std::uint64_t>(stream_sets_);
  return stream.begin + (number / sets * static_cast<std::uint64_t>(sets_) + number % sets) * line;
}

// Tries at once, as code does that expects a free lock. After a failure, spins with loads until the lock looks free.
void NumaMix::lock(Walker& at, Address word) {
  const FunctionScope scope(at.cpu, kernel_lock_);
  if (at.cpu.compare_exchange(word, 0, 1) == 0) return;
  const Tick begin = at.cpu.now();
  do {
    at.cpu.spin_until_acquire(word, [](Value holder) { return holder == 0; });
  } while (at.cpu.compare_exchange(word, 0, 1) != 0);
  at.cpu.tally(kSpinTicks, at.cpu.now() - begin);
}

void NumaMix::pass(Walker& at, const Pace& pace, std::int64_t instructions) const {
  if (instructions == 0) return;
  at.cpu.execute(instructions);
  at.owed_milli += instructions * pace.extra_milli;
  if (at.owed_milli < 1000) return;
  at.cpu.compute(at.owed_milli / 1000);
  at.owed_milli %= 1000;
}

void NumaMix::report(const RunFacts& facts, MetricSink& metrics) const {
  std::array<std::int64_t, Cpu::kTallies> tallies{};
  Tick kernel = 0;
  Tick user = 0;
  for (int number = 0; number < facts.cpus; ++number) {
    const Cpu& cpu = facts.cpu(number);
    for (int which = 0; which < Cpu::kTallies; ++which) tallies[which] += cpu.tallied(which);
    const std::vector<Tick>& time = cpu.counters().time_in_function;
    for (std::size_t function = 0; function < time.size(); ++function)
      (function == user_work_ ? user : kernel) += time[function];
  }
  const MetricFamily visits =
      metrics.family("mix.visits.<kind>", "", kNeither, "how often it went to lines of that kind, hits too");
  for (const auto& [which, name] : kVisitNames) visits.add({name}, tallies[which]);
  const double transactions =
      static_cast<double>(tallies[kInstructions]) / static_cast<double>(options_.transaction_instructions);
  report_rate(transactions * 1e9 / facts.measured_ns, metrics);
  // The programs never end, so all CPU time counts in one of these functions.
  const double ns_per_tick = facts.measured_ns * facts.cpus / static_cast<double>(kernel + user);
  const auto per_transaction = [&](Tick time) -> std::optional<double> {
    if (transactions == 0) return std::nullopt;
    return static_cast<double>(time) * ns_per_tick / transactions;
  };
  metrics.value("mix.kernel_ns_per_transaction", "ns", kLower,
                "kernel's CPU time for one operation of `throughput.operations_per_s`", per_transaction(kernel));
  metrics.value("mix.user_ns_per_transaction", "ns", kLower,
                "user's CPU time for one operation of `throughput.operations_per_s`", per_transaction(user));
  const double spin = kernel == 0 ? 0 : 100.0 * static_cast<double>(tallies[kSpinTicks]) / static_cast<double>(kernel);
  metrics.value("mix.spin_share_pct", "%", kLower, "of kernel time, from a failed attempt to take a lock to its being taken",
                spin);
}

}  // namespace

WorkloadEntry numa_mix_workload() {
  return {"numa_mix",
          "Kernel and user code as shares of misses: lines that all CPUs write, lines of one node, local and remote memory",
          declare<NumaMixOptions>(),
          make_workload<NumaMix>,
          {headlines::kOperations, {"mix.kernel_ns_per_transaction", "kernel"}, headlines::kLocal}};
}

}  // namespace linebounce::workloads
