// The page compiles no locks in C.
#include "sim/native/lock_compiler.hpp"
#include "sim/point/config_error.hpp"
#include "workloads/lua/lua_file.hpp"
#include "workloads/native/code_faults.hpp"
#include "workloads/native/native_lock.hpp"
#include "workloads/native/native_memory.hpp"

namespace linebounce {

workloads::LockEntry workloads::lock_entry_of_file(const SourceFile& file, int) {
  return lock_entry_of(file);
}
workloads::LockEntry workloads::native_lock_entry(const SourceFile& file, int, std::vector<NativeOrder>*) {
  return lock_entry_of(file);
}
workloads::CodeFaults::CodeFaults() = default;
workloads::CodeFaults::~CodeFaults() = default;
std::uint64_t workloads::mirror() {
  return 0;
}
workloads::NativeDeclaration workloads::native_declaration_of(const SourceFile&) {
  return {};
}
bool workloads::leaves_nothing_behind(const Lock&) {
  return false;
}
bool sim::is_native_path(std::string_view) {
  return false;
}
sim::CompiledLock sim::compile_lock(const std::filesystem::path& file) {
  throw ConfigError(file.string() + ": there are no locks in C in this build");
}

}  // namespace linebounce
