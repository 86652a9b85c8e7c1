// What a program's or lock's setup() works on. Every CPU's interpreter runs setup(), so that each has what it sets; memory is
// placed once, by the first CPU's, and the others are told where.
#pragma once

#include <fmt/format.h>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "workloads/locks/cpu_objects.hpp"
#include "workloads/locks/sleepers.hpp"
#include "workloads/lua/interpreter.hpp"
#include "workloads/program/barrier.hpp"
#include "workloads/program/interrupts.hpp"
#include "workloads/program/shootdown.hpp"

namespace linebounce::workloads {

class LockSet;
class LuaLock;
class MeteredLock;

// What the functions of `cpu` work with. Programs hold the first three as handles: a number of their kind.
struct LuaHandles {
  std::vector<MeteredLock*> locks;
  std::deque<Barrier> barriers;
  std::vector<QueueNodes*> nodes;
  std::optional<Sleepers> sleepers;  // once there is a lock that sleeps
  std::optional<Interrupts> interrupts;
  std::optional<Shootdowns> shootdowns;  // once the program has asked for them
};

// Of a lock or counter: what its own words are called, and where whoever uses it wants them.
struct OwnWord {
  std::string name;
  std::optional<Address> word;  // none: on a line of its own
  int word_bytes = 8;           // there are at `word`
};

class SetupContext {
 public:
  // `lock_set` null: of a lock, which makes no others. `own_word` null: of a program.
  SetupContext(AddressSpace& space, CpuObjects& of_cpus, LuaHandles& made, LockSet* lock_set, const OwnWord* own_word,
               std::span<const CpuPlace> cpu_places = {})
      : memory(space), per_cpu(of_cpus), handles(made), locks(lock_set), own(own_word), places(cpu_places) {}

  // The next CPU's turn.
  void begin_again() { next_ = 0, first_ = false; }

  // Does what `what` describes, the first time; returns what came of it, a number. Errors: LuaError, if an earlier CPU's
  // setup() did something else.
  template <class Make>
  std::uint64_t once(const Interpreter& lua, const std::string& what, Make make) {
    if (first_) {
      if (done_.size() == kMostDone)
        lua.fail(fmt::format("setup() places more than {} objects and words: does a loop never end?", kMostDone));
      const std::uint64_t result = make();
      done_.push_back({what, result});
    } else if (next_ == done_.size() || done_[next_].what != what) {
      lua.fail("setup() must do the same for each CPU, and here does not: " + what);
    }
    return done_[next_++].result;
  }

  AddressSpace& memory;
  CpuObjects& per_cpu;
  LuaHandles& handles;
  LockSet* locks;
  const OwnWord* own;
  std::span<const CpuPlace> places;  // of a program
  std::vector<LuaLock*> own_locks;   // whose functions are the program's

 private:
  // They are outside of what Lua may allocate.
  static constexpr std::size_t kMostDone = std::size_t{1} << 21;

  struct Done {
    std::string what;
    std::uint64_t result;
  };
  std::vector<Done> done_;
  std::size_t next_ = 0;
  bool first_ = true;
};

// Sets the global `machine`: cpus, nodes, line_bytes, node_of. `places`: where the CPUs are; empty: nothing is known of nodes.
void set_machine(Interpreter& lua, int line_bytes, const std::vector<CpuPlace>& places, int cpus, int last_memory_node = 0);
// Gives the program's named functions their numbers.
void name_functions(Interpreter& lua, AddressSpace& memory);

// What a handle is of, and its number, as a light userdata.
enum class HandleKind : std::uint8_t { lock = 1, barrier, nodes };
void push_handle(lua_State* state, HandleKind kind, std::uint64_t number);
// Errors: LuaError, if the argument is none of this kind.
std::size_t handle_at(Interpreter& lua, int argument, HandleKind kind);

}  // namespace linebounce::workloads
