// Where the memory of a compiled lock is in a simulated machine. All locks of one file in a run share it.
//
// The lock's code runs in the host's memory, but every value that another CPU could see is in simulated memory. Each
// simulated address has a host address, at a distance that is the same in every process (mirror()). A value is stored there
// only between a call of NativeHooks and the access that follows the call. There are two exceptions: the file's variables,
// which the code finds where the loader has put them, and the stack of the running function. A pointer to either is stored as
// a pointer into the mirror, so that values are the same in every run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "models/core/cpu.hpp"
#include "workloads/locks/locks.hpp"
#include "workloads/native/lock_object.hpp"
#include "workloads/native/shared_stack.hpp"

namespace linebounce::workloads {

// The host address that stands for simulated address 0: the same in every process, except under valgrind, which has no such
// addresses. Errors: std::runtime_error if neither place is free.
std::uint64_t mirror();

class NativeMemory {
 public:
  static constexpr std::uint64_t kMirrorBytes = std::uint64_t{1} << 36;
  static constexpr std::size_t kStackBytes = 1024;  // size of the part of a function's local variables that other CPUs may see
  // Limit on how many lock functions may be nested on one CPU, because interrupts nest.
  static constexpr int kLevels = 4;

  // Places the file's variables. `name`: the prefix of the objects' names. `pause_cycles`: the machine's. Errors:
  // std::runtime_error.
  NativeMemory(const LockObject& object, const std::string& name, AddressSpace& space, CpuObjects& per_cpu, int pause_cycles);

  // Places a lock, and runs init() on it. Returns its address.
  Address place_lock(const LockPlace& place);

  // host() converts a simulated address to the host's, simulated() the reverse. simulated() returns nothing for an address
  // outside the mirror and the file's data.
  [[nodiscard]] static void* host(Address simulated) { return reinterpret_cast<void*>(mirror() + simulated); }
  [[nodiscard]] std::optional<Address> simulated(const volatile void* host) const {
    const auto at = reinterpret_cast<std::uint64_t>(host);
    if (at - mirror_ < kMirrorBytes) return at - mirror_;
    if (const std::uint64_t offset = at - data_begin_; offset < object_->data().size()) return data_ + offset;
    return std::nullopt;
  }
  // Converts a value between the code's form and that of simulated memory. The two differ for pointers to the file's
  // variables.
  [[nodiscard]] Value stored(Value value) const {
    const Value offset = value - data_begin_;
    return offset < object_->data().size() ? mirror_ + data_ + offset : value;
  }
  [[nodiscard]] Value loaded(Value value) const {
    const Value offset = value - mirror_ - data_;
    return offset < object_->data().size() ? data_begin_ + offset : value;
  }
  [[nodiscard]] Address thread_locals(int cpu) const { return thread_locals_[static_cast<std::size_t>(cpu)]; }
  // The end of the simulated stack of the CPU's function at this level.
  [[nodiscard]] Address stack_end(int cpu, int level) const {
    return stacks_[static_cast<std::size_t>(cpu)] + static_cast<Address>(level + 1) * kStackBytes;
  }

  using Stack = SharedStack<kStackBytes>;
  [[nodiscard]] Stack& stack(int cpu, int level) {
    return shared_[static_cast<std::size_t>(cpu) * kLevels + static_cast<std::size_t>(level)];
  }
  // Must be called before the first stack is shared.
  void share_stacks() { shared_.resize(stacks_.size() * kLevels); }
  [[nodiscard]] bool shares_stacks() const { return !shared_.empty(); }
  // The byte of a stack at a simulated address. `stack` is null if there is none, or if no stack is shared yet.
  struct StackByte {
    Stack* stack = nullptr;
    std::size_t at = 0;
  };
  [[nodiscard]] StackByte stack_byte(Address address);

  // How many functions of this file are running on the CPU, nested.
  [[nodiscard]] int& running(int cpu) { return running_[static_cast<std::size_t>(cpu)]; }
  [[nodiscard]] const CpuObjects& per_cpu() const { return *per_cpu_; }
  [[nodiscard]] const LockObject& object() const { return *object_; }
  [[nodiscard]] int pause_cycles() const { return pause_cycles_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void preset(Address to, std::span<const std::byte> bytes) const;

  const LockObject* object_;
  std::string name_;
  AddressSpace* space_;
  CpuObjects* per_cpu_;
  int pause_cycles_;
  std::uint64_t mirror_ = mirror();
  std::uint64_t data_begin_;
  Address data_;
  std::vector<Address> thread_locals_, stacks_;  // by CPU
  std::vector<Stack> shared_;                    // by CPU and level; empty until a stack is shared
  std::vector<int> running_;                     // by CPU
};

}  // namespace linebounce::workloads
