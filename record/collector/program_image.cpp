#include "record/collector/program_image.hpp"

#include <cxxabi.h>
#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "record/collector/shared_channel.hpp"

namespace linebounce::record {

namespace {

// Debug information of libraries in files of their own, or on servers, is not looked for: what libraries do is not recorded.
int no_separate_debug_information(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) {
  return -1;
}

const Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = no_separate_debug_information,
    .section_address = nullptr,
    .debuginfo_path = nullptr,
};

std::string demangled(const std::string& name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return name;
  std::string result = text;
  std::free(text);
  return result;
}

// Without the brackets that the text ends in, and what is between them.
std::string without_parameters(const std::string& name) {
  if (!name.ends_with(')')) return name;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? name : name.substr(0, at);
  }
  return name;
}

// A template's instance is demangled with its result before its name: "void work<int>".
std::string without_result(const std::string& name) {
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    const char c = name[at];
    if (c == '>' || c == ')' || c == '}') ++depth;
    if (c == '<' || c == '(' || c == '{') --depth;
    if (c == ' ' && depth == 0 && name.find("operator") == std::string::npos) return name.substr(at + 1);
  }
  return name;
}

std::string function_of_scope(Dwarf_Die& scope) {
  Dwarf_Attribute attribute;
  for (const unsigned which : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    const char* name = dwarf_formstring(dwarf_attr_integrate(&scope, which, &attribute));
    if (name != nullptr) return short_function_name(name);
  }
  return name_of(scope);
}

std::string file_of_call(Dwarf_Die& unit, Dwarf_Die& inlined) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Files* files = nullptr;
  if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_file, &attribute), &number) != 0) return "";
  if (dwarf_getsrcfiles(&unit, &files, nullptr) != 0) return "";
  const char* name = dwarf_filesrc(files, number, nullptr, nullptr);
  return name == nullptr ? "" : name;
}

int line_of_call(Dwarf_Die& inlined) {
  Dwarf_Attribute attribute;
  Dwarf_Word line = 0;
  dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_line, &attribute), &line);
  return static_cast<int>(line);
}

struct Scopes {
  Dwarf_Die* list = nullptr;
  int count = 0;
  ~Scopes() { std::free(list); }
};

}  // namespace

std::string name_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  const char* name = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
  return name == nullptr ? "" : name;
}

std::string short_function_name(const std::string& linker_name) {
  std::string name = demangled(linker_name);
  if (const auto clone = name.find(" [clone"); clone != std::string::npos) name.resize(clone);
  if (name == linker_name) return name.substr(0, name.find('.'));
  if (name.ends_with(" const")) name.resize(name.size() - 6);
  return without_result(without_parameters(name));
}

ProgramImage::ProgramImage(pid_t process) : process_(process), session_(dwfl_begin(&kCallbacks)) {
  if (session_ == nullptr) throw RecordError(std::string("cannot read programs: ") + dwfl_errmsg(-1));
  look_again();
}

void ProgramImage::look_again() {
  dwfl_report_begin_add(session_.get());
  dwfl_linux_proc_report(session_.get(), process_);
  dwfl_report_end(session_.get(), nullptr, nullptr);
}

std::string ProgramImage::file_name(std::uint64_t address) {
  Dwfl_Module* module = dwfl_addrmodule(session_.get(), address);
  if (module == nullptr) return "";
  const char* name = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  return name == nullptr ? "" : std::filesystem::path(name).filename().string();
}

std::string ProgramImage::function(std::uint64_t address) {
  const auto [entry, is_new] = functions_.try_emplace(address);
  if (!is_new) return entry->second;
  Dwfl_Module* module = dwfl_addrmodule(session_.get(), address);
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name = nullptr;
  if (module != nullptr) name = dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name != nullptr) {
    entry->second = short_function_name(name);
  } else {
    entry->second = file_name(address);
    if (entry->second.empty()) entry->second = "?";
  }
  return entry->second;
}

std::vector<SourcePlace> ProgramImage::source_places(std::uint64_t return_address) {
  const std::uint64_t address = return_address - 1;
  std::vector<SourcePlace> places;
  Dwarf_Addr bias = 0;
  Dwarf_Die* unit = dwfl_addrdie(session_.get(), address, &bias);
  if (unit == nullptr) return places;
  std::string file;
  int line = 0;
  if (Dwfl_Line* source = dwfl_getsrc(session_.get(), address); source != nullptr) {
    if (const char* name = dwfl_lineinfo(source, nullptr, &line, nullptr, nullptr, nullptr); name != nullptr) file = name;
  }
  Scopes scopes;
  scopes.count = dwarf_getscopes(unit, address - bias, &scopes.list);
  for (int i = 0; i < scopes.count; ++i) {
    Dwarf_Die& scope = scopes.list[i];
    const int tag = dwarf_tag(&scope);
    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
    places.push_back({.function = function_of_scope(scope), .file = file, .line = line, .scope = scope});
    if (tag == DW_TAG_subprogram) break;
    file = file_of_call(*unit, scope);
    line = line_of_call(scope);
  }
  return places;
}

NamedMemory ProgramImage::symbol(std::uint64_t address) {
  Dwfl_Module* module = dwfl_addrmodule(session_.get(), address);
  if (module == nullptr) return {};
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name = dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size) return {};
  return {.name = demangled(name), .address = address - offset, .bytes = symbol.st_size};
}

void ProgramImage::for_new_units(const std::function<void(Dwarf_Die&, std::uint64_t)>& visit) {
  Dwarf_Die* unit = nullptr;
  Dwarf_Addr bias = 0;
  std::vector<std::uint64_t> met;
  while ((unit = dwfl_nextcu(session_.get(), unit, &bias)) != nullptr) {
    if (std::find(modules_seen_.begin(), modules_seen_.end(), bias) != modules_seen_.end()) continue;
    if (met.empty() || met.back() != bias) met.push_back(bias);
    visit(*unit, bias);
  }
  modules_seen_.insert(modules_seen_.end(), met.begin(), met.end());
}

}  // namespace linebounce::record
