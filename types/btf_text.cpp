// BTF as bpftool prints it: a line for each type, and one for each of its members.
//
//   [2] STRUCT 'list_head' size=16 vlen=2
//           'next' type_id=3 bits_offset=0
//           'prev' type_id=3 bits_offset=64
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "models/text/text_lines.hpp"
#include "models/text/trimmed.hpp"
#include "types/btf.hpp"

namespace linebounce::types {
namespace {

constexpr std::array<std::string_view, kBtfKinds> kKindWords = {
    "UNKNOWN", "INT",      "PTR",  "ARRAY",      "STRUCT", "UNION",   "ENUM",  "FWD",      "TYPEDEF",  "VOLATILE",
    "CONST",   "RESTRICT", "FUNC", "FUNC_PROTO", "VAR",    "DATASEC", "FLOAT", "DECL_TAG", "TYPE_TAG", "ENUM64"};

BtfKind kind_called(std::string_view word) {
  const auto* const found = std::ranges::find(kKindWords, word);
  return found == kKindWords.end() ? BtfKind::unknown : static_cast<BtfKind>(found - kKindWords.begin());
}

constexpr std::int64_t kLargestNumber = std::int64_t{1} << 40;
constexpr std::string_view kNoName = "(anon)";

// The figures of a type or member, by bpftool's names for them: "size", "type_id".
class Figures {
 public:
  virtual ~Figures() = default;
  // 0 if it is missing. Errors: std::invalid_argument if it is too large, or no number.
  [[nodiscard]] virtual std::int64_t of(std::string_view key) const = 0;
};

BtfType type_of(BtfKind kind, std::string name, const Figures& figures) {
  BtfType type{.kind = kind, .name = std::move(name), .size = figures.of("size"), .type = figures.of("type_id")};
  type.elements = figures.of("nr_elems");
  if (kind == BtfKind::integer) {
    type.integer_bits = figures.of("nr_bits");
    type.integer_begin = figures.of("bits_offset");
  }
  return type;
}

BtfMember member_of(std::string name, const Figures& figures) {
  return {std::move(name), figures.of("type_id"), figures.of("bits_offset"), figures.of("bitfield_size")};
}

std::int64_t checked(std::string_view key, std::int64_t value) {
  if (value < 0 || value > kLargestNumber) throw std::invalid_argument(fmt::format("{} is negative or too large", key));
  return value;
}

// Figures in a line of text: " size=16 vlen=2".
class TextFigures : public Figures {
 public:
  explicit TextFigures(std::string_view text) : text_(text) {}
  [[nodiscard]] std::int64_t of(std::string_view key) const override {
    const std::string before = fmt::format(" {}=", key);
    const std::size_t at = text_.find(before);
    if (at == text_.npos) return 0;
    std::int64_t value = 0;
    const char* const begin = text_.data() + at + before.size();
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) throw std::invalid_argument(fmt::format("{} is not a number", key));
    return checked(key, value);
  }

 private:
  std::string_view text_;
};

class JsonFigures : public Figures {
 public:
  explicit JsonFigures(const nlohmann::json& object) : object_(object) {}
  [[nodiscard]] std::int64_t of(std::string_view key) const override {
    const auto found = object_.find(key);
    if (found == object_.end()) return 0;
    if (!found->is_number_integer()) throw std::invalid_argument(fmt::format("{} is not a number", key));
    return checked(key, found->get<std::int64_t>());
  }

 private:
  const nlohmann::json& object_;
};

class TextReader {
 public:
  TextReader(std::string file, std::shared_ptr<const Btf> base) : file_(std::move(file)), btf_(std::make_shared<Btf>()) {
    btf_->base = std::move(base);
  }

  std::shared_ptr<const Btf> read(std::string_view text) {
    for (const std::string& line : text_lines(text)) {
      ++line_;
      try {
        read_line(trimmed(line));
      } catch (const std::invalid_argument& error) {
        refuse(error.what());
      }
    }
    return finished();
  }

  std::shared_ptr<const Btf> read_json(std::string_view text) {
    constexpr int kDeepest = 8;
    const auto is_shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth <= kDeepest; };
    try {
      const auto document = nlohmann::json::parse(text, is_shallow);
      for (const nlohmann::json& type : document.at("types")) read_json_type(type);
    } catch (const nlohmann::json::exception&) {
      refuse(R"(expected {"types": [{"id": 1, "kind": "INT", ...}]}, as bpftool -j prints it)");
    } catch (const std::invalid_argument& error) {
      refuse(error.what());
    }
    return finished();
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw ReadError(line_ == 0 ? fmt::format("{}: BTF: {}", file_, why) : fmt::format("{}:{}: BTF: {}", file_, line_, why));
  }

  void read_line(std::string_view line) {
    if (line.starts_with('[')) {
      const std::size_t close = line.find("] ");
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(line.data() + 1, line.data() + line.size(), number);
      if (close == line.npos || error != std::errc() || end != line.data() + close)
        throw std::invalid_argument("expected [NUMBER] KIND 'NAME'");
      line.remove_prefix(close + 2);
      const BtfKind kind = kind_called(line.substr(0, line.find(' ')));
      const TextFigures figures(behind_name(line));
      add(number, type_of(kind, name_in(line), figures), figures.of("vlen"));
    } else if (line.starts_with('\'') && open_ != nullptr && open_->is_aggregate()) {
      open_->members.push_back(member_of(name_in(line), TextFigures(behind_name(line))));
    }
  }

  // The text between the first quote and the last; a name in Rust may contain quotes.
  static std::string name_in(std::string_view line) {
    const std::size_t open = line.find('\''), close = line.rfind('\'');
    if (open == line.npos || close == open) return "";
    const std::string_view name = line.substr(open + 1, close - open - 1);
    return name == kNoName ? "" : std::string(name);
  }
  static std::string_view behind_name(std::string_view line) {
    const std::size_t close = line.rfind('\'');
    return close == line.npos ? line : line.substr(close + 1);
  }

  void read_json_type(const nlohmann::json& object) {
    const auto name_of = [](const nlohmann::json& named) {
      std::string name = named.value("name", std::string(kNoName));
      return name == kNoName ? "" : name;
    };
    const JsonFigures figures(object);
    add(figures.of("id"), type_of(kind_called(object.at("kind").get<std::string>()), name_of(object), figures),
        figures.of("vlen"));
    if (!open_->is_aggregate() || !object.contains("members")) return;
    for (const nlohmann::json& member : object.at("members"))
      open_->members.push_back(member_of(name_of(member), JsonFigures(member)));
  }

  void add(std::int64_t number, BtfType type, std::int64_t members) {
    close();
    const auto [at, is_new] = btf_->types.emplace(number, std::move(type));
    if (!is_new)
      throw std::invalid_argument(fmt::format("type {} stands there twice; one file has the types of one kernel", number));
    open_ = &at->second;
    open_members_ = members;
  }

  void close() {
    if (open_ != nullptr && open_->is_aggregate()) open_->is_cut = std::ssize(open_->members) != open_members_;
  }

  std::shared_ptr<const Btf> finished() {
    close();
    if (btf_->types.empty()) refuse("expected [1] STRUCT 'NAME' size=8 vlen=1, as bpftool prints it");
    const std::int64_t first = btf_->types.begin()->first;
    const Btf* base = btf_->base.get();
    btf_->lacks_base = base == nullptr && first > 1;
    if (base != nullptr && !base->types.empty() && first != base->types.rbegin()->first + 1) {
      line_ = 0;
      refuse(fmt::format("its types begin at {}, but those of its base end at {}: the base is of another kernel", first,
                         base->types.rbegin()->first));
    }
    return btf_;
  }

  std::string file_;
  std::shared_ptr<Btf> btf_;
  BtfType* open_ = nullptr;
  std::int64_t open_members_ = 0;  // that it must have
  std::size_t line_ = 0;
};

}  // namespace

bool is_btf_text(std::string_view text) {
  if (text.find("\"types\"") != text.npos && text.find("\"kind\"") != text.npos && text.find("\"vlen\"") != text.npos)
    return true;  // bpftool -j
  for (const std::string& whole : text_lines(text)) {
    const std::string_view line = whole;
    const std::size_t close = line.find("] ");
    if (!line.starts_with('[') || close == line.npos || close < 2 || line.find_first_not_of("0123456789", 1) != close) continue;
    const std::string_view type = line.substr(close + 2);
    const std::size_t blank = type.find(" '");
    if (blank != type.npos && kind_called(type.substr(0, blank)) != BtfKind::unknown) return true;
  }
  return false;
}

std::shared_ptr<const Btf> read_btf_text(std::string_view text, const std::string& file, std::shared_ptr<const Btf> base) {
  TextReader reader(file, std::move(base));
  return trimmed(text).starts_with('{') ? reader.read_json(text) : reader.read(text);
}

}  // namespace linebounce::types
