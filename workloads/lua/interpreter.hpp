// A Lua interpreter for one CPU's part of a program or lock. It reaches nothing but what it is given: no files, no clock, no
// other interpreter.
//
// Errors are C++ exceptions throughout. Lua is C, and a C function's frames are unwound like others; it has no handler of its
// own here (no lua_pcall, no pcall in programs), so that its panic function is called, which throws. So frames of ours between
// Lua's are left properly, and what a Cpu throws passes through Lua. An interpreter is of no use after an error.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/core/cpu.hpp"
#include "workloads/lua/lua_api.hpp"
#include "workloads/lua/lua_error.hpp"
#include "workloads/lua/lua_memory.hpp"
#include "workloads/program/address_space.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/source_file.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

class SetupContext;
class WaitsIn;
struct LuaHandles;

class Interpreter {
 public:
  // `cpu`: whose it is; none: it only looks at what a file declares.
  explicit Interpreter(const SourceFile& file, std::optional<int> cpu = {});
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  static Interpreter& of(lua_State* state) { return **static_cast<Interpreter**>(lua_getextraspace(state)); }
  [[nodiscard]] lua_State* state() const { return state_; }

  // Runs the file's text, which declares and defines. Errors: LuaError, here and below.
  void load();
  // Pushes the global function of this name; false: there is none, and nothing is pushed.
  bool push_function(const char* name);
  // As lua_call, of a function with its arguments on Lua's stack.
  void call(int arguments, int results);

  // The text at `index` of Lua's stack, which is one. What Lua has once, C++ may be told to keep a million times. Errors: also
  // beyond kLongestText.
  [[nodiscard]] std::string text_at(int index) const;
  static constexpr std::size_t kLongestText = 1000;  // bytes

  // The line that runs, of the innermost function that is the program's own; 0: none.
  [[nodiscard]] int source_line() const;
  // "FILE:LINE: CPU N: TEXT", of the line that runs.
  [[noreturn]] void fail(const std::string& text) const;

  // ---- the machine ----

  // From now on operations go to this CPU.
  void bind(Cpu& cpu) { cpu_ = &cpu; }
  [[nodiscard]] bool bound() const { return cpu_ != nullptr; }
  [[nodiscard]] Cpu& cpu() const { return *cpu_; }
  [[nodiscard]] std::optional<int> cpu_number() const { return cpu_number_; }
  void set_memory(const AddressSpace& memory) { memory_ = &memory; }
  // Tells the limit on instructions that the program gets on.
  void count_operation() { ++operations_; }
  // Errors: also where these bytes are in no object.
  void require_object(Address address, int bytes) const {
    const std::uint32_t object = memory_->find_byte(address).object;
    if (object == AddressSpace::kNoObject || address + static_cast<Address>(bytes) > end_of(memory_->objects()[object]))
      refuse_word(address, bytes);
  }

  // One of its sequences of random numbers: of this seed and CPU.
  void seed(std::uint64_t seed);
  [[nodiscard]] Random& random(std::size_t series) { return randoms_[series]; }
  static constexpr int kRandomSeries = 8;

  // ---- what its functions have to do with ----

  SetupContext* setup = nullptr;  // while the program sets up its memory
  int cpu_reference = LUA_NOREF;  // what push_cpu() pushes, in Lua's registry
  LuaHandles* handles = nullptr;  // what its locks, barriers and queue nodes stand for
  // While it runs a function of a lock; an interrupt's handler may run another one meanwhile.
  struct LockCall {
    const WaitsIn* waits_in;                // null: its waits are counted where they are
    std::optional<FunctionId> caller = {};  // once it waits elsewhere: the function to go back to
    bool slept = false;
  };
  LockCall* lock_call = nullptr;
  struct NamedFunction {
    std::string name;
    Mode mode;
    FunctionId id;
  };
  std::vector<NamedFunction> functions;
  std::vector<Layout> layouts;  // of its structures
  int nodes = 1, cpus = 1;      // of the machine: those that have CPUs
  int most_homes = 1;           // nodes, with those that have memory alone
  std::vector<std::string> tallies;
  // Where cpu:sample() leaves its values, by series; none: nobody asks for them.
  std::map<std::string, std::vector<SeriesSample>>* samples = nullptr;

 private:
  static constexpr int kInstructions = 10'000'000;       // between two operations, at least
  static constexpr std::size_t kNestedBytes = 64 << 10;  // of a thread's stack, for calls from C++ to Lua to C++ and so on

  static int panic(lua_State* state);
  static void check_progress(lua_State* state, lua_Debug* at);
  [[nodiscard]] std::string located(const std::string& message) const;
  [[nodiscard]] std::string place() const;
  static Address end_of(const AddressSpace::Object& object) { return object.begin + static_cast<Address>(object.size); }
  [[noreturn]] void refuse_word(Address address, int bytes) const;

  const SourceFile& file_;
  const std::string name_;
  std::optional<int> cpu_number_;
  LuaMemory heap_;
  lua_State* state_;
  Cpu* cpu_ = nullptr;
  const AddressSpace* memory_ = nullptr;
  std::vector<Random> randoms_;
  std::int64_t operations_ = 0;
  std::int64_t operations_then_ = -1;     // when the limit on instructions was looked at
  const char* outermost_call_ = nullptr;  // where the thread's stack was
};

}  // namespace linebounce::workloads
