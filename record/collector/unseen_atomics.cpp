#include "record/collector/unseen_atomics.hpp"

#include <capstone/capstone.h>
#include <fmt/ranges.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include "record/collector/function_names.hpp"
#include "record/collector/shared_channel.hpp"
#include "trace/summary.hpp"

namespace linebounce::record {
namespace {

constexpr std::size_t kMostNames = 8;

using Code = std::span<const std::uint8_t>;

// Recognises atomic instructions: those with a lock prefix, and exchanges with memory, which are atomic without one.
class Disassembler {
 public:
  Disassembler() {
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) != CS_ERR_OK)
      throw RecordError("the disassembler (capstone) does not start");
    cs_option(handle_, CS_OPT_SKIPDATA, CS_OPT_ON);
    instruction_ = cs_malloc(handle_);
  }
  ~Disassembler() {
    cs_free(instruction_, 1);
    cs_close(&handle_);
  }
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  [[nodiscard]] int atomics(Code code) {
    if (!may_have_some(code)) return 0;
    int count = 0;
    const std::uint8_t* next = code.data();
    std::size_t left = code.size();
    std::uint64_t address = 0;
    while (cs_disasm_iter(handle_, &next, &left, &address, instruction_)) {
      const std::string_view name = instruction_->mnemonic;
      const bool is_exchange = name == "xchg" && std::string_view(instruction_->op_str).find('[') != std::string_view::npos;
      if (is_exchange || name.starts_with("lock")) ++count;
    }
    return count;
  }

 private:
  // A quick test for the bytes of atomic instructions, because most functions have none and need no disassembly.
  static bool may_have_some(Code code) {
    constexpr std::array<std::uint8_t, 3> kBytes = {0xf0, 0x86, 0x87};  // opcodes: lock prefix, xchg of a byte, xchg
    return std::find_first_of(code.begin(), code.end(), kBytes.begin(), kBytes.end()) != code.end();
  }

  csh handle_ = 0;
  cs_insn* instruction_ = nullptr;
};

// Counts the atomic instructions of each function of a file, except our runtime's functions.
class FileScan {
 public:
  FileScan(Dwfl_Module* module, Disassembler& disassembler) {
    Dwarf_Addr bias = 0;
    Elf* elf = dwfl_module_getelf(module, &bias);
    const int symbols = elf == nullptr ? 0 : dwfl_module_getsymtab(module);
    std::set<std::uint64_t> seen;  // symbols already scanned, because a function may have several names
    for (int i = 1; i < symbols; ++i) {
      GElf_Sym symbol;
      GElf_Word section = 0;
      const char* name = dwfl_module_getsym(module, i, &symbol, &section);
      if (name == nullptr) continue;
      if (std::string_view(name).starts_with("__tsan_func_entry")) is_instrumented_ = true;
      if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0 || !seen.insert(symbol.st_value).second) continue;
      const Code code = code_of(elf, bias, symbol, section);
      if (const int count = disassembler.atomics(code); count > 0) functions_[short_function_name(name)] += count;
    }
  }

  [[nodiscard]] bool is_instrumented() const { return is_instrumented_; }
  [[nodiscard]] const std::map<std::string, int>& functions() const { return functions_; }

 private:
  // The function's code; empty for our runtime's functions and for symbols outside the file.
  static Code code_of(Elf* elf, Dwarf_Addr bias, const GElf_Sym& symbol, GElf_Word number) {
    Elf_Scn* section = elf_getscn(elf, number);
    GElf_Shdr header;
    std::size_t names = 0;
    if (section == nullptr || gelf_getshdr(section, &header) == nullptr || elf_getshdrstrndx(elf, &names) != 0) return {};
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || std::string_view(name) == kRuntimeSection || header.sh_type != SHT_PROGBITS) return {};
    const Elf_Data* data = elf_rawdata(section, nullptr);
    const std::uint64_t offset = symbol.st_value - bias - header.sh_addr;
    if (data == nullptr || offset > data->d_size || symbol.st_size > data->d_size - offset) return {};
    return {static_cast<const std::uint8_t*>(data->d_buf) + offset, symbol.st_size};
  }

  bool is_instrumented_ = false;
  std::map<std::string, int> functions_;
};

// Libraries without a warning: the C library's, and gcc's OpenMP library. Their locks, barriers and allocator are recorded
// where the program calls them.
bool is_recorded_where_called(const std::string& file) {
  static const std::set<std::string_view> kFiles = {"libc.so.6",  "libm.so.6",  "ld-linux-x86-64.so.2", "libpthread.so.0",
                                                    "libdl.so.2", "librt.so.1", "libgcc_s.so.1"};
  return kFiles.contains(file) || file.starts_with("libgomp.so.") || file.starts_with("[");  // "[vdso]"
}

std::string functions_text(const std::map<std::string, int>& counts) {
  std::vector<std::pair<std::string, int>> most(counts.begin(), counts.end());
  std::ranges::stable_sort(most, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kMostNames, most.size()); ++i)
    names.push_back(fmt::format("{} ({})", most[i].first, most[i].second));
  if (most.size() > kMostNames) names.push_back(fmt::format("{} more", most.size() - kMostNames));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

trace::Losses unseen_atomics(const ProgramImage& image, const std::function<bool(const std::string&)>& has_run) {
  Disassembler disassembler;
  std::map<std::string, int> ran, may_have_run, libraries;
  for (Dwfl_Module* module : image.modules()) {
    const char* path = dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    const std::string file = path == nullptr ? "?" : std::filesystem::path(path).filename().string();
    if (is_recorded_where_called(file)) continue;
    const FileScan scan(module, disassembler);
    for (const auto& [function, count] : scan.functions()) {
      if (!scan.is_instrumented()) {
        libraries[file] += count;
      } else {
        (has_run(function) ? ran : may_have_run)[function] += count;
      }
    }
  }
  trace::Losses losses;
  const auto add = [&losses](trace::Loss loss, const std::map<std::string, int>& counts) {
    if (!counts.empty()) losses.add(loss, "linebounce-record", functions_text(counts));
  };
  add(trace::Loss::atomics_ran, ran);
  add(trace::Loss::atomics_may_have_run, may_have_run);
  add(trace::Loss::atomics_of_libraries, libraries);
  return losses;
}

}  // namespace linebounce::record
