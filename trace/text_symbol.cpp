#include "trace/text_symbol.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <string>
#include <vector>

#include "trace/symbol_fields.hpp"
#include "trace/symbol_json.hpp"
#include "trace/symbol_rules.hpp"

namespace linebounce::trace {

namespace {

// NAME key=value ... of one symbol.
class SymbolReader {
 public:
  SymbolReader(const Symbols& symbols, const TextNames& names, Scanner& line) : symbols_(symbols), names_(names), line_(line) {}

  template <class T>
  T read() {
    T symbol;
    if constexpr (!std::is_same_v<T, Word>) {
      if (line_.at_end()) throw FormatError("its name is missing");
      symbol.name = line_.name(kNameMarks);
    }
    while (!line_.at_end()) {
      const std::string key = line_.name(kNameMarks);
      if (!line_.skip('=')) throw FormatError(fmt::format("{:?}: expected key=value", key + std::string(line_.rest_of_word())));
      read_member(symbol, key);
    }
    return symbol;
  }

 private:
  template <class T>
  void read_member(T& symbol, const std::string& key) {
    std::vector<std::string_view> known;
    bool found = false;
    for_each_member<T>([&](const auto& member) {
      if (member.key == "name") return;
      known.push_back(member.key);
      if (member.key != key) return;
      value(key, symbol.*member.at);
      found = true;
    });
    if (!found) throw FormatError(fmt::format("{:?} is not known; known are {}", key, fmt::join(known, ", ")));
  }

  void value(const std::string&, std::string& text) { text = line_.name(kNameMarks); }
  void value(const std::string& key, bool& truth) {
    const std::string text = line_.name(kNameMarks);
    if (text != "yes" && text != "no") throw FormatError(fmt::format("{} is {:?}; legal: yes, no", key, text));
    truth = text == "yes";
  }
  void value(const std::string& key, std::uint32_t& id) {
    if (key == "of_lock") {
      if (!line_.skip('#')) throw FormatError("of_lock is #NUMBER, for the lock may come later");
      id = line_.number_of<std::uint32_t>(key);
    } else {
      id = names_.read(symbols_, line_, key == "structure" ? Names::structure : Names::object);
    }
  }
  void value(const std::string& key, std::int64_t& number) { number = line_.number_of<std::int64_t>(key); }
  void value(const std::string& key, int& number) { number = line_.number_of<int>(key); }
  void value(const std::string& key, std::optional<int>& number) { value(key, number.emplace()); }
  void value(const std::string& key, std::optional<std::uint64_t>& number) { number = line_.number(key); }
  void value(const std::string& key, std::vector<WaitsIn>& all) {
    do {
      WaitsIn& waits = all.emplace_back();
      if (!line_.skip('*')) waits.taker = function_number(key);
      if (!line_.skip(':')) throw FormatError("waits_in is #TAKER:#FUNCTION,... by numbers, *:#FUNCTION of any other taker");
      waits.function = function_number(key);
    } while (line_.skip(','));
  }
  std::uint32_t function_number(const std::string& key) {
    if (!line_.skip('#')) throw FormatError("waits_in is #TAKER:#FUNCTION,... by numbers, *:#FUNCTION of any other taker");
    return line_.number_of<std::uint32_t>(key);
  }
  void value(const std::string& key, std::vector<Field>& fields) {
    do {
      Field& field = fields.emplace_back();
      field.name = line_.name(":,");
      if (!line_.skip(':')) throw FormatError("fields are NAME:OFFSET:SIZE,...");
      value(key, field.offset);
      if (!line_.skip(':')) throw FormatError("fields are NAME:OFFSET:SIZE,...");
      value(key, field.size);
    } while (line_.skip(','));
  }

  const Symbols& symbols_;
  const TextNames& names_;
  Scanner& line_;
};

template <std::size_t kIndex = 0>
Symbol read_kind(std::string_view kind, SymbolReader& reader) {
  if constexpr (kIndex + 1 < std::variant_size_v<Symbol>) {
    if (kind != kSymbolKinds[kIndex]) return read_kind<kIndex + 1>(kind, reader);
  }
  return reader.read<std::variant_alternative_t<kIndex, Symbol>>();
}

}  // namespace

Symbol read_symbol(std::string_view kind, const Symbols& symbols, const TextNames& names, Scanner& line) {
  SymbolReader reader(symbols, names, line);
  Symbol symbol = read_kind(kind, reader);
  if (const std::string wrong = complaint(symbols, symbol); !wrong.empty()) throw FormatError(wrong);
  return symbol;
}

}  // namespace linebounce::trace
