// An object whose algorithm is Lua, a lock or a counter: each CPU calls the functions of its own interpreter, with what its
// setup() has returned for the object.
#pragma once

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

class LuaObject {
 public:
  // `what` is "lock" or "counter", for messages. `functions`: their names, by whose places they are called.
  LuaObject(std::string what, std::string name, std::span<const char* const> functions, int cpus);

  // The interpreter's CPU calls the functions of the table at `functions` of Lua's stack; they get the value at `instance`.
  void join(Interpreter& lua, int functions, int instance);

  [[nodiscard]] bool has(const Cpu& cpu, std::size_t function) const;
  [[nodiscard]] Interpreter& interpreter(const Cpu& cpu) const { return *side(cpu).lua; }
  // Calls it as function(cpu, instance [, argument]). Its one result is the last value on the interpreter's stack, to be
  // popped.
  void call(Cpu& cpu, std::size_t function, std::optional<std::int64_t> argument = {});
  // The same, of a function that returns true or false; `otherwise`: what nothing stands for, if it may return that.
  bool ask(Cpu& cpu, std::size_t function, std::optional<bool> otherwise = {});

 private:
  struct Side {
    Interpreter* lua = nullptr;
    std::vector<int> functions;  // references into Lua's registry
    int instance = LUA_NOREF;
  };
  [[nodiscard]] const Side& side(const Cpu& cpu) const { return sides_[static_cast<std::size_t>(cpu.id().value)]; }

  std::string what_, name_;
  std::span<const char* const> functions_;
  std::vector<Side> sides_;  // by CPU
};

// The interpreters of a file that is a lock or a counter, one a CPU: all its objects of a run share them.
class LuaObjectFile {
 public:
  LuaObjectFile(SourceFile file, bool sleeps) : file_(std::move(file)), sleeps_(sleeps) {}

  // Runs setup(name) on each CPU, and lets `object` know what it returns. `locks` may be null: as of SetupContext.
  void set_up(LuaObject& object, const OwnWord& own, AddressSpace& memory, CpuObjects& per_cpu, LockSet* locks);

 private:
  void start(AddressSpace& memory, CpuObjects& per_cpu);

  SourceFile file_;
  bool sleeps_;
  LuaHandles handles_;
  std::vector<std::unique_ptr<Interpreter>> interpreters_;  // by CPU
};

// Gives the file's interpreters to who asks: the same as long as one of those who asked keeps them.
class SharedLuaFile {
 public:
  SharedLuaFile(SourceFile file, bool sleeps) : file_(std::move(file)), sleeps_(sleeps) {}
  std::shared_ptr<LuaObjectFile> get();

 private:
  SourceFile file_;
  bool sleeps_;
  std::weak_ptr<LuaObjectFile> latest_;
};

}  // namespace linebounce::workloads
