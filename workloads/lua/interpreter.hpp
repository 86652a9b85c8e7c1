// A Lua interpreter that runs one CPU's part of a program, lock or counter. The Lua code can reach no files, no clock and no
// other interpreter.
//
// All errors are C++ exceptions. Lua's errors never meet a handler in Lua (there is no lua_pcall here and no pcall in
// programs), so Lua calls its panic function, which throws LuaError. The exception unwinds Lua's C frames and the C++ frames
// between them. Exceptions that Cpu throws pass through Lua in the same way. After an error the interpreter must not be used
// any more.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
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

class Draws;
class SetupContext;
class WaitsIn;
struct LuaHandles;

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
inline constexpr bool kIsFuzzed = true;
#else
inline constexpr bool kIsFuzzed = false;
#endif

class Interpreter {
 public:
  // `cpu`: the CPU whose part the interpreter runs; empty if it only reads what the file declares.
  explicit Interpreter(const SourceFile& file, std::optional<int> cpu = {});
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  static Interpreter& of(lua_State* state) { return **static_cast<Interpreter**>(lua_getextraspace(state)); }
  [[nodiscard]] lua_State* state() const { return state_; }

  // Runs the file's text, which sets globals and defines functions. `compiled`, if not null, holds the text as Lua bytecode.
  // If it is empty, load() compiles the text and stores the bytecode there for the other CPUs' interpreters. Errors:
  // LuaError, here and below.
  void load(std::string* compiled = nullptr);
  // Pushes the global function `name` and returns true. Returns false, and pushes nothing, if there is none.
  bool push_function(const char* name);
  // Calls the function that lies on Lua's stack with its arguments, as lua_call does.
  void call(int arguments, int results);

  // Returns the text at `index` of Lua's stack. REQUIRES: there is a text. Errors: LuaError, also for a text longer than
  // kLongestText. Without this limit, a program could make C++ keep a million copies of a long text.
  [[nodiscard]] std::string text_at(int index) const;
  static constexpr std::size_t kLongestText = 1000;  // bytes

  // Returns the line that the innermost Lua function is executing; 0 if none is running.
  [[nodiscard]] int source_line() const;
  // Throws LuaError with "FILE:LINE: CPU N: TEXT", where LINE is source_line().
  [[noreturn]] void fail(const std::string& text) const;

  // ---- the machine ----

  // Makes the functions of `cpu` in Lua operate on this CPU.
  void bind(Cpu& cpu) { cpu_ = &cpu; }
  [[nodiscard]] bool bound() const { return cpu_ != nullptr; }
  [[nodiscard]] Cpu& cpu() const { return *cpu_; }
  [[nodiscard]] std::optional<int> cpu_number() const { return cpu_number_; }
  void set_memory(const AddressSpace& memory) { memory_ = &memory; }
  // Called by every function of `cpu` and every function that setup() may use.
  void count_operation() { ++operations_; }
  // Charges `work` to the program: Lua instructions, and as many for each piece of work that Lua does in C, where it counts
  // none. Errors: LuaError if the program has done too much work without an operation, or without advancing simulated time.
  void charge(std::int64_t work);
  // Notes that the program has made a text of this many bytes, so that one instruction may compare so many from now on.
  void note_text(std::size_t bytes) { longest_text_ = std::max(longest_text_, bytes); }
  // The bytes that the program's values take, garbage included.
  [[nodiscard]] std::size_t memory_used() const { return heap_.used(); }
  // The work of a look-up in a table beyond its instruction, at most.
  [[nodiscard]] std::int64_t work_of_lookup() { return heap_.hash_parts().longest_chain() / kStepsForInstruction; }
  // Limit on instructions without an operation of the simulated machine. A loop without end takes the fuzzer a millisecond.
  static constexpr std::int64_t kMostWork = kIsFuzzed ? 20'000 : 10'000'000;
  static constexpr std::int64_t kStepsForInstruction = 16;  // steps along a chain of keys that take as long as an instruction
  // Errors: LuaError if any of these bytes is outside of the object at `address`.
  void require_object(Address address, int bytes) const {
    const AddressSpace::Place place = memory_->find_byte(address);
    if (place.object == AddressSpace::kNoObject || place.offset + bytes > memory_->objects()[place.object].size)
      refuse_word(address, bytes);
  }
  // Words that the program has used recently, as Lua integers. A word that was legal once stays legal, because objects are
  // never removed.
  [[nodiscard]] bool knows_word(lua_Integer word) const { return word != 0 && known_words_[slot_of(word)] == word; }
  void remember_word(lua_Integer word) { known_words_[slot_of(word)] = word; }

  // seed() restarts all series of random numbers, from this seed and the CPU's number. random() returns one of the series.
  void seed(std::uint64_t seed);
  [[nodiscard]] Random& random(std::size_t series) { return randoms_[series]; }
  static constexpr int kRandomSeries = 8;
  Draws* draws = nullptr;  // supplies the numbers for cpu:random(); null: they are random

  // ---- used by the Lua functions that are written in C++ ----

  SetupContext* setup = nullptr;  // null except while setup() runs
  int cpu_reference = LUA_NOREF;  // reference, in Lua's registry, to the table that push_cpu() pushes
  LuaHandles* handles = nullptr;  // the objects that the program's handles refer to
  // The call of a lock's function that is in progress. Calls nest, because an interrupt handler may use another lock.
  struct LockCall {
    const WaitsIn* waits_in;                // the functions in which waits are counted; null: in the running function
    std::optional<FunctionId> caller = {};  // set by the first wait: the function that the thread returns to when the call ends
    bool slept = false;
  };
  LockCall* lock_call = nullptr;
  struct NamedFunction {
    std::string name;
    Mode mode;
    FunctionId id;
  };
  std::vector<NamedFunction> functions;
  std::vector<Layout> layouts;  // the layouts of the program's structures
  int nodes = 1, cpus = 1;      // numbers of the machine's nodes with CPUs, and of its CPUs
  int most_homes = 1;           // number of nodes, including those that have only memory
  std::vector<std::string> tallies;
  // Where cpu:sample() appends its values, by series; null: it discards them.
  std::map<std::string, std::vector<SeriesSample>>* samples = nullptr;

 private:
  static constexpr int kInstructions = 1000;  // instructions of Lua between two calls of count_instructions()
  // Limit on instructions for a program whose operations take no time.
  static constexpr std::int64_t kMostTimelessWork = 3 * kMostWork;
  static constexpr std::size_t kNestedBytes = 64 << 10;  // limit on the host's stack that nested calls between C++ and Lua use

  static constexpr int kKnownBits = 8;
  static std::size_t slot_of(lua_Integer word) {
    constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;  // spreads words whose distance is a power of two
    return static_cast<std::uint64_t>(word) * kGoldenRatio >> (64 - kKnownBits);
  }

  static int panic(lua_State* state);
  static void count_instructions(lua_State* state, lua_Debug* at);
  [[nodiscard]] std::int64_t cost_of_instruction(lua_Debug* at) const;
  [[nodiscard]] std::string located(const std::string& text) const;
  [[nodiscard]] std::string place() const;
  [[noreturn]] void refuse_word(Address address, int bytes) const;

  const SourceFile& file_;
  const std::string name_;
  std::optional<int> cpu_number_;
  Cpu* cpu_ = nullptr;
  std::int64_t operations_ = 0;
  // The work since the last operation, and since the CPU's time last changed. They are declared before the heap, because the
  // heap charges work.
  std::int64_t work_ = 0, timeless_work_ = 0, operations_then_ = 0;
  Tick time_then_ = 0;
  std::size_t longest_text_ = 0;  // bytes
  LuaMemory heap_;
  lua_State* state_;
  const AddressSpace* memory_ = nullptr;
  std::array<lua_Integer, 1 << kKnownBits> known_words_ = {};
  std::vector<Random> randoms_;
  const char* outermost_call_ = nullptr;  // the host's stack address in the outermost call() in progress
};

}  // namespace linebounce::workloads
