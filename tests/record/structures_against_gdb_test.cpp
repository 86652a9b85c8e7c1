// Compares how we read structures with how gdb reads them, over programs of every compiler that is installed.
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "record/collector/types.hpp"

namespace linebounce::record {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const Dwfl_Callbacks kComparedFile = {.find_elf = dwfl_build_id_find_elf,
                                      .find_debuginfo = dwfl_standard_find_debuginfo,
                                      .section_address = dwfl_offline_section_address,
                                      .debuginfo_path = nullptr};

bool can_run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

struct Comparison {
  int structures = 0;   // compared by name, each with the structures inside it
  int unexplained = 0;  // of these, with bytes that we could not explain
  int unknown = 0;      // structures that gdb does not find by their names
  std::vector<std::string> differences;
  std::vector<std::string> reasons;
};

class StructureComparer {
 public:
  explicit StructureComparer(const json& gdb, Comparison& result) : gdb_(gdb), result_(result) {}

  void compare(const Type& ours, int number, const std::string& path) {
    const json& theirs = gdb_["types"][static_cast<std::size_t>(number)];
    if (!theirs["aggregate"].get<bool>()) {
      if (theirs.contains("element") && ours.element != nullptr)
        compare(*ours.element, theirs["element"].get<int>(), path + "[]");
      return;
    }
    if (!done_.insert({&ours, number}).second) return;
    const std::string text = types::bytes_text(types::unexplained_bytes(ours));
    if (!text.empty() && done_.size() == 1)
      result_.reasons.push_back(fmt::format("{} ({}): {} of {}", path, ours.name, text, ours.size));
    if (!theirs["dynamic"].get<bool>()) expect(ours.size == theirs["size"].get<std::int64_t>(), path, "size");
    std::vector<json> fields;
    for (const json& field : theirs["fields"]) fields.push_back(field);
    for (const types::Member& member : ours.members) take(ours, member, fields, path);
    for (const json& field : fields) expect(false, path + "." + field["name"].dump(), "gdb's alone");
  }

 private:
  void expect(bool holds, const std::string& path, const std::string& what) {
    if (!holds && result_.differences.size() < 100) result_.differences.push_back(path + ": " + what);
  }

  static bool has_that_name(const types::Member& member, const json& field) {
    const bool is_base = member.kind == types::MemberKind::base_class || member.kind == types::MemberKind::virtual_base;
    if (member.kind == types::MemberKind::vtable_pointer) return field["name"].get<std::string>().starts_with("_vptr");
    const bool is_empty_base = member.kind == types::MemberKind::empty && field["base"].get<bool>();
    if (is_empty_base) return true;  // several may share an address, and gdb spells their arguments otherwise
    if (is_base || field["base"].get<bool>()) return is_base && field["base"].get<bool>();
    return field["name"].is_null() ? member.name.empty() : field["name"].get<std::string>() == member.name;
  }

  void take(const Type& type, const types::Member& member, std::vector<json>& fields, const std::string& path) {
    const bool is_virtual = member.kind == types::MemberKind::virtual_base;
    // If gdb lists a base of the same name, only that one is meant; otherwise gdb has spelled a template's arguments
    // differently.
    const auto is_namesake = [&](const json& field) { return field["name"] == member.name; };
    const bool is_named = std::ranges::any_of(fields, is_namesake);
    const auto same = std::ranges::find_if(fields, [&](const json& field) {
      const bool is_there =
          field["bit"].is_null() || !member.bit_offset || field["bit"].get<std::int64_t>() == *member.bit_offset;
      const bool is_meant = !field["base"].get<bool>() || !is_named || is_namesake(field);
      return is_meant && has_that_name(member, field) && (is_there || is_virtual);
    });
    const std::string name = path + "." + member.name;
    if (same == fields.end()) {
      // gdb lists a virtual base only where the source names it.
      return expect(is_virtual, name, fmt::format("ours alone, at bit {} of {}", member.bit_offset.value_or(-1), type.name));
    }
    const json field = *same;
    fields.erase(same);
    const auto bits = field["bits"].get<std::int64_t>();
    const json& kind = gdb_["types"][field["type"].get<std::size_t>()];
    if (bits > 0) expect(bits == member.bits, name, "bits");
    const bool is_dynamic = kind["dynamic"].get<bool>() || field["bit"].is_null() || kind["none"].get<bool>();
    const bool is_incomplete = kind["size"].get<std::int64_t>() <= 1 && kind["fields"].empty();
    if (member.type == nullptr) return expect(is_incomplete, name, "no type");
    if (!is_dynamic) expect(member.type->size == kind["size"].get<std::int64_t>(), name, "size of the member");
    compare(*member.type, field["type"].get<int>(), name);
  }

  const json& gdb_;
  Comparison& result_;
  std::set<std::pair<const Type*, int>> done_;
};

class StructuresAgainstGdb : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_run("gdb -batch -ex 'python print(1)' | grep -q 1")) GTEST_SKIP() << "gdb with Python is not installed";
    folder_ = fs::temp_directory_path() / fmt::format("linebounce_structures_{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  // Compiles a file of tests/record/structures; `command` has {0} for it and {1} for the program.
  void compile_and_compare(const std::string& command, const std::string& source, Comparison& result) {
    const fs::path program = folder_ / "program";
    const fs::path input = fs::path(LINEBOUNCE_SOURCE_DIR) / "tests/record/structures" / source;
    fs::remove(program);
    const std::string whole = fmt::format("cd {} && ", folder_.string()) +
                              fmt::format(fmt::runtime(command), input.string(), program.string()) + " >log 2>&1";
    if (std::system(whole.c_str()) != 0) {
      std::ifstream log(folder_ / "log");
      const std::string text((std::istreambuf_iterator<char>(log)), {});
      FAIL() << whole << "\n" << text;
    }
    compare(program, command, result);
  }

  void compare(const fs::path& program, const std::string& command, Comparison& result) {
    const std::unique_ptr<Dwfl, void (*)(Dwfl*)> session(dwfl_begin(&kComparedFile), dwfl_end);
    Dwfl_Module* module = dwfl_report_offline(session.get(), "", program.c_str(), -1);
    dwfl_report_end(session.get(), nullptr, nullptr);
    Dwarf_Addr bias = 0;
    Types types;
    Dwarf* information = dwfl_module_getdwarf(module, &bias);
    types.note_types_of(information, dwfl_module_getelf(module, &bias));
    const std::vector<std::string> names = types.qualified_names("");
    const json gdb = gdb_structures(program, names);
    for (const std::string& name : names) {
      const std::vector<const Type*> ours = types.qualified(name);
      const json& theirs = gdb["structures"][name];
      if (theirs.empty()) ++result.unknown;
      // gdb finds only the first of several in a unit, such as the instances of a template for lambdas of one line.
      const bool has_all = ours.size() <= theirs.size();
      for (const Type* type : ours) compare_one(*type, name, theirs, has_all, gdb, command, result);
    }
  }

  // Several structures may have one name, also of one size: ours must be one of gdb's.
  static void compare_one(const Type& ours, const std::string& name, const json& theirs, bool has_all, const json& gdb,
                          const std::string& command, Comparison& result) {
    std::optional<Comparison> closest;
    for (const json& number : theirs) {
      Comparison one;
      StructureComparer(gdb, one).compare(ours, number.get<int>(), fmt::format("{}: {}", command.substr(0, 20), name));
      if (!closest || one.differences.size() < closest->differences.size()) closest = std::move(one);
    }
    if (!closest) return;
    if (!has_all && !closest->differences.empty()) {
      ++result.unknown;
      return;
    }
    result.structures += 1;
    result.unexplained += types::unexplained_bytes(ours).empty() ? 0 : 1;
    result.reasons.insert(result.reasons.end(), closest->reasons.begin(), closest->reasons.end());
    result.differences.insert(result.differences.end(), closest->differences.begin(), closest->differences.end());
  }

  json gdb_structures(const fs::path& program, const std::vector<std::string>& names) {
    std::ofstream list(folder_ / "names");
    for (const std::string& name : names) list << name << "\n";
    list.close();
    const std::string script = std::string(LINEBOUNCE_SOURCE_DIR) + "/tests/record/gdb_structures.py";
    const std::string command = fmt::format(
        "cd {} && gdb -batch -nx -iex 'set auto-load no' -ex 'python names, out = \"names\", \"answer\"' -x {} {} >log 2>&1",
        folder_.string(), script, program.string());
    if (std::system(command.c_str()) != 0) return json{{"types", json::array()}, {"structures", json::object()}};
    std::ifstream answer(folder_ / "answer");
    return json::parse(answer);
  }

  fs::path folder_;
};

void report(const std::string& what, const Comparison& result) {
  fmt::print("{}: {} structures compared, {} with unexplained bytes, {} that gdb does not find, {} differences\n", what,
             result.structures, result.unexplained, result.unknown, result.differences.size());
  for (const std::string& reason : result.reasons) fmt::print("  unexplained: {}\n", reason);
}

struct Compiler {
  const char* needs;
  std::string command;
  std::vector<const char*> sources;
};

// Compiles through ccache, if it is installed: four fifths of this test's time are the compilers'. The folder, which differs
// from run to run, is not part of what ccache compares.
std::string cached(const std::string& compiler, const std::string& flags) {
  return fmt::format(
      "CCACHE_NOHASHDIR=1 $(command -v ccache) {0} {1} -std=c++20 -w -pthread -c {{0}} -o part.o && "
      "{0} {1} -pthread part.o -o {{1}}",
      compiler, flags);
}

// As `cases`: each program must be read as gdb reads it, and at most one structure in fifty have unexplained bytes.
void PrintTo(const Compiler& compiler, std::ostream* out) {
  *out << compiler.command;
}

class CompiledStructures : public StructuresAgainstGdb, public testing::WithParamInterface<Compiler> {};

TEST_P(CompiledStructures, AreReadAsGdbReadsThem) {
  const Compiler& compiler = GetParam();
  if (!can_run(compiler.needs)) GTEST_SKIP() << "not installed: " << compiler.needs;
  Comparison result;
  for (const char* source : compiler.sources) compile_and_compare(compiler.command, source, result);
  report(compiler.command, result);
  EXPECT_THAT(result.differences, testing::IsEmpty());
  EXPECT_GE(result.structures, 10);
  EXPECT_LE(result.unexplained * 50, result.structures);
}

INSTANTIATE_TEST_SUITE_P(
    Compilers, CompiledStructures,
    testing::Values(Compiler{"g++ --version", cached("g++", "-g -O0"), {"members.cc", "library.cc"}},
                    Compiler{"g++ --version", cached("g++", "-g -O2 -flto"), {"members.cc", "library.cc"}},
                    Compiler{"g++ --version", cached("g++", "-gdwarf-3 -gstrict-dwarf -O0"), {"members.cc"}},
                    Compiler{"g++ --version", cached("g++", "-g -fdebug-types-section"), {"members.cc", "library.cc"}},
                    Compiler{"g++ --version", "g++ -g -gsplit-dwarf -std=c++20 -w -pthread {0} -o {1}", {"members.cc"}},
                    Compiler{"clang++ --version", cached("clang++", "-g -O0"), {"members.cc", "library.cc"}},
                    Compiler{"clang++ --version && ld.lld --version",
                             cached("clang++", "-g -O2 -flto -fuse-ld=lld"),
                             {"members.cc", "library.cc"}},
                    Compiler{"echo '#include <vector>' | clang++ -stdlib=libc++ -x c++ -fsyntax-only -",
                             cached("clang++", "-stdlib=libc++ -g -O0"),
                             {"library.cc"}},
                    Compiler{"gcc --version", "gcc -g -O0 {0} -o {1}", {"plain.c"}},
                    Compiler{"clang --version", "clang -g -O2 {0} -o {1}", {"plain.c"}},
                    Compiler{"rustc --version", "rustc -g {0} -o {1}", {"variants.rs"}},
                    Compiler{"go version", "GOFLAGS= GOCACHE=$PWD/cache go build -o {1} {0}", {"padded.go"}},
                    Compiler{"gfortran --version", "gfortran -g {0} -o {1}", {"derived.f90"}},
                    Compiler{"gnatmake --version", "gnatmake -q -g {0} -o {1}", {"records.adb"}}));

}  // namespace
}  // namespace linebounce::record
