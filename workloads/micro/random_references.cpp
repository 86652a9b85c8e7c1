// A tester in the shape of a workload: every CPU does random operations of every kind on a few lines that all use, and on lines
// of its own. What it reads is checked as it goes, and at the end of the programs once more, by rules that hold under every
// memory model and in every order in which the machine may run the operations.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <vector>

#include "workloads/locks/lock.hpp"
#include "workloads/micro/micro.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"
#include "workloads/registry.hpp"

namespace linebounce {

namespace {

constexpr int kOperations = 0;  // tally

// What lies in a record of the shared memory. Records are packed: a line may hold several, or a part of one.
constexpr Address kRecordBytes = 32;
constexpr Address kCounter = 0;  // everybody adds 1
constexpr Address kFlag = 8;     // 4 bytes: how far the record before this one has been published
constexpr Address kWord = 12;    // 2 bytes ...
constexpr Address kByte = 14;    // ... and 1 byte, each written by one CPU that counts up in it
constexpr Address kSlot = 16;    // tokens are exchanged here
constexpr Address kData = 24;    // published by one CPU

constexpr std::array<const char*, 10> kShares = {"load_share",      "store_share",   "atomic_share", "prefetch_share",
                                                 "fence_share",     "compute_share", "lock_share",   "spin_share",
                                                 "interrupt_share", "sleep_share"};
constexpr std::array<std::int64_t, 10> kDefaultShares = {35, 25, 12, 6, 2, 10, 3, 2, 3, 2};

// Vectors of interrupts: what the handler does, and to which record.
enum Vector : int { kCountUp = 0, kSetFlag = 1, kWakeMe = 2, kVectors = 3 };

struct Memory {
  std::size_t records = 0;
  int cpus = 0;
  bool programs_end = false;
  Address shared = 0;
  Address clock = 0;    // ticks whenever somebody feels like it
  Address flags = 0;    // 8 bytes a CPU, set by its own interrupt handler; they share lines
  Address guarded = 0;  // a line for each lock
  Address line_bytes = 0;
  Address private_bytes = 0;
  std::vector<Address> private_arrays;  // by CPU
  std::vector<std::unique_ptr<Lock>> locks;
  FunctionId user = 0;
  FunctionId handler = 0;
  Barrier end;

  [[nodiscard]] Address field(std::size_t record, Address offset) const { return shared + record * kRecordBytes + offset; }
};

// What one CPU has done to the shared words: all CPUs' sums must be found there at the end.
struct Done {
  std::vector<Value> increments;  // by record
  Value balance = 0;              // tokens put into slots less those taken out
  std::vector<Value> entries;     // by lock
  Value checksum = 0;
};

void require(bool holds, const Cpu& cpu, const char* rule, Value found, Value expected) {
  if (holds) return;
  throw std::logic_error(
      fmt::format("random_references: CPU {}: {}: found {}, expected {}", cpu.id().value, rule, found, expected));
}

class Player {
 public:
  Player(Cpu& cpu, const Memory& memory, Done& done, std::uint64_t seed)
      : cpu_(cpu),
        memory_(memory),
        done_(done),
        random_(seed, static_cast<std::uint64_t>(cpu.id().value), 0),
        handler_random_(seed, static_cast<std::uint64_t>(cpu.id().value), 1),
        counters_seen_(memory.records),
        data_seen_(memory.records),
        words_seen_(memory.records),
        bytes_seen_(memory.records),
        private_bytes_(memory.private_bytes) {
    done_.increments.resize(memory.records);
    done_.entries.resize(memory.locks.size());
    cpu_.set_interrupt_handler([this](Cpu&, int vector) { interrupt(vector); });
  }

  void play(std::size_t kind) {
    static constexpr std::array<void (Player::*)(), kShares.size()> kActions = {
        &Player::load,    &Player::store, &Player::atomic, &Player::prefetch,       &Player::fence,
        &Player::compute, &Player::lock,  &Player::spin,   &Player::send_interrupt, &Player::sleep};
    if (below(4) == 0) {
      const FunctionScope scope(cpu_, memory_.user);
      (this->*kActions[kind])();
    } else {
      (this->*kActions[kind])();
    }
    cpu_.tally(kOperations);
  }

  std::uint64_t below(std::uint64_t bound) { return random_.below(bound); }

 private:
  [[nodiscard]] std::size_t me() const { return static_cast<std::size_t>(cpu_.id().value); }
  [[nodiscard]] bool mine(std::size_t record) const { return record % static_cast<std::size_t>(memory_.cpus) == me(); }
  std::size_t any_record() { return below(memory_.records); }
  // A record that this CPU may publish: the one given, or the next that is its own.
  [[nodiscard]] std::size_t own_record(std::size_t record) const {
    const std::size_t own = record - record % static_cast<std::size_t>(memory_.cpus) + me();
    return own < memory_.records ? own : me();
  }
  CpuId any_cpu() { return CpuId(static_cast<int>(below(static_cast<std::uint64_t>(memory_.cpus)))); }

  void note(Value value) {
    done_.checksum = ((done_.checksum << 7) | (done_.checksum >> 57)) ^ (value * 0x9E3779B97F4A7C15ULL);
  }

  // A value that only grows, as this CPU sees it.
  void check_growth(std::vector<Value>& seen, std::size_t at, Value value, const char* rule) {
    require(value >= seen[at], cpu_, rule, value, seen[at]);
    seen[at] = value;
    note(value);
  }

  void load() {
    const std::size_t record = any_record();
    switch (below(6)) {
      case 0: return check_growth(counters_seen_, record, cpu_.load(memory_.field(record, kCounter)), "a counter went back");
      case 1:
        return check_growth(words_seen_, record, cpu_.load(memory_.field(record, kWord), 2), "a word of one writer went back");
      case 2:
        return check_growth(bytes_seen_, record, cpu_.load(memory_.field(record, kByte), 1), "a byte of one writer went back");
      case 3: return read_published(record);
      default: return private_access(false);
    }
  }

  void store() {
    const std::size_t record = own_record(any_record());
    if (record >= memory_.records) return private_access(true);  // fewer records than CPUs
    switch (below(5)) {
      case 0: return count_up(words_seen_, record, kWord, 2);
      case 1: return count_up(bytes_seen_, record, kByte, 1);
      case 2: return publish(record);
      default: return private_access(true);
    }
  }

  // The one writer counts up, and stays at the largest value that fits.
  void count_up(std::vector<Value>& seen, std::size_t record, Address offset, int bytes) {
    const Value most = (Value{1} << (8 * bytes)) - 1;
    const Value next = std::min(seen[record] + 1, most);
    cpu_.store(memory_.field(record, offset), next, bytes);
    seen[record] = next;
  }

  [[nodiscard]] Address flag_of(std::size_t record) const { return memory_.field((record + 1) % memory_.records, kFlag); }

  void publish(std::size_t record) {
    const Value next = ++data_seen_[record];
    cpu_.store(memory_.field(record, kData), next);
    cpu_.store_release(flag_of(record), next, 4);
  }

  void read_published(std::size_t record) {
    const Value flag = cpu_.load_acquire(flag_of(record), 4);
    const Value data = cpu_.load(memory_.field(record, kData));
    require(data >= flag, cpu_, "data is older than the flag that was released after it", data, flag);
    if (mine(record)) require(data == data_seen_[record], cpu_, "a CPU does not see its own store", data, data_seen_[record]);
    check_growth(data_seen_, record, data, "published data went back");
  }

  // 1, 2, 4 or 8 bytes somewhere in memory that nobody else uses: exactly what was stored there must be found.
  void private_access(bool write) {
    const std::uint64_t bytes = std::uint64_t{1} << below(4);
    const Address offset = below(memory_.private_bytes / bytes) * bytes;
    const Address address = memory_.private_arrays[me()] + offset;
    std::byte* const shadow = &private_bytes_[offset];
    if (write) {
      const Value value = random_.next();
      write_word(shadow, static_cast<int>(bytes), value);
      cpu_.store(address, read_word(shadow, static_cast<int>(bytes)), static_cast<int>(bytes));
    } else {
      const Value expected = read_word(shadow, static_cast<int>(bytes));
      const Value found = cpu_.load(address, static_cast<int>(bytes));
      require(found == expected, cpu_, "a private word is not what was stored there", found, expected);
    }
  }

  void atomic() {
    const std::size_t record = any_record();
    const Address counter = memory_.field(record, kCounter);
    switch (below(4)) {
      case 0: {
        const Value before = cpu_.fetch_add(counter, 1);
        ++done_.increments[record];
        return check_growth(counters_seen_, record, before + 1, "a counter went back");
      }
      case 1: {
        const Value old = cpu_.load(counter);
        const Value found = cpu_.compare_exchange(counter, old, old + 1);
        require(found >= old, cpu_, "a counter went back between two accesses", found, old);
        if (found == old) ++done_.increments[record];
        return note(found);
      }
      case 2: {
        const Value token = random_.next();
        const Value taken = cpu_.exchange(memory_.field(record, kSlot), token);
        done_.balance += token;
        done_.balance -= taken;
        return note(taken);
      }
      default: return note(cpu_.fetch_add(memory_.clock, 1));
    }
  }

  void prefetch() {
    const Access access = below(2) == 0 ? kReadAccess : kWriteAccess;
    const bool shared = below(2) == 0;
    const std::uint64_t place = below(shared ? memory_.records : memory_.private_bytes);
    cpu_.prefetch(shared ? memory_.field(place, 0) : memory_.private_arrays[me()] + place, access);
  }

  void fence() { cpu_.fence(); }

  void compute() {
    const bool long_one = below(8) == 0;
    const auto amount = static_cast<std::int64_t>(below(long_one ? 2000 : 20));
    switch (below(3)) {
      case 0: return cpu_.compute(amount);
      case 1: return cpu_.execute(amount);
      default: return note(static_cast<Value>(cpu_.now()));
    }
  }

  void lock() {
    const std::size_t which = below(memory_.locks.size());
    const Address guarded = memory_.guarded + which * memory_.line_bytes;
    Lock& lock = *memory_.locks[which];
    lock.acquire(cpu_);
    const Value before = cpu_.load(guarded);
    cpu_.store(guarded, before + 1);
    cpu_.compute(static_cast<std::int64_t>(below(100)));
    const Value after = cpu_.load(guarded);
    require(after == before + 1, cpu_, "two CPUs were inside a lock", after, before + 1);
    lock.release(cpu_);
    ++done_.entries[which];
    note(before);
  }

  // Waits for anybody to tick, but no longer than until the own timer's handler sets the own flag. Where no program ends, CPU 0
  // ticks for all the others, who can do without a timer.
  void spin() {
    if (!memory_.programs_end && me() == 0) return note(cpu_.fetch_add(memory_.clock, 1));
    const std::array<Address, 2> words = {memory_.clock, memory_.flags + 8 * me()};
    std::array<Value, 2> values{};
    cpu_.store(words[1], 0);
    const Value clock = cpu_.load(words[0]);
    if (memory_.programs_end || below(2) == 0) cpu_.set_timer(static_cast<double>(below(3000)), kSetFlag);
    cpu_.spin_until_any(words, values, [clock](std::span<const Value> now) { return now[0] != clock || now[1] != 0; });
    note(values[0]);
  }

  void send_interrupt() {
    const int vector = kCountUp + kVectors * static_cast<int>(any_record());
    switch (below(4)) {
      case 0: return cpu_.set_timer(static_cast<double>(below(500)), vector);
      case 1: {
        cpu_.disable_interrupts();
        compute();
        load();
        return cpu_.enable_interrupts();
      }
      default: return cpu_.send_ipi(any_cpu(), vector);
    }
  }

  // The own timer wakes it, if nobody did before; others are woken for no reason.
  void sleep() {
    if (below(2) == 0) return cpu_.wake(any_cpu());
    cpu_.set_timer(static_cast<double>(below(2000)), kWakeMe);
    cpu_.sleep();
  }

  // Runs between any two operations, even inside one that waits: it uses nothing that the program checks.
  void interrupt(int vector) {
    const FunctionScope scope(cpu_, memory_.handler);
    const auto record = static_cast<std::size_t>(vector / kVectors);
    switch (vector % kVectors) {
      case kCountUp:
        cpu_.fetch_add(memory_.field(record, kCounter), 1);
        ++done_.increments[record];
        break;
      case kSetFlag: cpu_.store(memory_.flags + 8 * me(), 1); break;
      default: cpu_.wake(cpu_.id()); break;
    }
    cpu_.compute(static_cast<std::int64_t>(handler_random_.below(50)));
  }

  Cpu& cpu_;
  const Memory& memory_;
  Done& done_;
  Random random_;
  Random handler_random_;
  std::vector<Value> counters_seen_, data_seen_, words_seen_, bytes_seen_;  // by record
  std::vector<std::byte> private_bytes_;                                    // what the private memory must hold
};

class RandomReferences final : public Workload {
 public:
  explicit RandomReferences(const Parameters& parameters)
      : operations_(parameters.integer("operations")),
        shared_lines_(parameters.integer("shared_lines")),
        private_lines_(parameters.integer("private_lines")) {
    for (std::size_t kind = 0; kind < kShares.size(); ++kind) {
      shares_[kind] = static_cast<std::uint64_t>(parameters.integer(kShares[kind]));
      all_shares_ += shares_[kind];
    }
  }

  [[nodiscard]] bool ends() const override { return operations_ > 0; }
  void set_up(const Setting& setting) override {
    if (all_shares_ == 0) throw std::invalid_argument("workload: at least one of the shares must be more than 0");
    AddressSpace& space = setting.memory;
    const std::int64_t line = space.line_bytes();
    seed_ = setting.seed;
    memory_.cpus = setting.machine.cpus;
    memory_.programs_end = operations_ > 0;
    memory_.line_bytes = static_cast<Address>(line);
    const std::int64_t shared_bytes = std::max<std::int64_t>(shared_lines_ * line, kRecordBytes);
    memory_.records = static_cast<std::size_t>(shared_bytes) / kRecordBytes;
    memory_.shared = space.place_array("records", shared_bytes);
    memory_.clock = space.place_array("clock", line);
    memory_.flags = space.place_array("flags", std::int64_t{8} * memory_.cpus);
    memory_.guarded = space.place_array("guarded", static_cast<std::int64_t>(locks().size()) * line);
    memory_.private_bytes = static_cast<Address>(private_lines_ * line);
    for (int cpu = 0; cpu < memory_.cpus; ++cpu) {
      memory_.private_arrays.push_back(space.place_array(fmt::format("private[{}]", cpu), private_lines_ * line));
    }
    for (const LockEntry& entry : locks()) memory_.locks.push_back(entry.create(space, entry.name, memory_.cpus));
    memory_.user = space.function("user_code", Mode::user);
    memory_.handler = space.function("interrupt_handler", Mode::kernel);
    memory_.end = Barrier(space, "end", memory_.cpus);
    done_.resize(static_cast<std::size_t>(memory_.cpus));
  }

  void run(Cpu& cpu) override {
    Player player(cpu, memory_, done_[static_cast<std::size_t>(cpu.id().value)], seed_);
    for (std::int64_t i = 0; operations_ == 0 || i < operations_; ++i) {
      std::uint64_t draw = player.below(all_shares_);
      std::size_t kind = 0;
      while (draw >= shares_[kind]) draw -= shares_[kind++];
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
      checksum = checksum * 31 + done_[static_cast<std::size_t>(cpu)].checksum;
    }
    metrics.count("random.operations", total);
    metrics.count("random.checksum", static_cast<std::int64_t>(checksum >> 32));
  }

 private:
  // REQUIRES: every program has come to its end.
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
      const Value guarded = cpu.load(memory_.guarded + which * memory_.line_bytes);
      require(guarded == entries, cpu, "increments under a lock were lost", guarded, entries);
    }
  }

  std::int64_t operations_;
  std::int64_t shared_lines_;
  std::int64_t private_lines_;
  std::array<std::uint64_t, kShares.size()> shares_{};
  std::uint64_t all_shares_ = 0;
  std::uint64_t seed_ = 0;
  Memory memory_;
  std::vector<Done> done_;
};

}  // namespace

std::vector<ParameterDeclaration> random_references_parameters() {
  std::vector<ParameterDeclaration> parameters = {
      {.name = "operations",
       .default_value = std::int64_t{0},
       .meaning = "per CPU, then sums are checked; 0: until the run is over",
       .maximum = 1e12},
      {.name = "shared_lines",
       .default_value = std::int64_t{4},
       .meaning = "lines that all CPUs use",
       .minimum = 1,
       .maximum = 10000},
      {.name = "private_lines",
       .default_value = std::int64_t{40},
       .meaning = "lines of each CPU's own",
       .minimum = 1,
       .maximum = 100000},
  };
  for (std::size_t kind = 0; kind < kShares.size(); ++kind) {
    parameters.push_back({.name = kShares[kind],
                          .default_value = kDefaultShares[kind],
                          .meaning = "how often, against the other shares",
                          .maximum = 1e6});
  }
  return parameters;
}

std::unique_ptr<Workload> make_random_references(const Parameters& parameters) {
  return std::make_unique<RandomReferences>(parameters);
}

}  // namespace linebounce
