#include "sim/config/btf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "sim/config/layout_file.hpp"
#include "sim/config/settings.hpp"
#include "sim/results/json_members.hpp"

namespace linebounce::sim {
namespace {

constexpr int kPointerBytes = 8;
constexpr int kDeepestType = 64;                 // of types within types
constexpr std::size_t kMostBtfFields = 1 << 17;  // of a structure
constexpr std::int64_t kLargestBtfNumber = std::int64_t{1} << 40;

struct BtfMember {
  std::string name;                          // empty: an anonymous structure or union
  std::int64_t type = 0, bit = 0, bits = 0;  // `bits`: the width of a bitfield; 0 for any other member
};

struct BtfType {
  std::string kind, name;
  std::int64_t size = 0, type = 0, elements = 0;
  std::size_t line = 0;
  std::vector<BtfMember> members;

  [[nodiscard]] bool is_aggregate() const { return kind == "STRUCT" || kind == "UNION"; }
};

// Returns the numeric members of a JSON object, formatted as in bpftool's text output: " size=8 vlen=2".
std::string numbers_text(const nlohmann::json& object) {
  std::string text;
  for (const auto& [name, value] : object.items()) {
    if (value.is_number_integer()) text += fmt::format(" {}={}", name, value.get<std::int64_t>());
  }
  return text;
}

std::string name_text(const nlohmann::json& object) {
  std::string name = object.value("name", "(anon)");
  std::erase_if(name, [](char c) { return c == '\'' || c == '\n'; });
  return "'" + name + "'";
}

// Converts bpftool's JSON, {"types": [{"id": 1, "kind": "INT", "name": "int", "size": 4}, ...]}, to lines of its text format.
std::string text_of_json(const std::string& json, const std::string& file) {
  std::string text;
  try {
    const auto document = parsed_json<nlohmann::json>(json);
    for (const nlohmann::json& type : document.at("types")) {
      text += fmt::format("[{}] {} {}{}\n", type.at("id").get<std::int64_t>(), type.at("kind").get<std::string>(),
                          name_text(type), numbers_text(type));
      if (!type.contains("members")) continue;
      for (const nlohmann::json& member : type.at("members"))
        text += fmt::format("\t{}{}\n", name_text(member), numbers_text(member));
    }
  } catch (const nlohmann::json::exception&) {
    fail({file}, "btf", "expected {\"types\": [{\"id\": 1, \"kind\": \"INT\", ...}]}, as bpftool -j prints it");
  }
  return text;
}

class BtfReader {
 public:
  explicit BtfReader(std::string file) : file_(std::move(file)) {}

  std::vector<Layout> read(std::string_view text) {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      ++line_;
      line(text.substr(begin, end - begin));
      begin = end + 1;
    }
    std::vector<Layout> layouts;
    std::set<std::string> names;
    for (const auto& [id, type] : types_) {
      if (type.kind != "STRUCT" || type.name.empty() || !names.insert(type.name).second) continue;
      if (auto layout = layout_of(type)) layouts.push_back(*std::move(layout));
    }
    if (layouts.empty()) refuse("the text has no structure; expected [1] STRUCT 'NAME' size=8 vlen=1, as bpftool prints it");
    return layouts;
  }

 private:
  [[noreturn]] void refuse(const std::string& text) const { fail({fmt::format("{}:{}", file_, line_)}, "btf", text); }

  void line(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == text.npos) return;
    text.remove_prefix(first);
    if (text.front() == '[') {
      type(text);
    } else if (text.front() == '\'' && at_ != nullptr && at_->is_aggregate()) {
      BtfMember member{.name = quoted(text)};
      member.type = number(text, "type_id").value_or(0);
      member.bit = number(text, "bits_offset").value_or(0);
      member.bits = number(text, "bitfield_size").value_or(0);
      at_->members.push_back(std::move(member));
    }
  }

  // Parses the first line of a type: "[12] STRUCT 'list_head' size=16 vlen=2".
  void type(std::string_view text) {
    const std::size_t close = text.find(']');
    std::int64_t id = 0;
    if (close == text.npos) refuse("expected [NUMBER] KIND 'NAME'");
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + close, id);
    if (error != std::errc() || end != text.data() + close) refuse("expected [NUMBER] KIND 'NAME'");
    text.remove_prefix(std::min(close + 2, text.size()));
    BtfType type;
    type.line = line_;
    type.kind = text.substr(0, text.find(' '));
    type.name = quoted(text);
    type.size = number(text, "size").value_or(0);
    type.type = number(text, "type_id").value_or(0);
    type.elements = number(text, "nr_elems").value_or(0);
    at_ = &types_.insert_or_assign(id, std::move(type)).first->second;
  }

  // The text between the first two quotes; empty for '(anon)'.
  static std::string quoted(std::string_view text) {
    const std::size_t open = text.find('\'');
    const std::size_t close = open == text.npos ? open : text.find('\'', open + 1);
    if (close == text.npos) return "";
    const std::string_view name = text.substr(open + 1, close - open - 1);
    return name == "(anon)" ? "" : std::string(name);
  }

  std::optional<std::int64_t> number(std::string_view text, std::string_view key) const {
    const std::size_t at = text.find(fmt::format(" {}=", key));
    if (at == text.npos) return std::nullopt;
    std::int64_t value = 0;
    const char* const begin = text.data() + at + key.size() + 2;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (error != std::errc() || value < 0 || value > kLargestBtfNumber)
      refuse(fmt::format("{} is not a number, or is too large", key));
    return value;
  }

  // Follows typedefs and qualifiers to the underlying type. Returns nullptr for void and for a type that the text lacks.
  [[nodiscard]] const BtfType* plain(std::int64_t id) const {
    for (int depth = 0; depth < kDeepestType; ++depth) {
      const auto found = types_.find(id);
      if (found == types_.end()) return nullptr;
      const std::string& kind = found->second.kind;
      if (kind != "TYPEDEF" && kind != "CONST" && kind != "VOLATILE" && kind != "RESTRICT" && kind != "TYPE_TAG")
        return &found->second;
      id = found->second.type;
    }
    return nullptr;
  }

  [[nodiscard]] std::int64_t size_of(std::int64_t id, int depth = 0) const {
    const BtfType* type = plain(id);
    if (type == nullptr || depth == kDeepestType) return 0;
    if (type->kind == "PTR") return kPointerBytes;
    if (type->kind != "ARRAY") return type->size;
    const std::int64_t one = size_of(type->type, depth + 1);
    return one > 0 && type->elements > kLargestStructure / one ? std::int64_t{kLargestStructure} + 1 : one * type->elements;
  }

  // Returns nothing for a structure that has no fields or is larger than a layout may be.
  std::optional<Layout> layout_of(const BtfType& type) {
    if (type.size < 1 || type.size > kLargestStructure) return std::nullopt;
    std::vector<Field> fields;
    line_ = type.line;
    add_members(type, 0, "", fields, 0);
    Layout layout{.name = type.name, .size = static_cast<int>(type.size), .fields = merged(std::move(fields))};
    if (layout.fields.empty()) return std::nullopt;
    layout.alignment = alignment_of(layout);
    return layout;
  }

  void add_members(const BtfType& type, std::int64_t begin, const std::string& prefix, std::vector<Field>& fields, int depth) {
    if (depth == kDeepestType) refuse("structures within structures are too deep");
    for (const BtfMember& member : type.members) {
      const BtfType* of = plain(member.type);
      const std::int64_t at = begin + member.bit / 8;
      const std::string name = prefix + member.name;
      const bool is_anonymous = of != nullptr && of->is_aggregate() && of->name.empty();
      const bool is_list = of != nullptr && of->kind == "STRUCT" && of->name == "list_head";
      const bool is_union = of != nullptr && of->kind == "UNION";
      if (is_list || (is_anonymous && (member.name.empty() || !is_union))) {
        add_members(*of, at, member.name.empty() ? prefix : name + ".", fields, depth + 1);
        continue;
      }
      const std::int64_t bits = member.bit % 8 + member.bits;
      const std::int64_t size = member.bits > 0 ? (bits + 7) / 8 : size_of(member.type);
      if (size == 0) continue;  // a flexible array at the end of a structure, or a type of unknown size
      if (at + size > kLargestStructure || fields.size() == kMostBtfFields) refuse(fmt::format("field {} is too large", name));
      fields.push_back({name, static_cast<int>(at), static_cast<int>(size)});
    }
  }

  // Merges fields that share bytes into one field.
  static std::vector<Field> merged(std::vector<Field> fields) {
    std::ranges::stable_sort(fields, {}, &Field::offset);
    std::vector<Field> out;
    for (Field& field : fields) {
      if (out.empty() || out.back().offset + out.back().size <= field.offset) {
        out.push_back(std::move(field));
        continue;
      }
      Field& before = out.back();
      before.size = std::max(before.offset + before.size, field.offset + field.size) - before.offset;
      before.name += "|" + field.name;
    }
    return out;
  }

  std::string file_;
  std::map<std::int64_t, BtfType> types_;
  BtfType* at_ = nullptr;
  std::size_t line_ = 0;
};

}  // namespace

std::vector<Layout> parse_btf(const std::string& text, const std::string& file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && text[first] == '{';
  return BtfReader(file).read(is_json ? text_of_json(text, file) : text);
}

}  // namespace linebounce::sim
