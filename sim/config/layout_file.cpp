#include "sim/config/layout_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>

#include "models/spec_binder.hpp"
#include "sim/config/listing_layouts.hpp"
#include "sim/config/project_files.hpp"
#include "sim/config/table_reader.hpp"
#include "sim/config/toml_text.hpp"
#include "sim/point/config_error.hpp"
#include "types/elf_file.hpp"
#include "types/type.hpp"

namespace linebounce::sim {
namespace {

void require_power_of_two(const TableReader& reader, const std::string& key, int value) {
  const auto given = static_cast<unsigned>(value);
  if (std::has_single_bit(given)) return;
  reader.refuse(key, fmt::format("{} is not a power of two; the nearest are {} and {}", value, std::bit_floor(given),
                                 std::bit_ceil(given)));
}

// Non-overlapping fields, by offset.
using PlacedFields = std::map<int, Field>;

// Returns the first placed field that overlaps `field`, or nullptr if none does.
const Field* overlapping(const PlacedFields& placed, const Field& field) {
  const auto first = placed.upper_bound(field.offset);
  if (first != placed.begin()) {
    const Field& before = std::prev(first)->second;
    if (before.offset + before.size > field.offset) return &before;
  }
  return first != placed.end() && first->first < field.offset + field.size ? &first->second : nullptr;
}

// Returns the lowest free and naturally aligned offset for a field of `size` bytes; -1 if the structure has no room.
int free_offset(const PlacedFields& placed, int size, int structure_size) {
  const int step = natural_alignment(size);
  int offset = 0;
  for (const auto& [begin, field] : placed) {
    if (offset + size <= begin) break;
    offset = std::max(offset, (begin + field.size + step - 1) / step * step);
  }
  return offset + size <= structure_size ? offset : -1;
}

class StructureReader {
 public:
  StructureReader(const toml::table& table, std::string file, const std::string& name, const LayoutFile& layouts)
      : file_(std::move(file)), path_("structure." + name), reader_(table, file_, path_), layouts_(layouts) {
    layout_.name = name;
  }

  Layout read() {
    layout_.size = bytes(reader_, "size_bytes", 1, kLargestStructure);
    layout_.alignment = static_cast<int>(reader_.integer("alignment_bytes", 1, kLargestStructure).value_or(layout_.alignment));
    require_power_of_two(reader_, "alignment_bytes", layout_.alignment);
    if (const auto offset = reader_.integer("base_offset_bytes", 0, layouts_.line_bytes - 1))
      layout_.base_offset = static_cast<int>(*offset);
    layout_.subsystem = reader_.text("subsystem").value_or("");
    const toml::array* fields = reader_.array("fields");
    const toml::array* unexplained = reader_.array("unexplained");
    reader_.finish();
    for (std::size_t i = 0; unexplained != nullptr && i < unexplained->size(); ++i) {
      const toml::table* bytes = (*unexplained)[i].as_table();
      if (bytes == nullptr) reader_.refuse("unexplained", "expected a list of tables { offset_bytes, size_bytes }");
      TableReader places(*bytes, file_, fmt::format("{}.unexplained[{}]", path_, i));
      layout_.unexplained.push_back(read_place(places, ""));
    }
    for (std::size_t i = 0; fields != nullptr && i < fields->size(); ++i) {
      const toml::table* field = (*fields)[i].as_table();
      if (field == nullptr) reader_.refuse("fields", "expected a list of tables { name, offset_bytes, size_bytes }");
      read_field(*field, fmt::format("{}.fields[{}]", path_, i));
    }
    check_base();
    return layout_;
  }

 private:
  static int bytes(TableReader& reader, const std::string& key, int least, int most) {
    const auto value = reader.integer(key, least, most);
    if (!value) reader.refuse(key, "this key is missing and has no default");
    return static_cast<int>(*value);
  }

  void read_field(const toml::table& table, const std::string& path) {
    TableReader reader(table, file_, path);
    const Field field = read_place(reader, reader.required_text("name"));
    if (!names_.insert(field.name).second)
      reader.refuse("name", fmt::format("{} is in {} twice; legal: any other name", field.name, layout_.name));
    if (const Field* other = overlapping(placed_, field)) reader.refuse("offset_bytes", overlap_text(field, *other));
    placed_.emplace(field.offset, field);
    layout_.fields.push_back(field);
  }

  Field read_place(TableReader& reader, const std::string& name) const {
    Field field;
    field.name = name;
    field.offset = bytes(reader, "offset_bytes", 0, layout_.size - 1);
    field.size = bytes(reader, "size_bytes", 1, layout_.size);
    if (field.offset + field.size > layout_.size)
      reader.refuse(
          "size_bytes",
          fmt::format("{} ends behind its structure of {} bytes; legal: at most {}, or size_bytes of {} at "
                      "least {}",
                      field.name, layout_.size, layout_.size - field.offset, layout_.name, field.offset + field.size));
    field.alignment = static_cast<int>(reader.integer("alignment_bytes", 1, kLargestStructure).value_or(0));
    if (field.alignment != 0) require_power_of_two(reader, "alignment_bytes", field.alignment);
    reader.finish();
    return field;
  }

  [[nodiscard]] std::string overlap_text(const Field& field, const Field& other) const {
    const int free = free_offset(placed_, field.size, layout_.size);
    return fmt::format("{} (bytes {} to {}) overlaps {} (bytes {} to {}); {}", field.name, field.offset,
                       field.offset + field.size - 1, other.name, other.offset, other.offset + other.size - 1,
                       free < 0 ? fmt::format("its {} bytes fit nowhere before {} ends at {}: size_bytes must grow", field.size,
                                              layout_.name, layout_.size)
                                : fmt::format("the first legal offset for its {} bytes is {}", field.size, free));
  }

  void check_base() const {
    const int alignment = alignment_of(layout_);
    if (layout_.base_offset && *layout_.base_offset % alignment != 0)
      reader_.refuse("base_offset_bytes", fmt::format("{} takes fields off their alignment; legal: multiples of {} below {}",
                                                      *layout_.base_offset, alignment, layouts_.line_bytes));
  }

  std::string file_, path_;
  TableReader reader_;
  const LayoutFile& layouts_;
  Layout layout_;
  // The names of all fields. A set, because a structure may have a million fields.
  std::set<std::string> names_;
  PlacedFields placed_;
};

// True for a path of another tool's listing: it has pahole's extension, or is an existing file with any extension but a
// layout's.
bool is_listing_path(const std::string& name_or_path) {
  const std::filesystem::path path = name_or_path;
  if (path.extension() == kPaholeExtension) return true;
  std::error_code ignored;
  return path.has_extension() && path.extension() != kLayoutFiles.extension && std::filesystem::is_regular_file(path, ignored);
}

LayoutFile read_layout_toml(const std::string& text, const std::string& file) {
  const toml::table table = parse_toml(text, file);
  TableReader reader(table, file, "");
  LayoutFile layouts;
  layouts.name = reader.required_text("name");
  layouts.title = reader.required_text("title");
  layouts.line_bytes = static_cast<int>(reader.integer("line_bytes", 8, kLargestLine).value_or(layouts.line_bytes));
  require_power_of_two(reader, "line_bytes", layouts.line_bytes);
  const toml::table* structures = reader.table("structure");
  reader.finish();
  if (structures == nullptr) reader.refuse("structure", "the file has no structures");
  for (const auto& [name, structure] : *structures) {
    if (!structure.is_table()) reader.refuse("structure", fmt::format("{}: expected a table", std::string(name.str())));
    layouts.layouts.add(StructureReader(*structure.as_table(), file, std::string(name.str()), layouts).read());
  }
  return layouts;
}

}  // namespace

bool is_layout_path(const std::string& name_or_path) {
  return is_path(kLayoutFiles, name_or_path) || is_listing_path(name_or_path);
}

std::filesystem::path find_layout_file(const std::string& name_or_path, const std::string& place) {
  if (is_listing_path(name_or_path)) return name_or_path;
  return find_file(kLayoutFiles, name_or_path, "", place);
}

LayoutFile load_layout_file(const std::string& name_or_path, const std::string& place) {
  const std::filesystem::path file = find_layout_file(name_or_path, place);
  return read_layout_file(read_text(file), file);
}

LayoutFile read_layout_file(const std::string& text, const std::filesystem::path& file, const LayoutChoice& choice) {
  if (is_listing(text, file)) return read_listing_layouts(text, file, choice);
  if (types::is_elf(text))
    throw ConfigError(
        fmt::format("{0}: is a program or library; a layout is made of its debug information by: linebounce import "
                    "{0} --structure NAME -o NAME.toml",
                    file.string()));
  return read_layout_toml(text, file.string());
}

int natural_alignment(int size) {
  return static_cast<int>(types::natural_alignment(size));
}

int alignment_of(const Field& field) {
  int alignment = std::max(natural_alignment(field.size), field.alignment);
  while (field.offset % alignment != 0) alignment /= 2;
  return alignment;
}

int alignment_of(const Layout& layout) {
  int alignment = 1;
  for (const Field& field : layout.fields) alignment = std::max(alignment, alignment_of(field));
  return alignment;
}

std::string unexplained_text(const Layout& layout) {
  std::vector<types::Bytes> bytes;
  for (const Field& field : layout.unexplained) bytes.push_back({field.offset, field.offset + field.size});
  if (bytes.empty()) return "";
  return fmt::format("{} of {} may be of a member that its source does not tell", types::bytes_text(bytes), layout.name);
}

}  // namespace linebounce::sim
