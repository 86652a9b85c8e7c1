// Locks in C and C++ as the rest of Linebounce sees them.
#pragma once

#include <vector>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/native/native_order.hpp"
#include "workloads/program/source_file.hpp"

namespace linebounce::workloads {

// The title and traits of a compiled lock, SourceFile::compiled. Loads it, which runs its initialisers. Errors:
// std::runtime_error.
struct NativeDeclaration {
  std::string title;
  LockTraits traits;
};
NativeDeclaration native_declaration_of(const SourceFile& file);

// The entry of the lock, named by its source file's path. `pause_cycles`: the machine's (CpuSpec). Errors:
// std::runtime_error. `used`, if not null, receives the memory orders of the stores and fences that run, and must outlive
// everything that the entry creates.
LockEntry native_lock_entry(const SourceFile& file, int pause_cycles, std::vector<NativeOrder>* used = nullptr);

// True if this is a lock in C whose calls leave nothing behind but simulated memory, so far: no function of it has shared its
// stack.
bool leaves_nothing_behind(const Lock& lock);

// For a file in Lua, lock_entry_of(); for any other, native_lock_entry().
LockEntry lock_entry_of_file(const SourceFile& file, int pause_cycles = 0);

}  // namespace linebounce::workloads
