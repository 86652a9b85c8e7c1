// A compiled lock, loaded into this process: its functions, what it declares, and where its variables are. The file was
// compiled by sim/native, with runtime/runtime.c, whose calls arrive at NativeHooks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "workloads/locks/lock_traits.hpp"
#include "workloads/native/code_faults.hpp"
#include "workloads/native/native_order.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/source_file.hpp"

namespace linebounce::workloads {

// As in runtime.c.
enum class NativeAccess : int {
  read,
  write,
  load,
  store,
  exchange,
  fetch_add,
  fetch_and,
  fetch_or,
  fetch_xor,
  fetch_nand,
  compare_exchange,
  compare_exchange_weak,
  fence
};

class LockObject;
class NativeCall;

// As struct Hooks of runtime.c.
struct NativeHooks {
  std::uint64_t (*access)(NativeCall* call, int access, const volatile void* at, int bytes, int order, std::uint64_t operand,
                          std::uint64_t expected, const void* site);
  void (*range)(NativeCall* call, int access, const volatile void* at, std::size_t bytes, const void* site);
  void* (*thread_local_at)(NativeCall* call, std::size_t offset);
  void (*fail)(NativeCall* call, const char* what, const void* site);
  int (*machine)(NativeCall* call, int what, int argument);
  std::uint64_t (*now_ns)(NativeCall* call);
  void* (*of_cpu)(NativeCall* call, void* own, int cpu);
  bool (*fails_weakly)(const NativeCall* call);
  void (*initialises)(const LockObject* object, const void* site);
};

// A place in the lock's code that accesses memory.
struct NativeSite {
  int number = 0;
  int line = 0;
  int instructions = 0;  // number of instructions since the previous access in the code
  const char* file = "";
  bool is_atomic = false;  // an atomic operation, a fence or a volatile access
  // The place outside of headers, if one is known, and the calls that lead from there: "my_lock.c:7", "wrappers.h:10".
  std::vector<std::string> chain = {};

  [[nodiscard]] std::string place() const;
  [[nodiscard]] int line_outside() const;  // the line of place()
};

class LockObject {
 public:
  enum class Function : std::uint8_t { init, acquire, release, try_acquire, acquire_shared, release_shared, end_shared };
  static constexpr int kFunctions = 7;

  // `used`: as for native_lock_entry. Errors: std::runtime_error.
  explicit LockObject(const SourceFile& file, std::vector<NativeOrder>* used = nullptr);
  ~LockObject();
  LockObject(const LockObject&) = delete;
  LockObject& operator=(const LockObject&) = delete;

  [[nodiscard]] const std::string& title() const { return title_; }
  [[nodiscard]] const LockTraits& traits() const { return traits_; }
  [[nodiscard]] std::size_t size() const { return size_; }  // of the lock's type
  // True if sequentially consistent operations are full fences, as the kernel's are.
  [[nodiscard]] bool has_kernel_orders() const { return has_kernel_orders_; }
  [[nodiscard]] std::size_t alignment() const { return alignment_; }
  [[nodiscard]] bool has(Function function) const { return functions_[static_cast<std::size_t>(function)] != nullptr; }

  // Calls function(lock), which runs as part of `call`; null: before the simulation. `top` receives the end of its stack.
  std::uintptr_t run(Function function, void* lock, NativeCall* call, char** top) const;
  // Makes `call` the current call again, after the simulator has run another one.
  void resume(NativeCall* call) const {
    link_->call = call;
    CodeFaults::running(call == nullptr ? nullptr : this);
  }
  [[nodiscard]] NativeCall* current() const { return link_->call; }
  // The place in the source of an address in the code: "lock.c:7".
  [[nodiscard]] std::string line_at(const void* address) const;
  // Returns the number of pauses since the last call.
  [[nodiscard]] int take_pauses() const;
  [[nodiscard]] const NativeSite* site(const void* return_address) const {
    const auto found = site_at_.find(return_address);
    return found == site_at_.end() ? nullptr : &sites_[found->second];
  }

  [[nodiscard]] const std::vector<NativeSite>& sites() const { return sites_; }  // by number
  // Notes a place that init() has run.
  void note_initial(const void* return_address) const;
  [[nodiscard]] const std::set<int>& ran_initially() const { return ran_initially_; }

  // The memory order that an operation uses: normally the code's own, a weaker one in trials.
  [[nodiscard]] int order_at(const NativeSite* site, NativeOrder::Kind kind, int order) const;

  // The fields of the lock, of the file's variables, and of its thread-local ones.
  struct Fields {
    std::vector<Field> lock, data, thread_locals;
  };
  [[nodiscard]] const Fields& fields() const { return fields_; }

  // The file's variables, and what they held when it was loaded.
  [[nodiscard]] std::span<std::byte> data() const { return data_; }
  void restore_data() const;
  // What each CPU's thread-local variables hold at first; the rest of `thread_local_bytes` is 0.
  [[nodiscard]] std::span<const std::byte> thread_locals() const { return thread_locals_; }
  [[nodiscard]] std::size_t thread_local_bytes() const { return thread_local_bytes_; }
  // True for constants and code.
  [[nodiscard]] bool is_constant(const volatile void* at) const {
    const auto* byte = static_cast<const volatile std::byte*>(at);
    return byte >= begin_ && byte < end_;
  }

 private:
  // As struct Link of runtime.c.
  struct Link {
    const NativeHooks* hooks;
    NativeCall* call;
    unsigned* pauses;
    const std::byte *sites, *sites_end;
    const LockObject* object;
    const std::byte *lines, *lines_end;
  };

  void read_declaration();
  void find_segments();
  void read_sites();
  void read_names(const std::string& names, std::uintptr_t data_begin);
  void read_call(std::istream& words);
  [[nodiscard]] void* symbol(const char* name) const;

  std::map<int, int> orders_;
  std::vector<NativeOrder>* used_;
  Fields fields_;
  std::uintptr_t loaded_at_ = 0;  // address at which the object's address 0 was loaded
  void* handle_ = nullptr;
  Link* link_ = nullptr;
  std::uintptr_t (*enter_)(void* function, void* lock, char** top) = nullptr;
  std::array<void*, kFunctions> functions_ = {};
  std::string title_;
  LockTraits traits_;
  std::size_t size_ = 0, alignment_ = 1;
  bool has_kernel_orders_ = false;
  const std::byte *begin_ = nullptr, *end_ = nullptr;
  std::span<std::byte> data_;
  std::vector<std::byte> pristine_;
  std::span<const std::byte> thread_locals_;
  std::size_t thread_local_bytes_ = 0;
  std::vector<NativeSite> sites_;
  std::unordered_map<const void*, std::size_t> site_at_;
  mutable std::set<int> ran_initially_;
};

}  // namespace linebounce::workloads
