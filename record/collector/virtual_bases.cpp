#include "record/collector/virtual_bases.hpp"

#include <cxxabi.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace linebounce::record {
namespace {

constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kLargestVtable = 1 << 20;  // bytes

// Of gcc, and as demanglers have it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kSpellings = {
    {{"long long unsigned int", "unsigned long long"},
     {"long unsigned int", "unsigned long"},
     {"short unsigned int", "unsigned short"},
     {"long int", "long"},
     {"short int", "short"},
     {" const", ""},
     {"const ", ""}}};

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : "";
}

}  // namespace

std::string comparable_name(const std::string& given) {
  std::string name = given;
  for (const auto& [theirs, ours] : kSpellings) {
    for (std::size_t at = name.find(theirs); at != name.npos; at = name.find(theirs, at)) name.replace(at, theirs.size(), ours);
  }
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string out;
  int parentheses = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, kUnnamed.size(), kUnnamed) == 0) {
      i += kUnnamed.size() - 1;
      continue;
    }
    const char c = name[i];
    if (c == ')') --parentheses;
    const bool is_suffix = (c == 'u' || c == 'l') && !out.empty() &&
                           std::isdigit(static_cast<unsigned char>(out.back())) != 0 &&
                           (i + 1 == name.size() || std::string_view("ul,> ").find(name[i + 1]) != std::string_view::npos);
    const bool is_kept = parentheses == 0 && c != ')' && c != '(' && c != ' ' && !is_suffix;
    if (c == '(') ++parentheses;
    if (is_kept) out += c;
  }
  return out;
}

std::optional<std::int64_t> VirtualBases::offset(const std::string& structure, std::int64_t part, std::int64_t entry) {
  const auto [values, type_info] = words_of(structure);
  if (type_info == 0 || entry % static_cast<std::int64_t>(kWord) != 0) return std::nullopt;
  // Each part's vtable has the part's negative offset and the address of the type_info before its address point.
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] != type_info || static_cast<std::int64_t>(values[i - 1]) != -part) continue;
    const std::int64_t at = static_cast<std::int64_t>(i) + 1 - entry / static_cast<std::int64_t>(kWord);
    if (at < 0 || at >= static_cast<std::int64_t>(i) - 1) return std::nullopt;
    return part + static_cast<std::int64_t>(values[static_cast<std::size_t>(at)]);
  }
  return std::nullopt;
}

VirtualBases::Words VirtualBases::words_of(const std::string& structure) {
  if (!has_symbols_) find_symbols();
  const std::string name = comparable_name(structure);
  const auto vtable = vtables_.find(name), type_info = type_infos_.find(name);
  if (vtable == vtables_.end() || type_info == type_infos_.end()) return {};
  Words words{.values = bytes_at(vtable->second), .type_info = type_info->second.address};
  for (std::size_t i = 0; i < words.values.size(); ++i) {
    const auto stored = relocated_.find(vtable->second.address + i * kWord);
    if (stored != relocated_.end()) words.values[i] = stored->second;
  }
  return words;
}

void VirtualBases::find_symbols() {
  has_symbols_ = true;
  GElf_Ehdr header;
  // An object file's vtables are relocated only when it is linked.
  if (program_ == nullptr || gelf_getehdr(program_, &header) == nullptr || header.e_type == ET_REL) return;
  find_symbols_of(program_);
  if (symbols_ != nullptr && symbols_ != program_) find_symbols_of(symbols_);
  if (!vtables_.empty()) find_relocations();
}

void VirtualBases::find_symbols_of(Elf* elf) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || header.sh_entsize == 0) continue;
    for (std::size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (name == nullptr || std::strncmp(name, "_ZT", 3) != 0 || (name[3] != 'V' && name[3] != 'I')) continue;
      constexpr std::string_view kVtable = "vtable for ", kTypeInfo = "typeinfo for ";
      const std::string text = demangled(name);
      if (text.starts_with(kVtable)) {
        vtables_.try_emplace(comparable_name(text.substr(kVtable.size())), Place{symbol.st_value, symbol.st_size});
      } else if (text.starts_with(kTypeInfo)) {
        type_infos_.try_emplace(comparable_name(text.substr(kTypeInfo.size())), Place{symbol.st_value, symbol.st_size});
      }
    }
  }
}

void VirtualBases::find_relocations() {
  for (Elf_Scn* section = elf_nextscn(program_, nullptr); section != nullptr; section = elf_nextscn(program_, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_RELA || header.sh_entsize == 0) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    Elf_Scn* table = elf_getscn(program_, header.sh_link);
    Elf_Data* symbols = table == nullptr ? nullptr : elf_getdata(table, nullptr);
    if (data == nullptr) continue;
    for (std::size_t i = 0; i < header.sh_size / header.sh_entsize; ++i) {
      GElf_Rela relocation;
      GElf_Sym symbol{};
      if (gelf_getrela(data, static_cast<int>(i), &relocation) == nullptr) continue;
      const auto number = static_cast<int>(GELF_R_SYM(relocation.r_info));
      if (number != 0 && symbols != nullptr) gelf_getsym(symbols, number, &symbol);
      relocated_[relocation.r_offset] = symbol.st_value + static_cast<std::uint64_t>(relocation.r_addend);
    }
  }
}

std::vector<std::uint64_t> VirtualBases::bytes_at(const Place& place) const {
  for (Elf_Scn* section = elf_nextscn(program_, nullptr); section != nullptr; section = elf_nextscn(program_, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS || (header.sh_flags & SHF_ALLOC) == 0)
      continue;
    if (place.address < header.sh_addr || place.address - header.sh_addr >= header.sh_size) continue;
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    const std::uint64_t begin = place.address - header.sh_addr;
    if (begin >= data->d_size) continue;
    const std::uint64_t bytes = std::min({place.bytes, data->d_size - begin, kLargestVtable});
    std::vector<std::uint64_t> words(bytes / kWord);
    std::memcpy(words.data(), static_cast<const char*>(data->d_buf) + begin, words.size() * kWord);
    return words;
  }
  return {};
}

}  // namespace linebounce::record
