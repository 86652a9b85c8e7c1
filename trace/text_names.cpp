#include "trace/text_names.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "trace/symbol_fields.hpp"
#include "trace/symbol_json.hpp"

namespace linebounce::trace {
namespace {

std::string_view marks_of(Names kind) {
  return kind == Names::object ? kObjectMarks : kNameMarks;
}

std::string_view kind_name(Names kind) {
  switch (kind) {
    case Names::structure: return "structure";
    case Names::object: return "object";
    case Names::function: return "function";
    case Names::lock: return "lock";
    case Names::barrier: return "barrier";
    case Names::event: return "event";
    case Names::stream: return "stream";
    default: return "word";
  }
}

// The symbol's name; nullptr if the number is not defined.
const std::string* name_of(const Symbols& symbols, Names kind, std::uint32_t id) {
  const auto in = [id](const auto& list) { return id < list.size() ? &list[id].name : nullptr; };
  switch (kind) {
    case Names::structure: return in(symbols.structures);
    case Names::object: return in(symbols.objects);
    case Names::function: return in(symbols.functions);
    case Names::lock: return in(symbols.locks);
    case Names::barrier: return in(symbols.barriers);
    case Names::event: return in(symbols.events);
    case Names::stream: return in(symbols.streams);
    default: return nullptr;
  }
}

const Field* field_named(const Symbols& symbols, const Object& object, std::string_view name) {
  if (object.structure == kNone) return nullptr;
  const std::vector<Field>& fields = symbols.structures[object.structure].fields;
  const auto found = std::ranges::find_if(fields, [name](const Field& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

// Reads the rest of a symbol's line: NAME key=value ...
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
      if (line_.skip(':')) value(key, field.alignment);
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

void TextNames::add(const Symbols& symbols, const Symbol& symbol) {
  const auto note = [this](Names kind, const auto& list) {
    first_[kind].try_emplace(list.back().name, static_cast<std::uint32_t>(list.size() - 1));
  };
  if (std::holds_alternative<Structure>(symbol)) note(Names::structure, symbols.structures);
  if (std::holds_alternative<Object>(symbol)) note(Names::object, symbols.objects);
  if (std::holds_alternative<Function>(symbol)) note(Names::function, symbols.functions);
  if (std::holds_alternative<Lock>(symbol)) note(Names::lock, symbols.locks);
  if (std::holds_alternative<Barrier>(symbol)) note(Names::barrier, symbols.barriers);
  if (std::holds_alternative<Event>(symbol)) note(Names::event, symbols.events);
  if (std::holds_alternative<Stream>(symbol)) note(Names::stream, symbols.streams);
  if (const Word* word = std::get_if<Word>(&symbol)) {
    words_.try_emplace({word->object, static_cast<std::uint64_t>(word->offset)},
                       static_cast<std::uint32_t>(symbols.words.size() - 1));
  }
}

std::string TextNames::shown(const Symbols& symbols, Names kind, std::uint32_t id) const {
  if (kind == Names::word && id < symbols.words.size()) {
    const Place place{symbols.words[id].object, static_cast<std::uint64_t>(symbols.words[id].offset)};
    if (words_.at(place) == id) return shown_place(symbols, place.first, place.second);
  }
  const std::string* name = name_of(symbols, kind, id);
  if (name == nullptr) return fmt::format("#{}", id);
  const auto& firsts = first_.at(kind);
  const auto first = firsts.find(*name);
  const std::string text = quoted_if_needed(*name, marks_of(kind));
  return first != firsts.end() && first->second == id ? text : fmt::format("{}#{}", text, id);
}

std::string TextNames::shown_place(const Symbols& symbols, std::uint32_t object, std::uint64_t offset) const {
  const std::string name = shown(symbols, Names::object, object);
  if (object < symbols.objects.size()) {
    const Object& whole = symbols.objects[object];
    const Field* field = symbols.field_at(whole, static_cast<std::int64_t>(offset));
    // If two fields have the same name, it stands for the first; the second is written as an offset.
    if (field != nullptr && field_named(symbols, whole, field->name) == field) {
      const std::string place = name + "." + quoted_if_needed(field->name, kFieldMarks);
      const std::uint64_t within = offset - static_cast<std::uint64_t>(field->offset);
      return within == 0 ? place : fmt::format("{}+{}", place, within);
    }
  }
  return fmt::format("{}+{}", name, offset);
}

std::uint32_t TextNames::read(const Symbols& symbols, Scanner& line, Names kind) const {
  if (kind == Names::word && line.next() != '#') return read_word(symbols, line);
  if (line.skip('#')) return line.number_of<std::uint32_t>("the number behind #");
  const std::string name = line.name(marks_of(kind));
  if (line.skip('#')) return line.number_of<std::uint32_t>("the number behind #");
  const auto firsts = first_.find(kind);
  const auto found = firsts == first_.end() ? decltype(firsts->second.end()){} : firsts->second.find(name);
  if (firsts == first_.end() || found == firsts->second.end()) {
    throw FormatError(fmt::format("no {} named {:?} is defined before this line", kind_name(kind), name));
  }
  return found->second;
}

std::uint32_t TextNames::read_word(const Symbols& symbols, Scanner& line) const {
  const Place place = read_place(symbols, line);
  const auto found = words_.find(place);
  if (found == words_.end()) throw FormatError("no word is defined there before this line");
  return found->second;
}

std::pair<std::uint32_t, std::uint64_t> TextNames::read_place(const Symbols& symbols, Scanner& line) const {
  Place place{read(symbols, line, Names::object), 0};
  if (line.skip('.')) {
    const std::string name = line.name(kFieldMarks);
    if (place.first >= symbols.objects.size()) throw FormatError("a field of an object that is not defined");
    const Object& object = symbols.objects[place.first];
    const Field* field = field_named(symbols, object, name);
    if (field == nullptr) throw FormatError(fmt::format("{:?} has no field {:?}", object.name, name));
    place.second = static_cast<std::uint64_t>(field->offset);
  }
  if (line.skip('+')) place.second += line.number("the offset behind +");
  return place;
}

Symbol read_symbol(std::string_view kind, const Symbols& symbols, const TextNames& names, Scanner& line) {
  SymbolReader reader(symbols, names, line);
  Symbol symbol = read_kind(kind, reader);
  if (const std::string wrong = complaint(symbols, symbol); !wrong.empty()) throw FormatError(wrong);
  return symbol;
}

}  // namespace linebounce::trace
