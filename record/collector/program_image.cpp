#include "record/collector/program_image.hpp"

#include <dwarf.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "record/collector/debug_entries.hpp"
#include "record/collector/function_names.hpp"
#include "record/collector/shared_channel.hpp"

namespace linebounce::record {
namespace {

// Stops libdwfl from looking for separate debug information of libraries, because libraries are not recorded.
int no_separate_debug_information(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) {
  return -1;
}

const Dwfl_Callbacks kCallbacks = {
    .find_elf = dwfl_linux_proc_find_elf,
    .find_debuginfo = no_separate_debug_information,
    .section_address = nullptr,
    .debuginfo_path = nullptr,
};

std::string file_of_call(Dwarf_Die& unit, Dwarf_Die& inlined) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Files* files = nullptr;
  if (dwarf_formudata(dwarf_attr(&inlined, DW_AT_call_file, &attribute), &number) != 0) return "";
  if (dwarf_getsrcfiles(&unit, &files, nullptr) != 0) return "";
  const char* name = dwarf_filesrc(files, number, nullptr, nullptr);
  return name == nullptr ? "" : whole_path(unit, name);
}

// DW_AT_call_line, DW_AT_call_column
int number_of_call(Dwarf_Die& inlined, unsigned which) {
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  dwarf_formudata(dwarf_attr(&inlined, which, &attribute), &number);
  return static_cast<int>(number);
}

// Searches all children, because libdw misses a function that is nested in another in the source but has its code elsewhere,
// such as a lambda. Returns false if nothing in `scope` contains the address.
bool find_innermost(Dwarf_Die scope, Dwarf_Addr address, Dwarf_Die& found) {
  Dwarf_Die child;
  if (dwarf_child(&scope, &child) != 0) return false;
  do {
    const bool is_there = dwarf_haspc(&child, address) > 0;
    if (is_there) found = child;
    if (find_innermost(child, address, found) || is_there) return true;
  } while (next_sibling(child));
  return false;
}

struct Scopes {
  Dwarf_Die* list = nullptr;
  int count = 0;
  ~Scopes() { std::free(list); }
};

}  // namespace

std::string function_of_scope(Dwarf_Die& scope) {
  Dwarf_Attribute attribute;
  for (const unsigned which : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    const char* name = dwarf_formstring(dwarf_attr_integrate(&scope, which, &attribute));
    if (name != nullptr) return short_function_name(name);
  }
  return name_of(scope);
}

std::string name_of(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  const char* name = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute));
  return name == nullptr ? "" : name;
}

ProgramImage::ProgramImage(pid_t process) : process_(process), session_(dwfl_begin(&kCallbacks)) {
  if (session_ == nullptr) throw RecordError(std::string("cannot read programs: ") + dwfl_errmsg(-1));
  look_again();
}

void ProgramImage::look_again() {
  dwfl_report_begin_add(session_.get());
  dwfl_linux_proc_report(session_.get(), process_);
  dwfl_report_end(session_.get(), nullptr, nullptr);
  find_segments();
  find_units();
}

void ProgramImage::find_segments() {
  const auto add_module = [](Dwfl_Module* module, void**, const char*, Dwarf_Addr, void* argument) {
    auto& segments = *static_cast<std::map<std::uint64_t, Segment>*>(argument);
    Dwarf_Addr bias = 0;
    Elf* elf = dwfl_module_getelf(module, &bias);
    std::size_t count = 0;
    if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return static_cast<int>(DWARF_CB_OK);
    for (std::size_t i = 0; i < count; ++i) {
      GElf_Phdr header;
      if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD) continue;
      const std::uint64_t begin = header.p_vaddr + bias;
      segments[begin] = {.end = begin + header.p_memsz, .module = module};
    }
    return static_cast<int>(DWARF_CB_OK);
  };
  segments_.clear();
  dwfl_getmodules(session_.get(), add_module, &segments_, 0);
}

std::vector<Dwfl_Module*> ProgramImage::modules() const {
  std::vector<Dwfl_Module*> modules;
  for (const auto& [begin, segment] : segments_) {
    if (std::ranges::find(modules, segment.module) == modules.end()) modules.push_back(segment.module);
  }
  return modules;
}

Dwfl_Module* ProgramImage::module_at(std::uint64_t address) const {
  const auto next = segments_.upper_bound(address);
  if (next == segments_.begin()) return nullptr;
  const Segment& segment = std::prev(next)->second;
  return address < segment.end ? segment.module : nullptr;
}

void ProgramImage::find_units() {
  const std::set<std::uint64_t> known = biases_;
  Dwarf_Die* unit = nullptr;
  Dwarf_Addr bias = 0;
  while ((unit = dwfl_nextcu(session_.get(), unit, &bias)) != nullptr) {
    if (known.contains(bias)) continue;
    biases_.insert(bias);
    add_unit(*unit, bias);
  }
}

// Remembers units itself, because libdwfl finds them by .debug_aranges, which not all compilers write.
void ProgramImage::add_unit(const Dwarf_Die& entry, std::uint64_t bias) {
  units_.push_back({.entry = entry, .tree = entry, .bias = bias});
  Dwarf_Die split;
  std::uint8_t kind = 0;
  const bool is_known = dwarf_cu_info(entry.cu, nullptr, &kind, nullptr, &split, nullptr, nullptr, nullptr) == 0;
  if (is_known && kind == DW_UT_skeleton && split.addr != nullptr) units_.back().tree = split;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  std::ptrdiff_t next = 0;
  while ((next = dwarf_ranges(&units_.back().entry, next, &base, &begin, &end)) > 0) {
    ranges_[begin + bias] = {.end = end + bias, .unit = units_.size() - 1};
  }
}

const ProgramImage::Unit* ProgramImage::unit_at(std::uint64_t address) const {
  const auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return nullptr;
  const Range& range = std::prev(next)->second;
  return address < range.end ? &units_[range.unit] : nullptr;
}

std::string ProgramImage::file_name(std::uint64_t address) {
  Dwfl_Module* module = module_at(address);
  if (module == nullptr) return "";
  const char* name = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  return name == nullptr ? "" : std::filesystem::path(name).filename().string();
}

std::string ProgramImage::function(std::uint64_t address) {
  const auto [entry, is_new] = functions_.try_emplace(address);
  if (!is_new) return entry->second;
  Dwfl_Module* module = module_at(address);
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
  const Unit* unit = unit_at(address);
  if (unit == nullptr) return places;
  SourcePlace place{.unit = unit->entry};
  if (Dwarf_Line* source = dwarf_getsrc_die(&place.unit, address - unit->bias); source != nullptr) {
    dwarf_lineno(source, &place.line);
    dwarf_linecol(source, &place.column);
    if (const char* file = dwarf_linesrc(source, nullptr, nullptr); file != nullptr) place.file = whole_path(place.unit, file);
  }
  Scopes innermost;
  Scopes scopes;  // lexical scopes of the code; with inlining they differ from those in the source
  Dwarf_Die tree = unit->tree;
  innermost.count = dwarf_getscopes(&tree, address - unit->bias, &innermost.list);
  Dwarf_Die within = innermost.count > 0 ? innermost.list[0] : tree;
  if (dwarf_tag(&within) == DW_TAG_compile_unit) find_innermost(within, address - unit->bias, within);
  scopes.count = dwarf_getscopes_die(&within, &scopes.list);
  for (int i = 0; i < scopes.count; ++i) {
    place.scope = scopes.list[i];
    const int tag = dwarf_tag(&place.scope);
    if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine) continue;
    place.function = function_of_scope(place.scope);
    places.push_back(place);
    if (tag == DW_TAG_subprogram) break;
    place.file = file_of_call(place.unit, place.scope);
    place.line = number_of_call(place.scope, DW_AT_call_line);
    place.column = number_of_call(place.scope, DW_AT_call_column);
  }
  return places;
}

std::vector<Dwarf_Op> ProgramImage::frame_end_rule(std::uint64_t return_address) {
  Dwfl_Module* module = module_at(return_address);
  Dwarf_Addr bias = 0;
  Dwarf_CFI* rules = module == nullptr ? nullptr : dwfl_module_eh_cfi(module, &bias);
  Dwarf_Frame* frame = nullptr;
  if (rules == nullptr || dwarf_cfi_addrframe(rules, return_address - 1 - bias, &frame) != 0) return {};
  const std::unique_ptr<Dwarf_Frame, decltype(&std::free)> owner(frame, &std::free);
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_cfa(frame, &operations, &count) != 0) return {};
  return {operations, operations + count};
}

std::span<const std::uint8_t> ProgramImage::code(std::uint64_t address) {
  Dwfl_Module* module = module_at(address);
  Dwarf_Addr bias = 0;
  Elf* elf = module == nullptr ? nullptr : dwfl_module_getelf(module, &bias);
  if (elf == nullptr) return {};
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || (header.sh_flags & SHF_EXECINSTR) == 0) continue;
    const std::uint64_t offset = address - bias - header.sh_addr;
    const Elf_Data* data = offset < header.sh_size && header.sh_type == SHT_PROGBITS ? elf_rawdata(section, nullptr) : nullptr;
    if (data != nullptr && offset < data->d_size)
      return {static_cast<const std::uint8_t*>(data->d_buf) + offset, data->d_size - offset};
  }
  return {};
}

NamedMemory ProgramImage::symbol(std::uint64_t address) {
  Dwfl_Module* module = module_at(address);
  if (module == nullptr) return {};
  GElf_Off offset = 0;
  GElf_Sym symbol;
  const char* name = dwfl_module_addrinfo(module, address, &offset, &symbol, nullptr, nullptr, nullptr);
  if (name == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || offset >= symbol.st_size) return {};
  return {.name = demangled_name(name), .address = address - offset, .bytes = symbol.st_size};
}

std::string whole_path(Dwarf_Die& unit, const char* file) {
  Dwarf_Attribute attribute;
  const char* folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute));
  return folder == nullptr ? file : (std::filesystem::path(folder) / file).lexically_normal().string();
}

}  // namespace linebounce::record
