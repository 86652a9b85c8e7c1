// Runs programs and locks in Lua on a small machine.
#pragma once

#include <string>

#include "tests/models/support/small_machine.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/lua/lua_file.hpp"
#include "workloads/workload_registry.hpp"

namespace linebounce::test {

using namespace workloads;

// Runs a program on a machine, and provides what its CPUs counted.
class LuaRun {
 public:
  explicit LuaRun(const std::string& text, const MachineSpec& spec = small_machine(2)) : small(spec), file_{"dir/a.lua", text} {
    program_ = find_workload("program").create({});
    program_->set_up({space, locks, spec, small.machine.layout(), 1, nullptr, nullptr, &file_});
    small.machine.set_functions(space.functions().size());
    small.run(std::vector<Core::Program>(static_cast<std::size_t>(spec.cpus), [this](Cpu& cpu) { program_->run(cpu); }));
  }
  [[nodiscard]] std::int64_t tallied(int which = 0) {
    std::int64_t sum = 0;
    for (int cpu = 0; cpu < small.machine.cpus(); ++cpu) sum += small.machine.cpu(cpu).tallied(which);
    return sum;
  }

 private:
  // Destroyed last: unfinished programs of CPUs are still in its interpreters.
  std::unique_ptr<Workload> program_;

 public:
  SmallMachine small;
  AddressSpace space{small.machine.store(), &small.machine.homes()};
  LockSet locks{space, small.machine.cpus()};

 private:
  SourceFile file_;
};

// The message with which the program ends; empty if it succeeds.
inline std::string error_of(const std::string& text, const MachineSpec& spec = small_machine(2)) {
  try {
    LuaRun run(text, spec);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace linebounce::test
