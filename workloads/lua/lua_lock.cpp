#include "workloads/lua/lua_lock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <utility>

#include "workloads/lua/declaration.hpp"

namespace linebounce::workloads {

bool LuaLock::acquire_shared(Cpu& cpu) {
  return take(cpu, object_.has(cpu, index(Method::acquire_shared)) ? Method::acquire_shared : Method::acquire);
}

bool LuaLock::release_shared(Cpu& cpu) {
  if (object_.has(cpu, index(Method::release_shared))) return give(cpu, Method::release_shared);
  release(cpu);
  return true;
}

// Calls the lock's function. If the function has slept, wakes the CPU again afterwards: a wake-up that ended the sleep may
// have been meant for the program.
bool LuaLock::call(Cpu& cpu, Method method, const WaitsIn* waits_in, std::optional<bool> nothing) {
  Interpreter& lua = object_.interpreter(cpu);
  Interpreter::LockCall here{waits_in};
  Interpreter::LockCall* const outer = std::exchange(lua.lock_call, &here);
  const bool answer = object_.ask(cpu, index(method), nothing);
  lua.lock_call = outer;
  if (here.caller) cpu.leave_function(*here.caller);
  if (here.slept) cpu.wake(cpu.id());
  return answer;
}

namespace {

// The calls `cpu:NAME(` in the text that access memory or order accesses, whatever `cpu` is called.
std::vector<LockOperation> operations_in(const SourceFile& file) {
  constexpr std::array<std::string_view, 14> kNames = {
      "load",       "load_all",           "load_acquire",       "store",         "store_release",
      "exchange",   "fetch_add",          "compare_exchange",   "fence",         "store_fence",
      "spin_until", "spin_until_acquire", "spin_without_pause", "spin_until_any"};
  std::vector<LockOperation> found;
  std::istringstream lines(file.text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::string_view code = std::string_view(line).substr(0, line.find("--"));
    for (std::size_t colon = 0; (colon = code.find(':', colon)) != std::string_view::npos; ++colon) {
      const std::string_view call = code.substr(colon + 1);
      const std::string_view name = call.substr(0, call.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"));
      if (call.size() > name.size() && call[name.size()] == '(' && std::ranges::find(kNames, name) != kNames.end())
        found.push_back({number, {fmt::format("{}:{}", file.name(), number)}});
    }
  }
  return found;
}

LockEntry lock_entry(const SourceFile& file, const LuaDeclaration& declared) {
  const auto create = [file, sleeps = declared.lock->sleeps](const LockPlace& place) {
    LuaObjectFile& shared = LuaObjectFile::of(file, sleeps, place.per_cpu);
    auto lock = std::make_unique<LuaLock>(place, &shared);
    shared.set_up(lock->object(), {place.name, place.word, place.word_bytes}, place.memory, place.per_cpu, nullptr);
    return lock;
  };
  return {.name = file.path,
          .title = declared.title,
          .traits = *declared.lock,
          .create = create,
          .file = file.path,
          .library = declared.library,
          .operations = [file] { return operations_in(file); }};
}

}  // namespace

LockEntry lock_entry_of(const SourceFile& file) {
  const LuaDeclaration declared = declaration_of(file);
  if (!declared.lock) throw LuaError(file.name() + " is not a lock: it defines no functions acquire and release");
  return lock_entry(file, declared);
}

std::vector<LockEntry> locks_in_lua() {
  const std::vector<SourceFile> files = lua_lock_files();
  const std::vector<LuaDeclaration> declared = read_heads(files);
  std::vector<LockEntry> locks;
  for (std::size_t i = 0; i < files.size(); ++i) {
    locks.push_back(lock_entry(files[i], declared[i]));
    const std::string name = files[i].name();
    locks.back().name = name.substr(0, name.rfind('.'));
  }
  return locks;
}

LockEntry own_lock_entry(Interpreter& lua, int index, std::vector<LuaLock*>& made) {
  const LockTraits traits = read_own_traits(lua, index);
  return {"(the program's own)", "", traits,
          [&made](const LockPlace& place) {
            auto lock = std::make_unique<LuaLock>(place);
            made.push_back(lock.get());
            return lock;
          },
          ""};
}

}  // namespace linebounce::workloads
