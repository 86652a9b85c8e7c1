// One CPU's part in the workload random_references: random operations of every kind, and the rules that its loads must obey.
// The rules hold under every memory model and in every order in which the machine may run the operations.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "workloads/locks/metered_lock.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads::random_references {

constexpr int kOperations = 0;  // tally

// Offsets in a record of the shared memory. Records are packed: a line may hold several, or a part of one.
constexpr Address kRecordBytes = 32;
constexpr Address kCounter = 0;  // all CPUs add 1
constexpr Address kFlag = 8;     // 4 bytes: how far the previous record has been published
constexpr Address kWord = 12;    // 2 bytes ...
constexpr Address kByte = 14;    // ... and 1 byte, each written by one CPU that counts up in it
constexpr Address kSlot = 16;    // where tokens are exchanged
constexpr Address kData = 24;    // published by one CPU

// lines that each lock guards: more than a CPU's outstanding misses, so that the last stores complete late
constexpr int kGuardedLines = 6;

constexpr std::array<const char*, 12> kShares = {"load_share",      "store_share",   "atomic_share",   "prefetch_share",
                                                 "fence_share",     "compute_share", "lock_share",     "spin_share",
                                                 "interrupt_share", "sleep_share",   "load_all_share", "invalidate_share"};

// Interrupt vectors: what the handler does, and to which record.
enum Vector : int { kCountUp = 0, kSetFlag = 1, kWakeMe = 2, kVectors = 3 };

struct Memory {
  std::size_t records = 0;
  int cpus = 0;
  bool programs_end = false;
  Address shared = 0;
  Address clock = 0;    // advanced by any CPU at random
  Address flags = 0;    // 8 bytes for each CPU, set by its own interrupt handler; they share lines
  Address guarded = 0;  // kGuardedLines for each lock; only the first word of each is used
  Address line_bytes = 0;
  Address private_bytes = 0;
  std::vector<Address> private_arrays;  // by CPU
  std::vector<MeteredLock*> locks;
  FunctionId user = 0;
  FunctionId handler = 0;
  Barrier end;

  [[nodiscard]] Address field(std::size_t record, Address offset) const { return shared + record * kRecordBytes + offset; }
  [[nodiscard]] Address guarded_word(std::size_t lock, int line) const {
    return guarded + (lock * kGuardedLines + line) * line_bytes;
  }
};

// What one CPU has done to the shared words. At the end, these words must hold the sums over all CPUs.
struct Done {
  std::vector<Value> increments;  // by record
  Value balance = 0;              // tokens put into slots minus those taken out
  std::vector<Value> entries;     // by lock
  Value checksum = 0;
};

inline void require(bool holds, const Cpu& cpu, const char* rule, Value found, Value expected) {
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
        &Player::load, &Player::store, &Player::atomic,         &Player::prefetch, &Player::fence,    &Player::compute,
        &Player::lock, &Player::spin,  &Player::send_interrupt, &Player::sleep,    &Player::load_all, &Player::invalidate};
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
  [[nodiscard]] std::size_t me() const { return cpu_.id().value; }
  [[nodiscard]] bool mine(std::size_t record) const { return record % memory_.cpus == me(); }
  std::size_t any_record() { return below(memory_.records); }
  // A record that this CPU may publish: the given one, or the next that it owns.
  [[nodiscard]] std::size_t own_record(std::size_t record) const {
    const std::size_t own = record - record % memory_.cpus + me();
    return own < memory_.records ? own : me();
  }
  CpuId any_cpu() { return CpuId(static_cast<int>(below(static_cast<std::uint64_t>(memory_.cpus)))); }

  void note(Value value) {
    done_.checksum = ((done_.checksum << 7) | (done_.checksum >> 57)) ^ (value * 0x9E3779B97F4A7C15ULL);
  }

  // Checks that the value of a word never decreases as this CPU sees it.
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

  // The loads of one load_all() have no order. Each must return at least the value that this CPU had seen of its word before
  // the call.
  void load_all() {
    const std::array<std::size_t, 4> records = {any_record(), any_record(), any_record(), any_record()};
    std::array<Cpu::Word, 4> words;
    std::array<Value, 4> values{};
    std::array<Value, 4> before{};
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = {memory_.field(records[i], kCounter), 8};
      before[i] = counters_seen_[records[i]];
    }
    cpu_.load_all(words, values);
    for (std::size_t i = 0; i < words.size(); ++i) {
      require(values[i] >= before[i], cpu_, "a counter went back", values[i], before[i]);
      counters_seen_[records[i]] = std::max(counters_seen_[records[i]], values[i]);
      note(values[i]);
    }
  }

  void invalidate() { cpu_.invalidate_pages(memory_.private_arrays[me()], static_cast<std::int64_t>(below(40))); }

  void store() {
    const std::size_t record = own_record(any_record());
    if (record >= memory_.records) return private_access(true);  // there are fewer records than CPUs
    switch (below(5)) {
      case 0: return count_up(words_seen_, record, kWord, 2);
      case 1: return count_up(bytes_seen_, record, kByte, 1);
      case 2: return publish(record);
      default: return private_access(true);
    }
  }

  // The only writer counts up, and stays at the largest value that fits.
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

  // Accesses 1, 2, 4 or 8 bytes of the CPU's private memory. A load must return what this CPU stored there last.
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

  void lock() { section(below(memory_.locks.size())); }

  // Takes a lock as a reader or a writer. Sometimes takes another one inside it, always one later in the list, because CPUs
  // might otherwise wait for each other.
  void section(std::size_t which) {
    const bool readers_keep_writers_out = memory_.locks[which]->traits().readers != Readers::never_wait;
    if (below(4) == 0 && readers_keep_writers_out) return read_section(which);
    MeteredLock& lock = *memory_.locks[which];
    lock.acquire(cpu_);
    const Value before = begin_write(which);
    cpu_.compute(static_cast<std::int64_t>(below(100)));
    const std::size_t later = memory_.locks.size() - which - 1;
    if (later > 0 && below(4) == 0) section(which + 1 + below(later));
    end_write(which, before);
    lock.release(cpu_);
    note(before);
  }

  // Changes the first line. All lines hold the number of entries, except between begin_write() and end_write().
  Value begin_write(std::size_t which) {
    const Address first = memory_.guarded_word(which, 0);
    const Value before = cpu_.load(first);
    cpu_.store(first, before + 1);
    return before;
  }
  void end_write(std::size_t which, Value before) {
    const Value after = cpu_.load(memory_.guarded_word(which, 0));
    for (int line = 1; line < kGuardedLines; ++line) cpu_.store(memory_.guarded_word(which, line), before + 1);
    if (!memory_.locks[which]->traits().excludes) return;
    require(after == before + 1, cpu_, "two CPUs were inside a lock", after, before + 1);
    ++done_.entries[which];
  }

  // Reads the lines, the one that was written last first. REQUIRES: readers exclude writers, or notice them.
  void read_section(std::size_t which) {
    MeteredLock& lock = *memory_.locks[which];
    Value last = 0;
    Value other = 0;  // a value that differs from the first one, if there is one
    do {
      lock.acquire_shared(cpu_);
      last = other = cpu_.load(memory_.guarded_word(which, kGuardedLines - 1));
      for (int line = kGuardedLines - 2; line >= 0; --line) {
        const Value value = cpu_.load(memory_.guarded_word(which, line));
        if (value != last) other = value;
      }
      cpu_.compute(static_cast<std::int64_t>(below(100)));
    } while (!lock.release_shared(cpu_));
    if (lock.traits().excludes) require(last == other, cpu_, "a reader has seen half of a writer's data", last, other);
    note(last);
  }

  // Waits until any CPU advances the clock, but no longer than until this CPU's timer handler sets its flag. If programs
  // never end, CPU 0 advances the clock for all others, and they need no timer.
  void spin() {
    if (!memory_.programs_end && me() == 0) return note(cpu_.fetch_add(memory_.clock, 1));
    const std::array<Address, 2> words = {memory_.clock, memory_.flags + 8 * me()};
    std::array<Value, 2> values{};
    cpu_.store(words[1], 0);
    const Value clock = cpu_.load(words[0]);
    if (memory_.programs_end || below(2) == 0) cpu_.set_timer(static_cast<double>(below(3000)), kSetFlag);
    const Cpu::Loop loop = clock % 2 == 0 ? Cpu::Loop::pauses : Cpu::Loop::tight;
    cpu_.spin_until_any(
        words, values, [clock](std::span<const Value> now) { return now[0] != clock || now[1] != 0; }, 8, loop);
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

  // Either wakes some CPU for no reason, or sleeps until another CPU or this CPU's timer wakes it.
  void sleep() {
    if (below(2) == 0) return cpu_.wake(any_cpu());
    cpu_.set_timer(static_cast<double>(below(2000)), kWakeMe);
    cpu_.sleep();
  }

  // Runs between any two operations, even inside one that waits, so it uses nothing that the program checks.
  void interrupt(int vector) {
    const FunctionScope scope(cpu_, memory_.handler);
    const std::size_t record = vector / kVectors;
    switch (vector % kVectors) {
      case kCountUp:
        cpu_.fetch_add(memory_.field(record, kCounter), 1);
        ++done_.increments[record];
        try_lock();
        break;
      case kSetFlag: cpu_.store(memory_.flags + 8 * me(), 1); break;
      default: cpu_.wake(cpu_.id()); break;
    }
    cpu_.compute(static_cast<std::int64_t>(handler_random_.below(50)));
  }

  // Called in a handler. The interrupted program may hold the lock, so the handler must not wait, nor take a lock that sleeps.
  void try_lock() {
    const std::size_t which = handler_random_.below(memory_.locks.size());
    MeteredLock& lock = *memory_.locks[which];
    if (lock.traits().sleeps || !lock.try_acquire(cpu_)) return;
    const Value before = begin_write(which);
    end_write(which, before);
    lock.release(cpu_);
  }

  Cpu& cpu_;
  const Memory& memory_;
  Done& done_;
  Random random_;
  Random handler_random_;
  std::vector<Value> counters_seen_, data_seen_, words_seen_, bytes_seen_;  // by record
  std::vector<std::byte> private_bytes_;                                    // the expected content of the private memory
};

}  // namespace linebounce::workloads::random_references
