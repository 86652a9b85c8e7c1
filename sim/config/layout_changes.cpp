#include "sim/config/layout_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "sim/config/suggestions.hpp"
#include "sim/config/table_reader.hpp"
#include "sim/config/toml_text.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kPath = "layout.change";
constexpr int kLargestAlignment = 65536;  // of a large page
constexpr int kLargestElement = 1 << 20;
constexpr std::string_view kSeparators = " ,\t";

class ChangeReader {
 public:
  ChangeReader(const toml::table& table, const std::string& file) : file_(file), reader_(table, file, kPath) {
    change_.origin = Origin{place_of(file, table.source())};
  }

  LayoutChange read() {
    name();
    change_.structure = {reader_.required_text("structure"), reader_.origin_of("structure")};
    alignment();
    change_.order = names("order");
    offsets();
    change_.per_cpu = names("per_cpu");
    change_.read_mostly = names("read_mostly");
    split();
    spread();
    reader_.finish();
    check();
    return std::move(change_);
  }

 private:
  void name() {
    if (const auto name = reader_.text("name")) change_.name = *name;
    const bool a_word = change_.name.find_first_of(kSeparators) == std::string::npos;
    if (!a_word || change_.name == "all" || change_.name == "none")
      reader_.refuse(
          "name", fmt::format("\"{}\" cannot be chosen by {}: a name has no blanks and no commas, and is neither all nor none",
                              change_.name, kLayoutChanges));
  }

  void alignment() {
    if (const auto align = reader_.integer("align_bytes", 1, kLargestAlignment)) {
      change_.align = PlacedBytes{static_cast<int>(*align), reader_.origin_of("align_bytes")};
      const auto given = static_cast<unsigned>(*align);
      if (!std::has_single_bit(given))
        reader_.refuse("align_bytes", fmt::format("{} is not a power of two; the nearest are {} and {}", given,
                                                  std::bit_floor(given), std::bit_ceil(given)));
    }
    if (const auto line = reader_.integer("line_bytes", 1, kLargestAlignment)) {
      change_.line = PlacedBytes{static_cast<int>(*line), reader_.origin_of("line_bytes")};
      if (!std::has_single_bit(static_cast<unsigned>(*line)))
        reader_.refuse("line_bytes", fmt::format("{} is not a power of two", *line));
    }
    if (const auto base = reader_.integer("base_offset_bytes", 0, kLargestAlignment))
      change_.base_offset = PlacedBytes{static_cast<int>(*base), reader_.origin_of("base_offset_bytes")};
    if (change_.align && change_.base_offset)
      reader_.refuse("base_offset_bytes", "an object begins on a boundary (align_bytes) or behind one: give one of the two");
  }

  [[nodiscard]] PlacedName field_name(const std::string& key, const toml::node& node) const {
    const Origin origin{place_of(file_, node.source())};
    const auto name = node.value<std::string>();
    if (!name || name->empty())
      fail(origin, reader_.path_of(key), fmt::format("expected a field's name, found {}", describe_node(node)));
    return {*name, origin};
  }

  std::vector<PlacedName> names(const std::string& key) {
    std::vector<PlacedName> out;
    const toml::array* list = reader_.array(key);
    if (list != nullptr && list->empty()) reader_.refuse(key, "expected a list of fields, found an empty one");
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) out.push_back(field_name(key, (*list)[i]));
    return out;
  }

  void offsets() {
    const toml::array* list = reader_.array("at_bytes");
    if (list == nullptr) return;
    if (list->size() != change_.order.size())
      reader_.refuse("at_bytes", fmt::format("has {} offsets for the {} fields of `order`: give one for each", list->size(),
                                             change_.order.size()));
    for (const toml::node& node : *list) {
      const Origin origin{place_of(file_, node.source())};
      const auto bytes = node.value<std::int64_t>();
      if (!bytes || *bytes < 0 || *bytes > kLargestStructure)
        fail(origin, reader_.path_of("at_bytes"),
             fmt::format("expected an offset, 0 to {}, found {}", kLargestStructure, describe_node(node)));
      change_.at.push_back({static_cast<int>(*bytes), origin});
    }
  }

  void split() {
    const toml::array* lines = reader_.array("split");
    if (lines != nullptr && lines->empty()) reader_.refuse("split", "expected a list of fields, found an empty one");
    for (std::size_t i = 0; lines != nullptr && i < lines->size(); ++i) {
      const toml::node& line = (*lines)[i];
      const toml::array* together = line.as_array();
      std::vector<PlacedName> fields;
      if (together == nullptr) fields.push_back(field_name("split", line));
      for (std::size_t k = 0; together != nullptr && k < together->size(); ++k)
        fields.push_back(field_name("split", (*together)[k]));
      if (fields.empty()) fail(Origin{place_of(file_, line.source())}, "layout.change.split", "a line without fields");
      change_.split.push_back(std::move(fields));
    }
  }

  void spread() {
    change_.spread = names("spread");
    if (const auto bytes = reader_.integer("element_bytes", 1, kLargestElement))
      change_.element_bytes = PlacedBytes{static_cast<int>(*bytes), reader_.origin_of("element_bytes")};
  }

  void check() const {
    std::vector<PlacedName> all = change_.order;
    all.insert(all.end(), change_.per_cpu.begin(), change_.per_cpu.end());
    all.insert(all.end(), change_.read_mostly.begin(), change_.read_mostly.end());
    all.insert(all.end(), change_.spread.begin(), change_.spread.end());
    for (const auto& line : change_.split) all.insert(all.end(), line.begin(), line.end());
    std::set<std::string> seen;
    for (const PlacedName& field : all) {
      if (!seen.insert(field.name).second)
        fail(field.origin, kPath, fmt::format("{} is named twice: one change puts a field in one place", field.name));
    }
    const bool whole_array = change_.element_bytes && change_.spread.empty();
    if (whole_array && !all.empty())
      fail(change_.element_bytes->origin, kPath,
           "without `spread` it says that the whole object is an array: then none of its fields is moved by itself");
    if (all.empty() && !whole_array && !change_.align && !change_.base_offset)
      fail(change_.origin, kPath,
           fmt::format("changes nothing of {}; legal: align_bytes, base_offset_bytes, order, split, spread, element_bytes, "
                       "per_cpu, read_mostly",
                       change_.structure.name));
  }

  const std::string& file_;
  TableReader reader_;
  LayoutChange change_;
};

toml::array names_array(const std::vector<PlacedName>& names) {
  toml::array out;
  for (const PlacedName& name : names) out.push_back(name.name);
  return out;
}

toml::table change_table(const LayoutChange& change) {
  toml::table table{{"structure", change.structure.name}};
  if (!change.name.empty()) table.insert("name", change.name);
  if (change.align) table.insert("align_bytes", std::int64_t{change.align->bytes});
  if (change.line) table.insert("line_bytes", std::int64_t{change.line->bytes});
  if (change.base_offset) table.insert("base_offset_bytes", std::int64_t{change.base_offset->bytes});
  if (!change.order.empty()) table.insert("order", names_array(change.order));
  toml::array offsets;
  for (const PlacedBytes& at : change.at) offsets.push_back(std::int64_t{at.bytes});
  if (!offsets.empty()) table.insert("at_bytes", std::move(offsets));
  if (!change.spread.empty()) table.insert("spread", names_array(change.spread));
  if (change.element_bytes) table.insert("element_bytes", std::int64_t{change.element_bytes->bytes});
  if (!change.per_cpu.empty()) table.insert("per_cpu", names_array(change.per_cpu));
  if (!change.read_mostly.empty()) table.insert("read_mostly", names_array(change.read_mostly));
  toml::array split;
  for (const auto& line : change.split) split.push_back(names_array(line));
  if (!split.empty()) table.insert("split", std::move(split));
  return table;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = text.find_first_not_of(kSeparators); begin != std::string::npos;) {
    const std::size_t end = text.find_first_of(kSeparators, begin);
    out.push_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kSeparators, end);
  }
  return out;
}

std::vector<std::string> legal_choices(const std::vector<LayoutChange>& changes) {
  std::vector<std::string> legal = {"all", "none"};
  for (const LayoutChange& change : changes) {
    if (!change.name.empty() && std::ranges::find(legal, change.name) == legal.end()) legal.push_back(change.name);
  }
  return legal;
}

}  // namespace

KeyInfo layout_changes_key() {
  KeyInfo key;
  key.path = kLayoutChanges;
  key.type = ValueType::text;
  key.meaning = "which [[layout.change]] apply: all, none, or names";
  key.default_value = std::string("all");
  return key;
}

std::vector<LayoutChange> read_layout_changes(const toml::array& changes, const std::string& file) {
  std::vector<LayoutChange> out;
  for (const toml::node& element : changes) {
    const toml::table* table = element.as_table();
    if (table == nullptr)
      fail(Origin{place_of(file, element.source())}, kPath,
           fmt::format("expected [[layout.change]] tables, found {}", describe_node(element)));
    out.push_back(ChangeReader(*table, file).read());
  }
  return out;
}

toml::array layout_changes_table(const std::vector<LayoutChange>& changes) {
  toml::array out;
  for (const LayoutChange& change : changes) out.push_back(change_table(change));
  return out;
}

std::vector<LayoutChange> chosen_changes(const std::vector<LayoutChange>& changes, const Setting& setting) {
  const auto& text = std::get<std::string>(setting.value);
  if (changes.empty()) fail(setting.origin, kLayoutChanges, "the experiment has no [[layout.change]] to choose from");
  if (text == "all") return changes;
  if (text == "none") return {};
  const std::vector<std::string> names = words(text);
  const std::vector<std::string> legal = legal_choices(changes);
  if (names.empty()) fail(setting.origin, kLayoutChanges, not_known(text, legal));
  for (const std::string& name : names) {
    const bool alone = name != "all" && name != "none";
    if (!alone || std::ranges::find(legal, name) == legal.end())
      fail(setting.origin, kLayoutChanges,
           alone ? not_known(name, legal) : fmt::format("{} stands alone, without other names", name));
  }
  std::vector<LayoutChange> chosen;
  std::ranges::copy_if(changes, std::back_inserter(chosen),
                       [&](const LayoutChange& change) { return std::ranges::find(names, change.name) != names.end(); });
  return chosen;
}

}  // namespace linebounce::sim
