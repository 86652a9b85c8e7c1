// A lock or counter whose algorithm is in Lua. Each CPU calls the functions of its own interpreter. Their argument `instance`
// is the value that setup() has returned for the object in that interpreter.
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

// One CPU's interpreter, with the functions of an object as references into Lua's registry.
struct LuaHost {
  Interpreter* lua = nullptr;
  std::vector<int> functions;

  // Takes the functions `names` from the table at index `table` of Lua's stack.
  LuaHost(Interpreter& interpreter, int table, std::span<const char* const> names);
  LuaHost() = default;
};
using LuaHosts = std::vector<LuaHost>;  // one per CPU

class LuaObject {
 public:
  // `what` is "lock" or "counter", for messages. `functions` has the names of the Lua functions; has(), call() and ask() take
  // an index into it. `hosts` are those of the object's file; null for an object that is a table in a program.
  LuaObject(const char* what, std::string name, std::span<const char* const> functions, int cpus,
            std::shared_ptr<LuaHosts> hosts = nullptr);

  [[nodiscard]] std::span<const char* const> functions() const { return functions_; }
  [[nodiscard]] LuaHosts& hosts() { return *hosts_; }
  // Makes the value at index `instance` of Lua's stack the object's instance on the interpreter's CPU.
  void join(const Interpreter& lua, int instance);
  // Sets the function that makes a CPU join when it first uses the object. A CPU may use only a few of a thousand locks, so
  // joining late is cheaper.
  void joins_by(std::function<void(std::size_t)> join) { join_ = std::move(join); }

  [[nodiscard]] bool has(const Cpu& cpu, std::size_t function) const { return host(cpu).functions[function] != LUA_REFNIL; }
  [[nodiscard]] Interpreter& interpreter(const Cpu& cpu) const { return *host(cpu).lua; }
  // Calls the Lua function as function(cpu, instance [, argument]), and leaves its one result on the interpreter's stack. The
  // caller must pop the result.
  void call(Cpu& cpu, std::size_t function, std::optional<std::int64_t> argument = {});
  // Calls a Lua function that returns true or false, and returns that. `otherwise` is the result if the function returns
  // nothing; if empty, the function must return one.
  bool ask(Cpu& cpu, std::size_t function, std::optional<bool> otherwise = {});

 private:
  [[nodiscard]] const LuaHost& host(const Cpu& cpu) const { return (*hosts_)[static_cast<std::size_t>(cpu.id().value)]; }

  const char* what_;
  std::string name_;
  std::span<const char* const> functions_;
  std::shared_ptr<LuaHosts> hosts_;
  std::vector<int> instances_;  // each CPU's instance, as a reference into its interpreter's registry
  std::function<void(std::size_t)> join_;
};

// The interpreters of a lock's or counter's file, one for each CPU. All objects of the file in a run share them.
class LuaObjectFile {
 public:
  // Returns the file's LuaObjectFile in the run that `per_cpu` belongs to.
  static LuaObjectFile& of(const SourceFile& file, bool sleeps, CpuObjects& per_cpu) {
    return per_cpu.kept<LuaObjectFile>(file.path, [&] { return std::make_shared<LuaObjectFile>(file, sleeps); });
  }
  LuaObjectFile(SourceFile file, bool sleeps) : file_(std::move(file)), sleeps_(sleeps) {}

  // The argument `hosts` of this file's objects.
  [[nodiscard]] const std::shared_ptr<LuaHosts>& hosts() const { return hosts_; }
  // Runs setup(name) on the first CPU. Each other CPU runs it when it first uses the object. The value that setup() returns
  // becomes the object's instance on that CPU. `locks`: as for SetupContext.
  void set_up(LuaObject& object, const OwnWord& own, AddressSpace& memory, CpuObjects& per_cpu, LockSet* locks);

 private:
  void start(const LuaObject& object, AddressSpace& memory, CpuObjects& per_cpu);
  void set_up_on(std::size_t cpu, LuaObject& object, SetupContext& context);

  SourceFile file_;
  bool sleeps_;
  LuaHandles handles_;
  std::vector<std::unique_ptr<Interpreter>> interpreters_;  // one per CPU
  std::shared_ptr<LuaHosts> hosts_ = std::make_shared<LuaHosts>();
};

}  // namespace linebounce::workloads
