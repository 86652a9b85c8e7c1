// One call of a function of a compiled lock, on one CPU: turns the accesses of its code into operations of the Cpu.
#pragma once

#include <optional>
#include <vector>

#include "models/core/cpu.hpp"
#include "workloads/locks/waits_in.hpp"
#include "workloads/native/native_memory.hpp"

namespace linebounce::workloads {

// The functions that the code calls (runtime/runtime.c).
const NativeHooks& native_hooks();

class NativeCall {
 public:
  // `waits_in`: the functions in which waits are counted; null: in the running function.
  NativeCall(Cpu& cpu, NativeMemory& memory, const WaitsIn* waits_in);
  ~NativeCall();
  NativeCall(const NativeCall&) = delete;
  NativeCall& operator=(const NativeCall&) = delete;

  // Runs the function and returns its result. Errors: ModelFailure if it does what can't be simulated.
  std::uintptr_t run(LockObject::Function function, Address lock);
  [[nodiscard]] bool waited() const { return waited_; }

  // ---- for native_hooks() ----

  // `frame`: the lowest address of the code's stack.
  Value access(NativeAccess access, const volatile void* at, int bytes, int order, Value operand, Value expected,
               const void* site, const char* frame);
  void range(NativeAccess access, const volatile void* at, std::size_t bytes, const void* site);
  void* thread_local_at(std::size_t offset);
  [[nodiscard]] int machine(int what, int argument) const;
  std::uint64_t now_ns();
  void* of_cpu(void* own, int cpu) const;
  [[noreturn]] void fail(const std::string& what, const void* site) const;
  [[noreturn]] void fail_at(const std::string& place, const std::string& what) const;
  // True if the latest weak compare-exchange failed though it found the expected value.
  [[nodiscard]] bool fails_weakly() const { return fails_weakly_; }

 private:
  // The target of an access: a simulated address. Null for the function's own stack, as long as the code has not stored a
  // pointer into it.
  struct Target {
    Address address = 0;
    bool is_simulated = false;
  };
  // One load of a loop that may be a spin.
  struct Look {
    const void* site;
    Address address;
    int bytes;
    Value seen;
  };
  // A plain store that simulated memory lacks.
  struct Pending {
    const volatile void* at;
    std::size_t bytes;
    friend bool operator==(const Pending&, const Pending&) = default;
  };
  static constexpr std::size_t kMostLooks = 4;  // limit on the loads in one iteration of a spin

  [[nodiscard]] std::optional<Address> on_stack(const volatile void* at) const;
  [[nodiscard]] Target target(NativeAccess access, const volatile void* at, int bytes, const void* site) const;
  [[nodiscard]] Value stored(Value value, int bytes);
  [[nodiscard]] Value loaded(Value value, int bytes) const;
  void charge(const void* site, bool is_next_turn);
  void note_wait();
  void note_run(const void* site) const;
  void plain(NativeAccess access, const volatile void* at, int bytes, const Target& target, const void* site,
             const char* frame);
  Value atomic(NativeAccess access, Address address, int bytes, int order, Value operand, Value expected);
  Value exchange_weakly(Address address, int bytes, Value operand, Value expected);
  Value look(const void* site, const volatile void* at, Address address, int bytes, const char* frame);
  Value spin();
  Value change(NativeAccess access, Address address, int bytes, Value operand, MemoryOrder order);
  void fence(int order);
  [[nodiscard]] int order_at(NativeAccess access, const void* site, int order) const;
  [[nodiscard]] MemoryOrder update_order(int order) const;
  static int word_at(Address address, std::size_t bytes);
  void write_pending();
  void write_back(const volatile void* at, Address to, std::size_t bytes);
  void publish_stack();
  void note_unpublished(const Pending& written);
  [[nodiscard]] NativeMemory::Stack& own_stack() const { return memory_->stack(cpu_->id().value, level_); }
  void forget_returned(const char* frame);
  void note_own(const volatile void* at, Address address, int bytes);
  void note_write(const volatile void* at, Address address, int bytes);
  [[nodiscard]] bool lacks_store(const volatile void* at, Address address, int bytes) const;
  Value newest(Value seen, const volatile void* at, Address address, int bytes);
  [[nodiscard]] bool is_next_turn(const void* site, Address address, int bytes) const;
  [[nodiscard]] bool state_is_kept(const char* frame) const;
  void keep_state(const char* frame);
  // Makes this call the current one again, because Cpu may have run other CPUs' code meanwhile.
  void resume() const { memory_->object().resume(const_cast<NativeCall*>(this)); }

  Cpu* cpu_;
  NativeMemory* memory_;
  const WaitsIn* waits_in_;
  int level_;
  char* top_ = nullptr;               // end of the code's stack
  std::optional<Pending> pending_;    // what the code has stored since the last call of a hook
  std::vector<Pending> unpublished_;  // stores to the own stack while it is private, each place once
  bool stack_is_published_ = false;
  const char* lowest_ = nullptr;  // lowest address of the code's stack at the last access, once it is published
  bool waited_ = false;
  bool fails_weakly_ = false;
  MemoryOrder load_order_ = MemoryOrder::relaxed;  // of the load that is being made
  std::optional<FunctionId> caller_;               // set by the first wait
  std::vector<Look> turn_;
  std::vector<char> state_;  // the stack and registers before turn_.front()
  Cpu::Loop loop_ = Cpu::Loop::tight;
};

}  // namespace linebounce::workloads
