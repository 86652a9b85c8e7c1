// A CPU without a machine for programs in Lua: memory is a table, nothing takes time, and waiting for others ends
// unsuccessfully.
#pragma once

#include <map>
#include <utility>

#include "models/core/cpu.hpp"
#include "models/core/cpu_counters.hpp"
#include "workloads/lua/lua_error.hpp"

namespace linebounce::fuzz {

class LoneCpu final : public Cpu {
 public:
  [[nodiscard]] CpuId id() const override { return CpuId(0); }
  Value load(Address address, int bytes) override {
    count();
    return word(address, bytes);
  }
  Pair load_pair(Word first, Word second) override {
    count();
    return {word(first.address, first.bytes), word(second.address, second.bytes)};
  }
  void load_all(std::span<const Word> words, std::span<Value> values) override {
    for (std::size_t i = 0; i < words.size(); ++i) values[i] = load(words[i].address, words[i].bytes);
  }
  void store(Address address, Value value, int bytes) override { exchange(address, value, bytes); }
  void store_release(Address address, Value value, int bytes) override { exchange(address, value, bytes); }
  Value exchange(Address address, Value value, int bytes) override {
    count();
    const Value before = word(address, bytes);
    for (int i = 0; i < bytes; ++i) memory_[address + static_cast<Address>(i)] = static_cast<std::uint8_t>(value >> 8 * i);
    return before;
  }
  Value fetch_add(Address address, Value addend, int bytes) override {
    return exchange(address, word(address, bytes) + addend, bytes);
  }
  Value compare_exchange(Address address, Value expected, Value desired, int bytes) override {
    const Value before = word(address, bytes);
    return before == expected ? exchange(address, desired, bytes) : load(address, bytes);
  }
  void fence() override { count(); }
  void store_fence() override { count(); }
  void prefetch(Address, Access) override { count(); }
  void execute(std::int64_t) override { count(); }
  void compute(std::int64_t) override { count(); }
  void invalidate_pages(Address, std::int64_t) override { count(); }
  void spin(std::span<const Address> addresses, std::span<Value> values, SpinCondition done, int bytes, Loop) override {
    for (std::size_t i = 0; i < addresses.size(); ++i) values[i] = load(addresses[i], bytes);
    if (!done(values)) give_up();
  }
  void sleep() override { give_up(); }
  void wake(CpuId) override { count(); }
  void set_interrupt_handler(InterruptHandler) override {}
  void disable_interrupts() override { count(); }
  void enable_interrupts() override { count(); }
  void set_timer(double, int) override { count(); }
  void interrupt_later(CpuId, int, double) override { count(); }
  void write_adding(OperationKind, Address, Value, int, bool) override { count(); }

  Tick now() override {
    count();
    return operations_;
  }
  [[nodiscard]] Tick local_time() const override { return operations_; }
  [[nodiscard]] Tick measured(Tick from, Tick to) const override { return to - from; }
  [[nodiscard]] bool measures(Tick) const override { return true; }
  [[nodiscard]] double to_ns(Tick ticks) const override { return static_cast<double>(ticks); }
  FunctionId enter_function(FunctionId function) override { return std::exchange(function_, function); }
  void leave_function(FunctionId caller) override { function_ = caller; }
  [[nodiscard]] FunctionId function() const override { return function_; }
  void tally(int, std::int64_t) override { count(); }
  [[nodiscard]] std::int64_t tallied(int) const override { return 0; }
  [[nodiscard]] const ThreadCounters& counters() const override { return counters_; }
  [[nodiscard]] std::int64_t wakes() const override { return 0; }
  [[nodiscard]] bool wake_pending() const override { return false; }
  [[nodiscard]] ProgramTap* tap() const override { return nullptr; }
  [[nodiscard]] Timeline* timeline() const override { return nullptr; }

 private:
  static constexpr int kMostOperations = 500;

  [[noreturn]] static void give_up() { throw workloads::LuaError("enough of it"); }
  void count() {
    if (++operations_ > kMostOperations) give_up();
  }
  [[nodiscard]] Value word(Address address, int bytes) const {
    Value value = 0;
    for (int i = 0; i < bytes; ++i) {
      const auto found = memory_.find(address + static_cast<Address>(i));
      if (found != memory_.end()) value |= static_cast<Value>(found->second) << 8 * i;
    }
    return value;
  }

  std::map<Address, std::uint8_t> memory_;
  std::int64_t operations_ = 0;
  FunctionId function_ = 0;
  ThreadCounters counters_;
};

}  // namespace linebounce::fuzz
