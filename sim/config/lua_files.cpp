#include "sim/config/lua_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "sim/config/load_experiment.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/suggestions.hpp"
#include "sim/native/lock_compiler.hpp"
#include "sim/point/config_error.hpp"
#include "workloads/lua/lua_error.hpp"
#include "workloads/native/native_lock.hpp"

namespace linebounce::sim {
namespace {

// A few CPUs perform thousands of operations in this warm-up.
constexpr int kWarmupUs = 50;
constexpr int kMeasureUs = 500;
constexpr std::string_view kLayoutParameter = "layout";  // of kLayoutKey

// The experiment's name, which also names the results directory.
std::string experiment_name(const std::string& file) {
  std::string name = std::filesystem::path(file).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return c != '-' && std::isalnum(c) == 0; }, '_');
  return name;
}

// Resolves the default of the parameter `layout` relative to the program's file, if such a file exists.
void anchor_layout(LuaFile& file) {
  for (ParameterDeclaration& parameter : file.declared.parameters) {
    auto* const name = std::get_if<std::string>(&parameter.default_value);
    if (name == nullptr || kLayoutParameter != parameter.name) continue;
    const std::filesystem::path beside = std::filesystem::path(file.source.path).parent_path() / *name;
    if (std::filesystem::is_regular_file(beside)) *name = absolute_path(beside);
  }
}

// The workload of the experiment counter_scaling, with this counter.
toml::table counter_workload(const LuaFile& file) {
  return toml::table{{"name", "counter_scaling"},
                     {"counter", file.source.path},
                     {"counts", file.declared.counter.references ? "references" : "events"}};
}

// The workload of the experiment lock_scaling, with this lock.
toml::table lock_workload(const LuaFile& file) {
  return toml::table{{"name", "critical_section"},
                     {"lock", file.source.path},
                     {"data_lines", 1},
                     {"inside_cycles", 50},
                     {"outside_cycles", 1000}};
}

LuaFile load_native_file(const std::string& file) {
  LuaFile lock{{.path = absolute_path(file), .text = read_text(file)}, {}};
  CompiledLock compiled = compile_lock(file);
  lock.source.compiled = compiled.object.string();
  lock.source.names = std::move(compiled.names);
  try {
    auto [title, traits] = native_declaration_of(lock.source);
    lock.declared.title = std::move(title);
    lock.declared.lock = traits;
  } catch (const std::runtime_error& error) {
    throw ConfigError(fmt::format("{}: {}", file, error.what()));
  }
  return lock;
}

}  // namespace

bool is_lua_path(std::string_view text) {
  return text.ends_with(".lua");
}

bool is_source_path(std::string_view text) {
  return is_lua_path(text) || is_native_path(text);
}

LuaFile load_lua_file(const std::string& file) {
  if (is_native_path(file)) return load_native_file(file);
  if (!is_lua_path(file))
    throw ConfigError(
        fmt::format("{}: the file of a program, lock or counter must be called NAME.lua, a lock's in C NAME.c", file));
  SourceFile source{absolute_path(file), read_text(file)};
  try {
    LuaDeclaration declared = declaration_of(source);
    LuaFile lua{std::move(source), std::move(declared)};
    anchor_layout(lua);
    return lua;
  } catch (const LuaError& error) {
    throw ConfigError(error.what());
  }
}

LuaFile load_lua_file(const std::string& file, const Origin& origin, std::string_view path) {
  try {
    return load_lua_file(file);
  } catch (const ConfigError& error) {
    fail(origin, path, error.what());
  }
}

LockEntry load_lock_file(const std::string& file) {
  const LuaFile lua = load_lua_file(file);
  try {
    LockEntry entry = lock_entry_of_file(lua.source);
    entry.name = file;
    return entry;
  } catch (const LuaError& error) {
    throw ConfigError(error.what());
  }
}

LockEntry lock_called(const std::string& name) {
  if (is_source_path(name)) return load_lock_file(name);
  const std::vector<std::string> known = lock_names([](const LockTraits&) { return true; });
  if (std::ranges::find(known, name) != known.end()) return find_lock(name);
  std::error_code ignored;
  if (std::filesystem::is_regular_file(name, ignored))
    throw ConfigError(fmt::format("{}: a lock's file must be called NAME.lua or NAME.c", name));
  if (const std::string other = as_another_kind(name); !other.empty())
    throw ConfigError(fmt::format("lock \"{}\" is not known: {}; `linebounce list locks` shows all", name, other));
  if (std::filesystem::is_directory(name, ignored))
    throw ConfigError(fmt::format("{}: this is a folder; give a lock's file, NAME.lua or NAME.c", name));
  throw ConfigError("lock " + not_known(name, known));
}

Experiment lua_experiment(const std::string& file, const Overrides& overrides) {
  const LuaFile lua = load_lua_file(file);
  if (!overrides.machine) {
    throw ConfigError(fmt::format(
        "--machine is required: {} does not say which machine to run on; `linebounce list machines` shows all", file));
  }
  const bool program = lua.declared.program;
  const bool ends = program && lua.declared.ends;
  const toml::table workload = program             ? toml::table{{"program", lua.source.path}}
                               : lua.declared.lock ? lock_workload(lua)
                                                   : counter_workload(lua);
  const toml::table experiment{
      {"name", experiment_name(file)},
      {"title", lua.declared.title},
      {"workload", workload},
      {"run", toml::table{{"warmup_us", ends ? 0 : kWarmupUs}, {"measure_us", ends ? 0 : kMeasureUs}}}};
  Overrides named = overrides;
  named.native = true;  // The user named the file, which permits running its code.
  return read_unexpanded(to_toml(experiment), file, named);
}

Experiment load_runnable(const std::string& name_or_path, const Overrides& overrides) {
  return is_source_path(name_or_path) ? lua_experiment(name_or_path, overrides) : load_unexpanded(name_or_path, overrides);
}

}  // namespace linebounce::sim
