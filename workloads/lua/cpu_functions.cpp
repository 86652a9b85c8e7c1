#include "workloads/lua/cpu_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "workloads/locks/metered_lock.hpp"
#include "workloads/locks/waits_in.hpp"
#include "workloads/lua/condition.hpp"
#include "workloads/lua/declaration.hpp"
#include "workloads/lua/lua_structure.hpp"
#include "workloads/lua/setup_context.hpp"
#include "workloads/program/composite_operation.hpp"
#include "workloads/program/times.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::int64_t kMostCycles = 1'000'000'000'000;

// One call of a Lua function cpu:NAME(...). The arguments in parentheses count from 1, because argument 0 is `cpu`.
class CpuCall {
 public:
  explicit CpuCall(lua_State* state) : CpuCall(state, Unchecked{}) { require_colon(state); }
  [[nodiscard]] Cpu& cpu() const { return lua().cpu(); }
  [[nodiscard]] Interpreter& lua() const { return Interpreter::of(state_); }
  [[nodiscard]] bool has(int argument) const { return !lua_isnoneornil(state_, argument + 1); }

  [[nodiscard]] double number(int argument) const {
    if (lua_type(state_, argument + 1) != LUA_TNUMBER) refuse(state_, argument, "a number");
    return lua_tonumber(state_, argument + 1);
  }
  // Like Lua's own functions, accepts any value that is a whole number, even a text such as "3".
  [[nodiscard]] lua_Integer integer(int argument) const {
    int is_whole = 0;
    const lua_Integer integer = lua_tointegerx(state_, argument + 1, &is_whole);
    if (is_whole == 0) refuse(state_, argument, "a whole number");
    return integer;
  }
  [[nodiscard]] std::int64_t at_least_0(int argument, const char* what) const {
    const lua_Integer number = integer(argument);
    if (number < 0 || number > kMostCycles) lua().fail(fmt::format("{} {}; legal: 0 to {}", number, what, kMostCycles));
    return number;
  }
  [[nodiscard]] MeteredLock& lock(int argument) const {
    return *lua().handles->locks[handle_at(lua(), argument + 1, HandleKind::lock)];
  }

  int returns(Value value) const {
    lua_pushinteger(state_, static_cast<lua_Integer>(value));
    return 1;
  }
  int returns_flag(bool flag) const {
    lua_pushboolean(state_, flag ? 1 : 0);
    return 1;
  }

 protected:
  struct Unchecked {};
  CpuCall(lua_State* state, Unchecked) : state_(state) {
    lua().count_operation();
    if (lua().draws != nullptr) note_line();
  }

  static void require_colon(lua_State* state) {
    if (lua_type(state, 1) != LUA_TTABLE) Interpreter::of(state).fail("write cpu:load(word), with a colon");
  }

 private:
  // For the checker: an operation of a lock in Lua is known by its line.
  void note_line() const {
    lua_Debug caller = {};
    if (lua_getstack(state_, 1, &caller) != 0 && lua_getinfo(state_, "l", &caller) != 0) lua().draws->ran(caller.currentline);
  }

  [[noreturn]] static void refuse(lua_State* state, int argument, const char* expected) {
    require_colon(state);
    Interpreter::of(state).fail(
        fmt::format("argument {} must be {}, and is {}", argument, expected, what_is(state, argument + 1)));
  }
  [[nodiscard]] static std::string what_is(lua_State* state, int index) {
    if (lua_isnone(state, index)) return "missing";
    if (lua_isnil(state, index)) return "nil (is a name misspelt?)";
    if (lua_type(state, index) == LUA_TNUMBER) return fmt::format("{}", lua_tonumber(state, index));
    return std::string("a ") + luaL_typename(state, index);
  }

  lua_State* state_;
};

// A call whose first argument is a word. A dot instead of the colon shifts the arguments, so that one is missing. The class
// looks for this mistake only when it refuses an argument, or when a word is used for the first time. require_colons() has
// already found the cases that would go unnoticed here.
class WordCall : public CpuCall {
 public:
  explicit WordCall(lua_State* state) : CpuCall(state, Unchecked{}), word(first_word(state)) {}

  const Cpu::Word word;
  // Returns the part of the argument that the word can hold.
  [[nodiscard]] Value value(int argument) const { return low_bytes(static_cast<Value>(integer(argument)), word.bytes); }

 private:
  static Cpu::Word first_word(lua_State* state) {
    Interpreter& lua = Interpreter::of(state);
    const lua_Integer packed = lua_tointeger(state, 2);
    if (lua.knows_word(packed)) return LuaWord::unpack(packed);
    require_colon(state);
    return checked_word(lua, 2);
  }
};

// ---- memory ----

int cpu_load(lua_State* state) {
  const WordCall call(state);
  return call.returns(call.cpu().load(call.word.address, call.word.bytes));
}

// load_all(word, ...): returns the words' values. The loads overlap.
int cpu_load_all(lua_State* state) {
  constexpr int kMostWords = 64;
  const CpuCall call(state);
  const int count = lua_gettop(state) - 1;
  if (count < 1 || count > kMostWords) call.lua().fail(fmt::format("load_all: legal: 1 to {} words", kMostWords));
  std::vector<Cpu::Word> words;
  for (int i = 1; i <= count; ++i) words.push_back(word_at(call.lua(), i + 1));
  std::vector<Value> values(words.size());
  call.cpu().load_all(words, values);
  luaL_checkstack(state, count, nullptr);
  for (const Value value : values) lua_pushinteger(state, static_cast<lua_Integer>(value));
  return count;
}

int cpu_load_acquire(lua_State* state) {
  const WordCall call(state);
  return call.returns(call.cpu().load_acquire(call.word.address, call.word.bytes));
}

int cpu_store(lua_State* state) {
  const WordCall call(state);
  call.cpu().store(call.word.address, call.value(2), call.word.bytes);
  return 0;
}

int cpu_store_release(lua_State* state) {
  const WordCall call(state);
  call.cpu().store_release(call.word.address, call.value(2), call.word.bytes);
  return 0;
}

int cpu_load_fence(lua_State* state) {
  CpuCall(state).cpu().load_fence();
  return 0;
}

int cpu_exchange(lua_State* state) {
  const WordCall call(state);
  return call.returns(call.cpu().exchange(call.word.address, call.value(2), call.word.bytes));
}

int cpu_fetch_add(lua_State* state) {
  const WordCall call(state);
  return call.returns(call.cpu().fetch_add(call.word.address, call.value(2), call.word.bytes));
}

int cpu_compare_exchange(lua_State* state) {
  const WordCall call(state);
  const Value expected = call.value(2);
  return call.returns(call.cpu().compare_exchange(call.word.address, expected, call.value(3), call.word.bytes));
}

int cpu_fence(lua_State* state) {
  CpuCall(state).cpu().fence();
  return 0;
}

int cpu_store_fence(lua_State* state) {
  CpuCall(state).cpu().store_fence();
  return 0;
}

// prefetch(word [, "write"]): "write" prefetches the line with the right to write it.
int cpu_prefetch(lua_State* state) {
  const WordCall call(state);
  if (call.has(2) && (lua_type(state, 3) != LUA_TSTRING || std::string_view(lua_tostring(state, 3)) != "write"))
    call.lua().fail("prefetch: argument 2 must be \"write\" or left out");
  call.cpu().prefetch(call.word.address, call.has(2) ? kWriteAccess : kReadAccess);
  return 0;
}

// ---- spins ----

// Makes reports count a wait as a call of a function. In a lock's acquire(), everything from the first wait on counts as one
// call of the function that the lock's user has chosen (WaitsIn). Outside locks, waits count as part of the running function.
class Wait {
 public:
  explicit Wait(const CpuCall& call) {
    Cpu& cpu = call.cpu();
    if (Interpreter::LockCall* const lock = call.lua().lock_call; lock == nullptr) {
      own_.emplace(cpu, cpu.function());
    } else if (lock->waits_in != nullptr && !lock->caller) {
      lock->caller = cpu.enter_function(lock->waits_in->of(cpu));
    }
  }

 private:
  std::optional<FunctionScope> own_;
};

// waits(): a lock's acquire() is about to wait. It needs no such call before a spin or a sleep, which count as waits anyway.
int cpu_waits(lua_State* state) {
  const CpuCall call(state);
  if (call.lua().lock_call == nullptr) call.lua().fail("waits: only a lock's acquire may call it");
  const Wait wait(call);
  return 0;
}

// Spins until the condition holds, and returns the word's value at that time.
int spin_in(Cpu::Loop loop, lua_State* state) {
  const CpuCall call(state);
  const SpinWord spin = read_spin_word(call.lua(), 2);
  const Wait wait(call);
  return call.returns(call.cpu().spin_until(
      spin.word.address, [&spin](Value value) { return spin.holds(value); }, spin.word.bytes, loop));
}

// spin_until(word, "==", value [, mask]), and spin_until_acquire() with the same arguments.
int cpu_spin_until(lua_State* state) {
  return spin_in(Cpu::Loop::pauses, state);
}

int cpu_spin_until_acquire(lua_State* state) {
  Interpreter::of(state).cpu().order_next(MemoryOrder::acquire);
  return spin_in(Cpu::Loop::pauses, state);
}

int cpu_spin_without_pause(lua_State* state) {
  return spin_in(Cpu::Loop::tight, state);
}

// spin_until_any({ { word, "==", value }, ... }): returns the number of the first condition that holds, counted from 1.
int cpu_spin_until_any(lua_State* state) {
  const CpuCall call(state);
  const std::vector<SpinWord> spins = read_spin_words(call.lua(), 2);
  std::vector<Address> addresses;
  for (const SpinWord& spin : spins) addresses.push_back(spin.word.address);
  std::vector<Value> values(spins.size());
  std::size_t first = 0;
  const auto done = [&](std::span<const Value> now) {
    for (first = 0; first < now.size() && !spins[first].holds(now[first]); ++first) {
    }
    return first < now.size();
  };
  const Wait wait(call);
  call.cpu().spin_until_any(addresses, values, done, spins.front().word.bytes);
  return call.returns(first + 1);
}

// ---- time, numbers, counts ----

int cpu_compute(lua_State* state) {
  const CpuCall call(state);
  call.cpu().compute(call.at_least_0(1, "cycles"));
  return 0;
}

// compute_about(mean): computes for a random time of 1 to 2 * mean cycles, so that CPUs don't run in lockstep.
int cpu_compute_about(lua_State* state) {
  const CpuCall call(state);
  const std::int64_t mean = call.at_least_0(1, "cycles");
  if (mean >= std::int64_t{1} << 31) call.lua().fail("compute_about: legal: a mean below 2^31");
  compute_about(call.cpu(), call.lua().random(0), mean);
  return 0;
}

int cpu_execute(lua_State* state) {
  const CpuCall call(state);
  call.cpu().execute(call.at_least_0(1, "instructions"));
  return 0;
}

int cpu_now_ns(lua_State* state) {
  lua_pushnumber(state, CpuCall(state).cpu().now_ns());
  return 1;
}

// random(n [, series]): returns a random number from 0 to n - 1. Each series, 0 to 7, is a separate sequence.
int cpu_random(lua_State* state) {
  const CpuCall call(state);
  const lua_Integer bound = call.integer(1);
  const lua_Integer series = call.has(2) ? call.integer(2) : 0;
  if (bound < 1 || bound > lua_Integer{0xFFFFFFFF}) call.lua().fail("random: legal: a bound from 1 to 2^32 - 1");
  if (series < 0 || series >= Interpreter::kRandomSeries) call.lua().fail("random: legal: series 0 to 7");
  if (call.lua().draws != nullptr) return call.returns(call.lua().draws->below(call.cpu(), static_cast<std::uint64_t>(bound)));
  return call.returns(call.lua().random(static_cast<std::size_t>(series)).below(static_cast<std::uint64_t>(bound)));
}

// tally([name [, count]]): adds `count`, by default 1, to the tally `name`, by default the first in the list `tallies`.
int cpu_tally(lua_State* state) {
  const CpuCall call(state);
  const std::vector<std::string>& names = call.lua().tallies;
  std::size_t which = 0;
  if (call.has(1)) {
    const std::string_view name = lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : "";
    while (which < names.size() && names[which] != name) ++which;
    if (which == names.size()) call.lua().fail(fmt::format("tally: \"{}\" is not in the list `tallies`", name));
  }
  call.cpu().tally(static_cast<int>(which), call.has(2) ? call.at_least_0(2, "counted") : 1);
  return 0;
}

constexpr std::size_t kMostSeries = 1000;

// sample(name, value): records the current value of a quantity.
int cpu_sample(lua_State* state) {
  const CpuCall call(state);
  const std::string name = lua_type(state, 2) == LUA_TSTRING ? lua_tostring(state, 2) : "";
  if (!is_parameter_name(name))
    call.lua().fail(fmt::format("sample: \"{}\" is not a name; legal: small letters, digits and _", name));
  const double value = call.number(2);
  if (!std::isfinite(value)) call.lua().fail("sample: the value must be finite");
  auto* const samples = call.lua().samples;
  if (samples == nullptr) return 0;
  if (samples->size() == kMostSeries && !samples->contains(name))
    call.lua().fail(fmt::format("sample: more than {} series", kMostSeries));
  (*samples)[name].push_back({call.cpu().to_ns(call.cpu().local_time()) / 1000, value});
  return 0;
}

// ---- locks, barriers, queue nodes ----

int cpu_acquire(lua_State* state) {
  const CpuCall call(state);
  call.lock(1).acquire(call.cpu());
  return 0;
}

int cpu_try_acquire(lua_State* state) {
  const CpuCall call(state);
  return call.returns_flag(call.lock(1).try_acquire(call.cpu()));
}

int cpu_release(lua_State* state) {
  const CpuCall call(state);
  call.lock(1).release(call.cpu());
  return 0;
}

int cpu_acquire_shared(lua_State* state) {
  const CpuCall call(state);
  call.lock(1).acquire_shared(call.cpu());
  return 0;
}

// Returns false if a writer came meanwhile, so that the caller must read again.
int cpu_release_shared(lua_State* state) {
  const CpuCall call(state);
  return call.returns_flag(call.lock(1).release_shared(call.cpu()));
}

// ---- sleep ----

CpuId cpu_at(const CpuCall& call, const char* function, int argument) {
  const lua_Integer number = call.integer(argument);
  if (number < 0 || number >= call.lua().cpus)
    call.lua().fail(fmt::format("{}: there is no CPU {}; legal: 0 to {}", function, number, call.lua().cpus - 1));
  return CpuId(static_cast<int>(number));
}

int cpu_sleep(lua_State* state) {
  const CpuCall call(state);
  Interpreter& lua = call.lua();
  const std::optional<Sleepers>& sleepers = lua.handles->sleepers;
  if (lua.lock_call != nullptr && !sleepers) lua.fail(kMustDeclareSleep);
  const Wait wait(call);
  const CompositeOperation sleeping(call.cpu(), {.what = Composite::What::sleep});
  if (lua.lock_call != nullptr) lua.lock_call->slept = true;
  sleepers ? sleepers->sleep(call.cpu()) : call.cpu().sleep();
  return 0;
}

int cpu_wake(lua_State* state) {
  const CpuCall call(state);
  call.cpu().wake(cpu_at(call, "wake", 1));
  return 0;
}

const Futexes& futexes_of(const CpuCall& call, const char* function) {
  const Futexes* futexes = call.lua().handles->futexes;
  if (futexes == nullptr) call.lua().fail(fmt::format("{}: setup() must call futexes() before", function));
  return *futexes;
}

// futex_wait(word, value): sleeps until futex_wake() if the word has the value. Returns false at once if it has another.
int cpu_futex_wait(lua_State* state) {
  const WordCall call(state);
  const Futexes& futexes = futexes_of(call, "futex_wait");
  const Value expected = call.value(2);
  const Wait wait(call);
  return call.returns_flag(futexes.wait(call.cpu(), call.word, expected));
}

// futex_wake(word [, most]): wakes CPUs that wait for the word, by default one; returns how many there were.
int cpu_futex_wake(lua_State* state) {
  const WordCall call(state);
  const Futexes& futexes = futexes_of(call, "futex_wake");
  const std::int64_t most = call.has(2) ? call.at_least_0(2, "CPUs to wake") : 1;
  const int woken =
      futexes.wake(call.cpu(), call.word.address, static_cast<int>(std::min<std::int64_t>(most, call.lua().cpus)));
  return call.returns(static_cast<Value>(woken));
}

// is_asleep(cpu): loads the word in simulated memory that says whether that CPU sleeps.
int cpu_is_asleep(lua_State* state) {
  const CpuCall call(state);
  const CpuId other = cpu_at(call, "is_asleep", 1);
  const std::optional<Sleepers>& sleepers = call.lua().handles->sleepers;
  return call.returns_flag(sleepers && call.cpu().load(sleepers->word(other.value), Sleepers::kBytes) != 0);
}

// shoot_down({ cpu, ... }, address [, pages]): drops the pages' translations on the listed CPUs and on this CPU.
int cpu_shoot_down(lua_State* state) {
  const CpuCall call(state);
  Interpreter& lua = call.lua();
  if (!lua.handles->shootdowns) lua.fail("shoot_down: setup() must call shootdowns() before");
  if (lua_type(state, 2) != LUA_TTABLE) lua.fail("shoot_down: argument 1 must be a list of CPU numbers");
  std::vector<CpuId> targets;
  for (lua_Integer i = 1; lua_rawgeti(state, 2, i) != LUA_TNIL; ++i) {
    const lua_Integer number = lua_isinteger(state, -1) != 0 ? lua_tointeger(state, -1) : -1;
    if (number < 0 || number >= lua.cpus)
      lua.fail(fmt::format("shoot_down: entry {} of the list is not a CPU; legal: 0 to {}", i, lua.cpus - 1));
    const CpuId target(static_cast<int>(number));
    if (std::find(targets.begin(), targets.end(), target) == targets.end()) targets.push_back(target);
    lua_pop(state, 1);
  }
  lua_pop(state, 1);
  const auto first = static_cast<Address>(call.integer(2));
  const std::int64_t pages = call.has(3) ? call.at_least_0(3, "pages") : 1;
  lua.handles->shootdowns->shoot_down(call.cpu(), targets, first, pages);
  return 0;
}

int cpu_meet(lua_State* state) {
  const CpuCall call(state);
  call.lua().handles->barriers[handle_at(call.lua(), 2, HandleKind::barrier)].wait(call.cpu());
  return 0;
}

QueueNodes& nodes_of(const CpuCall& call) {
  return *call.lua().handles->nodes[handle_at(call.lua(), 2, HandleKind::nodes)];
}

int cpu_take_node(lua_State* state) {
  const CpuCall call(state);
  return call.returns(nodes_of(call).take(call.cpu()));
}

int cpu_give_node(lua_State* state) {
  const CpuCall call(state);
  nodes_of(call).give(call.cpu(), word_at(call.lua(), 3).address);
  return 0;
}

constexpr std::array<luaL_Reg, 38> kCpuFunctions = {{{"load", cpu_load},
                                                     {"load_all", cpu_load_all},
                                                     {"spin_without_pause", cpu_spin_without_pause},
                                                     {"shoot_down", cpu_shoot_down},
                                                     {"load_acquire", cpu_load_acquire},
                                                     {"store", cpu_store},
                                                     {"store_release", cpu_store_release},
                                                     {"exchange", cpu_exchange},
                                                     {"fetch_add", cpu_fetch_add},
                                                     {"compare_exchange", cpu_compare_exchange},
                                                     {"fence", cpu_fence},
                                                     {"store_fence", cpu_store_fence},
                                                     {"load_fence", cpu_load_fence},
                                                     {"prefetch", cpu_prefetch},
                                                     {"spin_until", cpu_spin_until},
                                                     {"spin_until_acquire", cpu_spin_until_acquire},
                                                     {"spin_until_any", cpu_spin_until_any},
                                                     {"compute", cpu_compute},
                                                     {"compute_about", cpu_compute_about},
                                                     {"execute", cpu_execute},
                                                     {"now_ns", cpu_now_ns},
                                                     {"random", cpu_random},
                                                     {"tally", cpu_tally},
                                                     {"sample", cpu_sample},
                                                     {"acquire", cpu_acquire},
                                                     {"try_acquire", cpu_try_acquire},
                                                     {"release", cpu_release},
                                                     {"acquire_shared", cpu_acquire_shared},
                                                     {"release_shared", cpu_release_shared},
                                                     {"sleep", cpu_sleep},
                                                     {"wake", cpu_wake},
                                                     {"futex_wait", cpu_futex_wait},
                                                     {"futex_wake", cpu_futex_wake},
                                                     {"waits", cpu_waits},
                                                     {"is_asleep", cpu_is_asleep},
                                                     {"meet", cpu_meet},
                                                     {"take_node", cpu_take_node},
                                                     {"give_node", cpu_give_node}}};

}  // namespace

bool is_cpu_function(std::string_view name) {
  return std::ranges::any_of(kCpuFunctions, [name](const luaL_Reg& function) { return name == function.name; });
}

std::vector<std::string> cpu_function_names() {
  std::vector<std::string> names;
  for (const luaL_Reg& function : kCpuFunctions) {
    if (function.name != nullptr) names.emplace_back(function.name);
  }
  return names;
}

void push_cpu(Interpreter& lua) {
  lua_State* state = lua.state();
  if (lua.cpu_reference == LUA_NOREF) {
    lua_createtable(state, 0, static_cast<int>(kCpuFunctions.size()) + 1);
    for (const luaL_Reg& function : kCpuFunctions) {
      lua_pushcfunction(state, function.func);
      lua_setfield(state, -2, function.name);
    }
    lua_pushinteger(state, lua.cpu().id().value);
    lua_setfield(state, -2, "id");
    lua.cpu_reference = luaL_ref(state, LUA_REGISTRYINDEX);
  }
  lua_rawgeti(state, LUA_REGISTRYINDEX, lua.cpu_reference);
}

}  // namespace linebounce::workloads
