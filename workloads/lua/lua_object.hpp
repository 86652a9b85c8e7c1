// An object whose algorithm is Lua, a lock or a counter: each CPU calls the functions of its own interpreter, with what its
// setup() has returned for the object.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workloads/locks/sleepers.hpp"
#include "workloads/lua/interpreter.hpp"
#include "workloads/lua/setup_context.hpp"
#include "workloads/program/source_file.hpp"

namespace linebounce::workloads {

// One CPU's interpreter, and an object's functions as references into its registry.
struct LuaHost {
  Interpreter* lua = nullptr;
  std::vector<int> functions;

  // Of the table at `table` of Lua's stack, these functions.
  LuaHost(Interpreter& interpreter, int table, std::span<const char* const> names);
  LuaHost() = default;
};
using LuaHosts = std::vector<LuaHost>;  // by CPU

class LuaObject {
 public:
  // `what` is "lock" or "counter", for messages. `functions`: their names, by whose places they are called.
  // `hosts`: of the file that the object is of; null: a program's object has its own.
  LuaObject(const char* what, std::string name, std::span<const char* const> functions, int cpus,
            std::shared_ptr<LuaHosts> hosts = nullptr);

  [[nodiscard]] std::span<const char* const> functions() const { return functions_; }
  [[nodiscard]] LuaHosts& hosts() { return *hosts_; }
  // The functions on the interpreter's CPU get the value at `instance` of Lua's stack.
  void join(const Interpreter& lua, int instance);
  // What lets a CPU join when it needs the object for the first time: of a thousand locks, most CPUs need few.
  void joins_by(std::function<void(std::size_t)> join) { join_ = std::move(join); }

  [[nodiscard]] bool has(const Cpu& cpu, std::size_t function) const { return host(cpu).functions[function] != LUA_REFNIL; }
  [[nodiscard]] Interpreter& interpreter(const Cpu& cpu) const { return *host(cpu).lua; }
  // Calls it as function(cpu, instance [, argument]). Its one result is the last value on the interpreter's stack, to be
  // popped.
  void call(Cpu& cpu, std::size_t function, std::optional<std::int64_t> argument = {});
  // The same, of a function that returns true or false; `otherwise`: what nothing stands for, if it may return that.
  bool ask(Cpu& cpu, std::size_t function, std::optional<bool> otherwise = {});

 private:
  [[nodiscard]] const LuaHost& host(const Cpu& cpu) const { return (*hosts_)[static_cast<std::size_t>(cpu.id().value)]; }

  const char* what_;
  std::string name_;
  std::span<const char* const> functions_;
  std::shared_ptr<LuaHosts> hosts_;
  std::vector<int> instances_;  // by CPU, in its interpreter's registry
  std::function<void(std::size_t)> join_;
};

// The interpreters of a file that is a lock or a counter, one a CPU: all its objects of a run share them.
class LuaObjectFile {
 public:
  // Of the run that `per_cpu` belongs to.
  static LuaObjectFile& of(const SourceFile& file, bool sleeps, CpuObjects& per_cpu) {
    return per_cpu.kept<LuaObjectFile>(file.path, [&] { return std::make_shared<LuaObjectFile>(file, sleeps); });
  }
  LuaObjectFile(SourceFile file, bool sleeps) : file_(std::move(file)), sleeps_(sleeps) {}

  // For an object of this file.
  [[nodiscard]] const std::shared_ptr<LuaHosts>& hosts() const { return hosts_; }
  // Runs setup(name) on the first CPU, and on each other one when it needs the object; lets `object` know what it returns.
  // `locks` may be null: as of SetupContext.
  void set_up(LuaObject& object, const OwnWord& own, AddressSpace& memory, CpuObjects& per_cpu, LockSet* locks);

 private:
  void start(const LuaObject& object, AddressSpace& memory, CpuObjects& per_cpu);
  void set_up_on(std::size_t cpu, LuaObject& object, SetupContext& context);

  SourceFile file_;
  bool sleeps_;
  LuaHandles handles_;
  std::vector<std::unique_ptr<Interpreter>> interpreters_;  // by CPU
  std::shared_ptr<LuaHosts> hosts_ = std::make_shared<LuaHosts>();
};

}  // namespace linebounce::workloads
