#include "record/collector/structure_layouts.hpp"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "record/collector/shared_channel.hpp"
#include "record/collector/types.hpp"
#include "types/type_fields.hpp"

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
    dwfl_getmodules(session_.get(), &note_module, &types_, 0);
    if (!types_.missing_files().empty())
      throw RecordError(
          fmt::format("{}: has its debug information in {}, which can't be read; keep that file, or make the "
                      "program without -gsplit-dwarf and dwz -m",
                      file, types_.missing_files().front()));
    if (types_.qualified_names("").empty())
      throw RecordError(
          fmt::format("{}: has no structures in its debug information; compile it with -g (-g1 leaves types out)", file));
  }

  Types& types() { return types_; }

 private:
  static int note_module(Dwfl_Module* module, void**, const char*, Dwarf_Addr, void* types) {
    Dwarf_Addr bias = 0;
    Dwarf* information = dwfl_module_getdwarf(module, &bias);
    static_cast<Types*>(types)->note_types_of(information, dwfl_module_getelf(module, &bias));
    return DWARF_CB_OK;
  }

  std::unique_ptr<Dwfl, void (*)(Dwfl*)> session_;
  Types types_;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

std::string places_text(const char* key, const std::vector<trace::Field>& fields) {
  std::string text = fmt::format("{} = [\n", key);
  for (const trace::Field& field : fields) {
    const std::string name = field.name == "?" ? "" : fmt::format("name = {}, ", quoted(field.name));
    const std::string alignment = field.alignment == 0 ? "" : fmt::format(", alignment_bytes = {}", field.alignment);
    text += fmt::format("  {{ {}offset_bytes = {}, size_bytes = {}{} }},\n", name, field.offset, field.size, alignment);
  }
  return text + "]\n";
}

std::string table_of(const std::string& name, const Type& type) {
  const trace::Structure made = types::structure_of(type, types::FieldsFor::layout);
  return fmt::format("\n[structure.{}]\nsize_bytes = {}\nalignment_bytes = {}\n{}{}", quoted(name), made.size, made.alignment,
                     places_text("fields", made.fields),
                     made.unexplained.empty() ? "" : places_text("unexplained", made.unexplained));
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
const Type& structure_of(Types& types, const std::string& file, const std::string& name) {
  std::vector<const Type*> found = types.qualified(name);
  if (found.empty()) {
    const std::vector<std::string> same = types.qualified_names(name);
    if (same.size() > 1)
      throw RecordError(fmt::format("{}: has several structures {}; name one: {}", file, name, fmt::join(same, ", ")));
    if (!same.empty()) found = types.qualified(same.front());
  }
  if (found.size() > 1)
    throw RecordError(fmt::format("{}: has several structures {}, which differ: one of {} bytes ({}), one of {} bytes ({})",
                                  file, name, found[0]->size, found[0]->source, found[1]->size, found[1]->source));
  if (found.empty() || !found.front()->is_aggregate())
    throw RecordError(
        fmt::format("{}: has no structure {}; it has {}", file, name, names_text(types.qualified_names(""), name)));
  if (found.front()->size <= 0)
    throw RecordError(fmt::format("{}: the size of {} is not in its debug information", file, name));
  return *found.front();
}

std::vector<std::string> wanted_of(Types& types, const std::string& file, const std::vector<std::string>& names) {
  const std::vector<std::string> all = types.qualified_names("");
  if (names.empty() && all.size() > kMostUnasked)
    throw RecordError(fmt::format("{}: has {} structures ({}); name those that you need: --structure NAME", file, all.size(),
                                  names_text(all, "")));
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
    const std::vector<const Type*> found = binary.types().qualified(name);
    if (names.empty() && (found.size() != 1 || !types::has_members(*found.front()))) continue;
    text += table_of(name, structure_of(binary.types(), file, name));
  }
  return text;
}

}  // namespace linebounce::record
