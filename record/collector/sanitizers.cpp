#include "record/collector/sanitizers.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

namespace linebounce::record {
namespace {

struct Sanitizer {
  std::string_view name;
  std::string_view library;   // gcc links it as a shared library, whose name begins so
  std::string_view function;  // clang links it into the program, which then exports this
};
constexpr std::array<Sanitizer, 5> kSanitizers = {{
    {"address", "libasan.so", "__asan_init"},
    {"hwaddress", "libhwasan.so", "__hwasan_init"},
    {"leak", "liblsan.so", "__lsan_init"},
    {"memory", "libmsan.so", "__msan_init"},
    {"thread", "libtsan.so", "__tsan_init"},
}};
constexpr std::string_view kOurs = "__tsan_linebounce_new_begins";

// Calls use(name) for each library that the program needs, and each function that it exports.
void each_dynamic_name(Elf* program, const std::function<void(std::string_view)>& use) {
  for (Elf_Scn* section = elf_nextscn(program, nullptr); section != nullptr; section = elf_nextscn(program, section)) {
    GElf_Shdr header;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) continue;
    const auto use_string = [&](std::size_t at) {
      if (const char* name = elf_strptr(program, header.sh_link, at); name != nullptr) use(name);
    };
    const int count = static_cast<int>(header.sh_size / header.sh_entsize);
    for (int i = 0; i < count; ++i) {
      GElf_Dyn entry;
      GElf_Sym symbol;
      if (header.sh_type == SHT_DYNAMIC && gelf_getdyn(data, i, &entry) != nullptr && entry.d_tag == DT_NEEDED)
        use_string(entry.d_un.d_val);
      if (header.sh_type == SHT_DYNSYM && gelf_getsym(data, i, &symbol) != nullptr && symbol.st_shndx != SHN_UNDEF)
        use_string(symbol.st_name);
    }
  }
}

}  // namespace

std::string large_sanitizer_of(Elf* program) {
  std::string found;
  bool is_ours = false;
  each_dynamic_name(program, [&](std::string_view name) {
    is_ours |= name == kOurs;
    const auto* const sanitizer = std::ranges::find_if(
        kSanitizers, [name](const Sanitizer& one) { return name.starts_with(one.library) || name == one.function; });
    if (sanitizer != kSanitizers.end()) found = sanitizer->name;
  });
  return is_ours ? "" : found;
}

}  // namespace linebounce::record
