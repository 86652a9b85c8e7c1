#include "sim/config/listing_layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "sim/config/project_files.hpp"
#include "sim/point/config_error.hpp"
#include "types/elf_file.hpp"
#include "types/listing.hpp"
#include "types/type_fields.hpp"

namespace linebounce::sim {
namespace {

constexpr int kUsualLineBytes = 64;  // for listings that don't imply a line size; most processors have 64-byte lines
constexpr std::string_view kBtf = "btf", kPahole = "pahole";

const types::ListingForm& form_called(std::string_view name) {
  return *std::ranges::find(types::listing_forms(), name, &types::ListingForm::name);
}

// The BTF of a kernel: a listing, or the section of an ELF file.
std::string base_bytes(const std::string& file) {
  if (file.empty()) return "";
  std::ifstream elf(file, std::ios::binary);
  if (auto section = types::elf_section(elf, ".BTF")) return *std::move(section);
  return types::unquoted(read_data(file));
}

void add_layout(LayoutFile& file, const types::Type& type) {
  if (type.size > kLargestStructure) {
    file.unread.emplace(type.name,
                        fmt::format("its {} bytes are more than the {} that a layout may have", type.size, kLargestStructure));
    return;
  }
  const trace::Structure made = types::structure_of(type, types::FieldsFor::layout);
  Layout layout{.name = made.name, .size = static_cast<int>(made.size), .alignment = made.alignment, .fields = {}};
  for (const trace::Field& field : made.fields)
    layout.fields.push_back({.name = field.name,
                             .offset = static_cast<int>(field.offset),
                             .size = static_cast<int>(field.size),
                             .alignment = field.alignment});
  for (const trace::Field& bytes : made.unexplained)
    layout.unexplained.push_back({"", static_cast<int>(bytes.offset), static_cast<int>(bytes.size)});
  file.layouts.add(layout);
}

LayoutFile layouts_of_listing(const types::ListingForm& form, types::ListingInput input, const LayoutChoice& choice) {
  const std::string base = base_bytes(choice.base);
  input.base = base;
  input.base_file = choice.base;
  types::Listing listing;
  try {
    listing = types::read_listing(form, input);
  } catch (const types::ReadError& error) {
    throw ConfigError(error.what());
  }
  LayoutFile layouts;
  layouts.name = std::filesystem::path(input.file).stem().string();
  layouts.title = "from " + listing.origin;
  layouts.line_bytes = listing.line_bytes.value_or(kUsualLineBytes);
  const std::set<std::string> wanted(choice.wanted.begin(), choice.wanted.end());
  for (const types::TypePtr& type : listing.structures) add_layout(layouts, *type);
  // A module's listing has its kernel's structures only for those who ask for one.
  for (const types::TypePtr& type : listing.of_base) {
    if (wanted.contains(type->name) && !layouts.layouts.all().contains(type->name)) add_layout(layouts, *type);
  }
  for (const types::Unread& one : listing.unread) layouts.unread.emplace(one.name, one.why);
  if (layouts.layouts.empty() && !listing.unread.empty())
    throw ConfigError(fmt::format("{}: {}: {}", input.file, listing.unread.front().name, listing.unread.front().why));
  return layouts;
}

}  // namespace

bool is_listing(const std::string& bytes, const std::filesystem::path& file) {
  return file.extension() == kPaholeExtension || types::listing_form_of(types::unquoted(bytes)) != nullptr;
}

LayoutFile read_listing_layouts(const std::string& bytes, const std::filesystem::path& file, const LayoutChoice& choice) {
  const std::string text = types::unquoted(bytes);
  const types::ListingForm* const form = types::listing_form_of(text);
  return layouts_of_listing(form != nullptr ? *form : form_called(kPahole), {text, file.string()}, choice);
}

bool has_only_btf(const std::filesystem::path& elf_file) {
  std::ifstream elf(elf_file, std::ios::binary);
  const auto has = [&elf](const char* section) { return types::elf_section(elf, section).has_value(); };
  return has(".BTF") && !has(".debug_info") && !has(".zdebug_info");
}

LayoutFile read_btf_layouts(const std::filesystem::path& elf_file, const LayoutChoice& choice) {
  std::ifstream elf(elf_file, std::ios::binary);
  const auto btf = types::elf_section(elf, ".BTF"), base = types::elf_section(elf, ".BTF.base");
  if (!btf) throw ConfigError(fmt::format("{}: has no BTF (a section .BTF)", elf_file.string()));
  return layouts_of_listing(form_called(kBtf), {.bytes = *btf, .file = elf_file.string(), .distilled_base = base ? *base : ""},
                            choice);
}

}  // namespace linebounce::sim
