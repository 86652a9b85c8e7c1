// What the setup() of a program, lock or counter works on. Every CPU's interpreter runs setup(), so that each has the variables
// that setup() sets. Memory is placed only once: the first CPU's run places it, and the other runs get the same addresses.
#pragma once

#include <fmt/format.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "workloads/locks/cpu_objects.hpp"
#include "workloads/locks/futexes.hpp"
#include "workloads/locks/sleepers.hpp"
#include "workloads/lua/interpreter.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/interrupts.hpp"
#include "workloads/program/layout_set.hpp"
#include "workloads/program/shootdown.hpp"

namespace linebounce::workloads {

inline constexpr const char* kMustDeclareSleep = "a lock that sleeps must declare it: traits = { sleeps = true }";

class LockSet;
class LuaLock;
class MeteredLock;

// The objects that the Lua functions of `cpu` work with. Programs refer to locks, barriers and sets of queue nodes by handles.
struct LuaHandles {
  std::vector<MeteredLock*> locks;
  std::deque<Barrier> barriers;
  std::vector<QueueNodes*> nodes;
  std::optional<Sleepers> sleepers;  // empty until a lock that sleeps is created
  const Futexes* futexes = nullptr;  // none until setup() calls futexes()
  std::optional<Interrupts> interrupts;
  std::optional<Shootdowns> shootdowns;  // empty until setup() calls shootdowns()
};

// Where lock_word() and counter_word() place the words of a lock or counter.
struct OwnWord {
  std::string name;             // name of the lock or counter, and of its words
  std::optional<Address> word;  // the word that its user provides; empty: a separate line
  int word_bytes = 8;           // size of `word`
};

class SetupContext {
 public:
  // `lock_set` is null for a lock's setup(), which creates no other locks. `own_word` is null for a program's setup().
  SetupContext(AddressSpace& space, CpuObjects& of_cpus, LuaHandles& made, LockSet* lock_set, const OwnWord* own_word,
               std::span<const CpuPlace> cpu_places = {})
      : memory(space), per_cpu(of_cpus), handles(made), locks(lock_set), own(own_word), places(cpu_places) {}

  // Begins the next CPU's run of setup().
  void begin_again() { next_ = 0, first_ = false; }

  // In the first CPU's run, calls make(), which does what `what` describes, and returns its result. In later runs, only
  // returns the first run's result. Errors: LuaError if the first run did something else at this point of setup().
  template <class Make>
  std::uint64_t once(const Interpreter& lua, const std::string& what, Make make) {
    if (first_) {
      if (done_.size() == kMostDone)
        lua.fail(fmt::format("setup() places more than {} objects and words: does a loop never end?", kMostDone));
      const std::uint64_t result = make();
      done_.push_back({what, result});
    } else if (next_ == done_.size() || done_[next_].what != what) {
      lua.fail("setup() must do the same for each CPU, but does not here: " + what);
    }
    return done_[next_++].result;
  }

  AddressSpace& memory;
  CpuObjects& per_cpu;
  LuaHandles& handles;
  LockSet* locks;
  const OwnWord* own;
  std::span<const CpuPlace> places;    // where each CPU is; empty except for a program
  const LayoutSet* layouts = nullptr;  // the file of a program's parameter `layout`
  std::vector<LuaLock*> own_locks;     // the locks whose functions are in the program

 private:
  // The limit on the size of done_, which LuaMemory's limit does not cover.
  static constexpr std::size_t kMostDone = std::size_t{1} << 21;

  struct Done {
    std::string what;
    std::uint64_t result;
  };
  std::vector<Done> done_;
  std::size_t next_ = 0;
  bool first_ = true;
};

// Sets the global `machine`: cpus, line_bytes, nodes and node_of, which are the operating system's, caches and cache_of.
// `places` says where each CPU is; empty: all in node 0, with one cache.
void set_machine(Interpreter& lua, int line_bytes, const std::vector<CpuPlace>& places, int cpus, int last_memory_node = 0);
// Sets the ids of the functions to which the program has given names with named().
void name_functions(Interpreter& lua, AddressSpace& memory);

// A handle is a light userdata with an object's kind and its index in LuaHandles.
enum class HandleKind : std::uint8_t { lock = 1, barrier, nodes };
void push_handle(lua_State* state, HandleKind kind, std::uint64_t number);
// Returns the index in a handle. Errors: LuaError if the argument is not a handle of this kind.
std::size_t handle_at(Interpreter& lua, int argument, HandleKind kind);

}  // namespace linebounce::workloads
