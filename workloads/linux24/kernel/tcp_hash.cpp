// The hash table of established TCP connections. Every segment looks up its connection and takes a reference to it; now and
// then a connection closes and another opens. Buckets have reader-writer locks, as in Linux 2.6.0, or readers use RCU. Under
// RCU a look-up writes only the connection's count, and a closed connection is freed after a grace period. A connection's
// segments arrive at any CPU.
#include <fmt/format.h>

#include <deque>

#include "models/failure.hpp"
#include "workloads/linux24/kernel/kernel_base.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kSegments = 0;  // tallies
constexpr int kNotFound = 1;
constexpr int kOpened = 2;
constexpr int kPutOff = 3;

struct SocketFields {
  static constexpr Address kNext = 0;
  static constexpr Address kKey = 8;
  static constexpr Address kReferences = 16;
  static constexpr Address kHead = 24;  // for RCU
  static constexpr int kBytes = 40;
};
constexpr Value kFreedKey = 0xDEAD;  // key stored in a freed connection

std::string why_no_tcp_lock(const LockTraits& traits) {
  if (!traits.excludes) return "the chain would break";
  if (traits.sleeps) return "it is taken in softirqs, which may not sleep";
  if (traits.readers == Readers::read_again)
    return "a reader follows a chain whose connections may be freed, and writes their counts: it can't read again";
  return "";
}

struct TcpHashOptions {
  std::string readers = "lock";
  std::string lock = "rwlock";
  std::int64_t buckets = 256;
  std::int64_t connections_per_cpu = 64;
  std::int64_t changes_per_1000 = 20;
  std::int64_t outside_cycles = 3000;
  std::int64_t segment_cycles = 500;
  RcuOptions rcu;

  void bind(ParameterBinder& parameters) {
    parameters.text("readers", readers, "what a lookup does: takes the bucket's lock shared, or uses RCU", {"lock", "rcu"});
    lock_parameter(parameters, "lock", lock, "each bucket's", why_no_tcp_lock);
    parameters.number("buckets", buckets, 1, 65536, "of the table, each with a lock and a chain in 16 bytes");
    parameters.number("connections_per_cpu", connections_per_cpu, 1, 4096,
                      "that a CPU opens and closes; memory for as many again that wait to be freed");
    parameters.number("changes_per_1000", changes_per_1000, 0, 1000,
                      "operations of 1000 that close a connection and open another; the others are segments");
    parameters.number("outside_cycles", outside_cycles, 0, 1e9, "mean computed in user mode between two operations");
    parameters.number("segment_cycles", segment_cycles, 0, 1e9, "computed while a segment's connection is held");
    rcu.bind(parameters);
  }
};

class TcpHash final : public Workload {
 public:
  explicit TcpHash(const Parameters& parameters) : options_(read_options<TcpHashOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override;

  void run(Cpu& cpu) override {
    kernel_->rcu().start(cpu);
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
    const std::uint64_t all = cpus_.size() * static_cast<std::uint64_t>(options_.connections_per_cpu);
    for (;;) {
      const std::int64_t outside = KernelBase::around(random, options_.outside_cycles);
      const bool changes = random.below(1000) < static_cast<std::uint64_t>(options_.changes_per_1000);
      const std::uint64_t which = random.below(all);
      kernel_->compute_in_user_mode(cpu, outside + 1);
      if (changes) {
        change(cpu, which % static_cast<std::uint64_t>(options_.connections_per_cpu));
      } else {
        receive(cpu, which + 1);
      }
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override;

 private:
  // The connections that one CPU opens and closes.
  struct OfCpu {
    std::vector<Address> open;  // by connection
    std::deque<Address> free;   // the longest closed first
  };
  OfCpu& of(const Cpu& cpu) { return cpus_[cpu.id().value]; }

  [[nodiscard]] Address bucket(Value key) const { return table_ + (key % static_cast<Value>(options_.buckets)) * 16; }
  [[nodiscard]] MeteredLock& lock(Value key) const { return *locks_[key % static_cast<Value>(options_.buckets)]; }

  void receive(Cpu& cpu, Value key);
  Address find(Cpu& cpu, Value key);
  bool hold(Cpu& cpu, Address socket) const;
  void change(Cpu& cpu, std::uint64_t which);
  void close(Cpu& cpu, Address socket, Value key);
  void open(Cpu& cpu, Address socket, Value key);
  void preset_table(AddressSpace& memory);

  TcpHashOptions options_;
  bool rcu_readers_ = options_.readers == "rcu";
  std::uint64_t seed_ = 0;
  std::unique_ptr<KernelBase> kernel_;
  Address table_ = 0;
  std::vector<MeteredLock*> locks_;  // by bucket
  std::vector<OfCpu> cpus_;
  FunctionId receive_ = 0, lookup_ = 0, close_ = 0, open_ = 0;
};

void TcpHash::set_up(const WorkloadSetup& setting) {
  seed_ = setting.seed;
  kernel_ = std::make_unique<KernelBase>(setting, options_.rcu, setting.memory.line_bytes());
  const int line = setting.memory.line_bytes();
  const auto size = static_cast<int>(16 * options_.buckets);
  // Buckets of {lock, chain}, four in a line of 64 bytes, as in the kernel.
  table_ = setting.memory.place({.name = "tcp_ehash", .size = size, .fields = {{"buckets", 0, size}}}, "tcp_ehash", line);
  for (std::int64_t i = 0; i < options_.buckets; ++i) {
    locks_.push_back(&setting.locks.create(options_.lock, fmt::format("tcp_ehash[{}].lock", i),
                                           {.word = table_ + static_cast<Address>(16 * i), .figures = "tcp_ehash.lock"}));
  }
  const Layout socket{.name = "sock",
                      .size = SocketFields::kBytes,
                      .fields = {{"next", 0}, {"key", 8}, {"refcnt", 16}, {"rcu", 24, Rcu::kHeadBytes}}};
  cpus_.resize(setting.machine.cpus);
  for (int cpu = 0; cpu < setting.machine.cpus; ++cpu) {
    OfCpu& own = cpus_[cpu];
    const Home home = Home::near(setting.layout.cpus[cpu]);
    for (std::int64_t i = 0; i < 2 * options_.connections_per_cpu; ++i) {
      const Address at = setting.memory.place(socket, fmt::format("sock[{}.{}]", cpu, i), line, home);
      if (i < options_.connections_per_cpu) {
        own.open.push_back(at);
      } else {
        own.free.push_back(at);
      }
    }
  }
  preset_table(setting.memory);
  receive_ = setting.memory.function("tcp_v4_rcv", Mode::kernel);
  lookup_ = setting.memory.function("tcp_v4_lookup_established", Mode::kernel);
  close_ = setting.memory.function("tcp_unhash", Mode::kernel);
  open_ = setting.memory.function("tcp_hash", Mode::kernel);
}

void TcpHash::preset_table(AddressSpace& memory) {
  std::vector<Address> chains(options_.buckets, 0);
  Value key = 0;
  for (const OfCpu& own : cpus_) {
    for (const Address at : own.open) {
      Address& first = chains[++key % static_cast<Value>(options_.buckets)];
      memory.preset(at + SocketFields::kNext, first);
      memory.preset(at + SocketFields::kKey, key);
      memory.preset(at + SocketFields::kReferences, 1);
      first = at;
    }
  }
  for (std::size_t i = 0; i < chains.size(); ++i) memory.preset(table_ + 16 * i + 8, chains[i]);
}

void TcpHash::receive(Cpu& cpu, Value key) {
  const FunctionScope scope(cpu, receive_);
  const Address socket = find(cpu, key);
  cpu.tally(kSegments);
  if (socket == 0) {
    cpu.tally(kNotFound);
    return;
  }
  cpu.compute(options_.segment_cycles);
  cpu.fetch_add(socket + SocketFields::kReferences, ~Value{0});  // sock_put(); the owner checks later whether this was the last
                                                                 // reference
}

// Returns the connection with a reference for the caller; 0 if it is not in the table.
Address TcpHash::find(Cpu& cpu, Value key) {
  const FunctionScope scope(cpu, lookup_);
  if (rcu_readers_) {
    kernel_->rcu().read_lock(cpu);
  } else {
    lock(key).acquire_shared(cpu);
  }
  Address socket = cpu.load(bucket(key) + 8);
  while (socket != 0) {
    const Value found = cpu.load(socket + SocketFields::kKey);
    if (found == kFreedKey)
      throw ModelFailure(fmt::format("tcp_hash: CPU {} sees the freed connection 0x{:x}", cpu.id().value, socket));
    if (found == key) break;
    socket = cpu.load(socket + SocketFields::kNext);
  }
  if (socket != 0 && !hold(cpu, socket)) socket = 0;
  if (rcu_readers_) {
    kernel_->rcu().read_unlock(cpu);
  } else if (!lock(key).release_shared(cpu)) {
    throw ModelFailure("tcp_hash: a reader was let in together with a writer");
  }
  return socket;
}

// Takes a reference. Under the lock the table's own reference keeps the count above 0. Under RCU the connection may be dying,
// and a count of 0 must not rise again.
bool TcpHash::hold(Cpu& cpu, Address socket) const {
  const Address references = socket + SocketFields::kReferences;
  if (!rcu_readers_) {
    cpu.fetch_add(references, 1);
    return true;
  }
  Value expected = cpu.load(references);
  while (expected != 0) {
    const Value found = cpu.compare_exchange(references, expected, expected + 1);
    if (found == expected) return true;
    expected = found;
  }
  return false;
}

// Closes a connection and opens one with the same key, so that the load stays the same.
void TcpHash::change(Cpu& cpu, std::uint64_t which) {
  OfCpu& own = of(cpu);
  const Value key = static_cast<Value>(cpu.id().value) * static_cast<Value>(options_.connections_per_cpu) + which + 1;
  if (own.free.empty()) {
    cpu.tally(kPutOff);
    kernel_->rcu().synchronize(cpu);
    return;
  }
  const Address fresh = own.free.front();
  if (cpu.load(fresh + SocketFields::kReferences) != 0)
    return;  // another CPU still handles a segment of the object's previous
             // connection
  own.free.pop_front();
  close(cpu, own.open[which], key);
  open(cpu, fresh, key);
  own.open[which] = fresh;
}

void TcpHash::close(Cpu& cpu, Address socket, Value key) {
  const FunctionScope scope(cpu, close_);
  MeteredLock& guard = lock(key);
  guard.acquire(cpu);
  Address link = bucket(key) + 8;
  Address at = cpu.load(link);
  while (at != socket) {
    link = at + SocketFields::kNext;
    at = cpu.load(link);
  }
  const Address next = cpu.load(socket + SocketFields::kNext);
  cpu.store(link, next);
  guard.release(cpu);
  cpu.fetch_add(socket + SocketFields::kReferences, ~Value{0});
  OfCpu& own = of(cpu);
  const auto free = [&own, socket](Cpu& on) {
    on.store(socket + SocketFields::kKey, kFreedKey);
    own.free.push_back(socket);
  };
  if (rcu_readers_) {
    kernel_->rcu().call(cpu, socket + SocketFields::kHead, free);
  } else {
    free(cpu);
  }
}

void TcpHash::open(Cpu& cpu, Address socket, Value key) {
  const FunctionScope scope(cpu, open_);
  MeteredLock& guard = lock(key);
  cpu.store(socket + SocketFields::kKey, key);
  cpu.store(socket + SocketFields::kReferences, 1);
  guard.acquire(cpu);
  const Address first = cpu.load(bucket(key) + 8);
  cpu.store(socket + SocketFields::kNext, first);
  cpu.store_release(bucket(key) + 8, socket);
  guard.release(cpu);
  cpu.tally(kOpened);
}

void TcpHash::report(const RunFacts& facts, MetricSink& metrics) const {
  report_throughput(facts, kSegments, metrics);
  std::int64_t opened = 0;
  std::int64_t not_found = 0;
  std::int64_t deferred = 0;
  for (int cpu = 0; cpu < facts.cpus; ++cpu) {
    opened += facts.cpu(cpu).tallied(kOpened);
    not_found += facts.cpu(cpu).tallied(kNotFound);
    deferred += facts.cpu(cpu).tallied(kPutOff);
  }
  metrics.count("tcp_hash.opened", "", kNeither, "connections opened", opened);
  metrics.count("tcp_hash.not_found", "", kNeither, "segments without a connection", not_found);
  metrics.count("tcp_hash.waits_for_memory", "", kLower, "waits for a grace period because there was no free memory", deferred);
  report_rcu(kernel_ ? &kernel_->rcu() : nullptr, metrics);
}

}  // namespace

WorkloadEntry tcp_hash_workload() {
  return {"tcp_hash",
          "TCP segments look up their connections while other connections open and close",
          declare<TcpHashOptions>(),
          make_workload<TcpHash>,
          {headlines::kOperations, headlines::kLatency}};
}

}  // namespace linebounce::workloads
