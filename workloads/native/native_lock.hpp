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

// The entry of the lock, named by its source file's path. `pause_cycles`: of the machine (CpuSpec). Errors: std::runtime_error.
// `used`, if not null, receives the orders of the stores and fences that run; it must outlive all that the entry creates.
LockEntry native_lock_entry(const SourceFile& file, int pause_cycles, std::vector<NativeOrder>* used = nullptr);

// The same, or lock_entry_of() for a file in Lua.
LockEntry lock_entry_of_file(const SourceFile& file, int pause_cycles = 0);

}  // namespace linebounce::workloads
