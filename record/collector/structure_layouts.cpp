#include "record/collector/structure_layouts.hpp"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "record/collector/shared_channel.hpp"
#include "record/collector/types.hpp"

namespace linebounce::record {
namespace {

constexpr std::size_t kMostUnasked = 50;
constexpr std::size_t kMostListed = 12;

const Dwfl_Callbacks kFileCallbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = nullptr,
};

class BinaryTypes {
 public:
  explicit BinaryTypes(const std::string& file) : session_(dwfl_begin(&kFileCallbacks), dwfl_end) {
    if (session_ == nullptr || dwfl_report_offline(session_.get(), "", file.c_str(), -1) == nullptr)
      throw RecordError(fmt::format("{}: cannot be read as a program or library: {}", file, dwfl_errmsg(-1)));
    dwfl_report_end(session_.get(), nullptr, nullptr);
    Dwarf_Die* unit = nullptr;
    Dwarf_Addr bias = 0;
    bool is_split = false;
    while ((unit = dwfl_nextcu(session_.get(), unit, &bias)) != nullptr) {
      types_.note_types_of(*unit);
      is_split = is_split || dwarf_hasattr(unit, DW_AT_GNU_dwo_name) != 0 || dwarf_hasattr(unit, DW_AT_dwo_name) != 0;
    }
    if (types_.structure_names().empty() && is_split)
      throw RecordError(fmt::format(
          "{}: has its debug information in files of its own, which are not read; compile it without -gsplit-dwarf", file));
    if (types_.structure_names().empty())
      throw RecordError(fmt::format("{}: has no structures in its debug information; compile it with -g", file));
  }

  Types& types() { return types_; }

 private:
  std::unique_ptr<Dwfl, void (*)(Dwfl*)> session_;
  Types types_;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

std::string table_of(const std::string& name, const Type& type) {
  std::string text = fmt::format("\n[structure.{}]\nsize_bytes = {}\nalignment_bytes = {}\nfields = [\n", quoted(name),
                                 type.bytes, type.alignment);
  for (const trace::Field& field : fields_of(type, FieldsFor::layout))
    text +=
        fmt::format("  {{ name = {}, offset_bytes = {}, size_bytes = {} }},\n", quoted(field.name), field.offset, field.size);
  return text + "]\n";
}

// For an error message: the names that contain the wanted one, or the first ones if none does.
std::string names_text(const std::vector<std::string>& all, const std::string& wanted) {
  std::vector<std::string> names;
  std::ranges::copy_if(all, std::back_inserter(names), [&wanted](const std::string& name) {
    return name.find(wanted) != name.npos || wanted.find(name) != wanted.npos;
  });
  if (names.empty()) names = all;
  const std::size_t more = names.size() - std::min(names.size(), kMostListed);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

// A structure by its name alone, or with its namespaces and classes.
const Type* structure_of(Types& types, const std::string& name) {
  const Type* qualified = types.qualified(name);
  return qualified != nullptr ? qualified : types.named(name);
}

std::vector<std::string> wanted_of(Types& types, const std::string& file, const std::vector<std::string>& names) {
  const std::vector<std::string> all = types.structure_names();
  if (names.empty() && all.size() > kMostUnasked)
    throw RecordError(fmt::format("{}: has {} structures ({}); name those that you need: --structure NAME", file, all.size(),
                                  names_text(all, "")));
  for (const std::string& name : names) {
    const Type* type = structure_of(types, name);
    if (type == nullptr || !type->has_members())
      throw RecordError(fmt::format("{}: has no structure {}; it has {}", file, name, names_text(all, name)));
    const std::vector<std::string> same = types.qualified_names(name);
    if (same.size() > 1 && types.qualified(name) == nullptr)
      throw RecordError(fmt::format("{}: has several structures {}; name one: {}", file, name, fmt::join(same, ", ")));
  }
  return names.empty() ? all : names;
}

}  // namespace

std::string structure_layouts(const std::string& file, const std::vector<std::string>& names) {
  BinaryTypes binary(file);
  constexpr int kLineBytes = 64;  // an assumption, because debug information does not contain it
  std::string text =
      fmt::format("name = {}\ntitle = {}\nline_bytes = {}\n", quoted(std::filesystem::path(file).stem().string()),
                  quoted("from the debug information of " + std::filesystem::path(file).filename().string()), kLineBytes);
  for (const std::string& name : wanted_of(binary.types(), file, names)) {
    const Type* type = structure_of(binary.types(), name);
    if (type != nullptr && type->has_members()) text += table_of(name, *type);
  }
  return text;
}

}  // namespace linebounce::record
