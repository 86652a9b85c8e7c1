#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "trace/error.hpp"
#include "trace/input_file.hpp"
#include "trace/kinds.hpp"
#include "trace/source.hpp"
#include "trace/symbol_fields.hpp"
#include "trace/symbol_json.hpp"
#include "trace/symbol_rules.hpp"
#include "trace/text_names.hpp"
#include "trace/text_token.hpp"

namespace linebounce::trace {

namespace {

template <class T>
T narrow(std::uint64_t value, std::string_view what) {
  if (!std::in_range<T>(value)) {
    throw FormatError(fmt::format("{} is {}; legal: 0 to {}", what, value, std::numeric_limits<T>::max()));
  }
  return static_cast<T>(value);
}

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
      if (!line_.skip('=')) throw FormatError(fmt::format("\"{}{}\": expected key=value", key, line_.rest_of_word()));
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
    if (!found) throw FormatError(fmt::format("\"{}\" is not known; known are {}", key, fmt::join(known, ", ")));
  }

  void value(const std::string&, std::string& text) { text = line_.name(kNameMarks); }
  void value(const std::string& key, bool& truth) {
    const std::string text = line_.name(kNameMarks);
    if (text != "yes" && text != "no") throw FormatError(fmt::format("{} is \"{}\"; legal: yes, no", key, text));
    truth = text == "yes";
  }
  void value(const std::string& key, std::uint32_t& id) {
    if (key == "of_lock") {
      if (!line_.skip('#')) throw FormatError("of_lock is #NUMBER, for the lock may come later");
      id = narrow<std::uint32_t>(line_.number(key), key);
    } else {
      id = names_.read(symbols_, line_, key == "structure" ? Names::structure : Names::object);
    }
  }
  void value(const std::string& key, std::int64_t& number) { number = narrow<std::int64_t>(line_.number(key), key); }
  void value(const std::string& key, int& number) { number = narrow<int>(line_.number(key), key); }
  void value(const std::string& key, std::optional<int>& number) { value(key, number.emplace()); }
  void value(const std::string& key, std::optional<std::uint64_t>& number) { number = line_.number(key); }
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

// KIND and what follows it, of one operation.
class OperationReader {
 public:
  OperationReader(const Symbols& symbols, const TextNames& names, Scanner& line)
      : symbols_(symbols), names_(names), line_(line) {}

  Operation read() {
    const std::string name = word("the kind of the operation");
    const auto kind = std::find_if(kKindFacts.begin() + 1, kKindFacts.end(), [&](const auto& it) { return it.name == name; });
    if (kind == kKindFacts.end()) {
      std::vector<std::string_view> legal;
      for (const KindFacts& facts : kKindFacts) legal.push_back(facts.name);
      legal.erase(legal.begin());
      throw FormatError(fmt::format("no operation is called \"{}\"; legal: {}", name, fmt::join(legal, ", ")));
    }
    Operation operation;
    operation.kind = static_cast<Kind>(kind - kKindFacts.begin());
    read_operands(operation, *kind);
    while (!line_.at_end()) read_extra(operation);
    return operation;
  }

 private:
  void expect(std::string_view what) {
    if (line_.at_end()) throw FormatError(fmt::format("{} is missing", what));
  }
  std::string word(std::string_view what) {
    expect(what);
    return line_.name(kNameMarks);
  }
  template <class T>
  T number(std::string_view what) {
    expect(what);
    return narrow<T>(line_.number(what), what);
  }

  void read_operands(Operation& it, const KindFacts& facts) {
    if (it.is_memory()) {
      expect("the place in memory");
      std::tie(it.id, it.argument) = names_.read_place(symbols_, line_);
      it.bytes = number<std::uint8_t>("the number of bytes");
      return;
    }
    if (facts.names != Names::nothing) it.id = read_id(facts.names);
    if (facts.has_argument) it.argument = number<std::uint64_t>("the argument");
  }

  std::uint32_t read_id(Names names) {
    switch (names) {
      case Names::cpu: return number<std::uint32_t>("the CPU");
      case Names::vector: return number<std::uint32_t>("the vector");
      case Names::tally: return number<std::uint32_t>("the event's number");
      case Names::cpu_and_vector: {
        const std::uint32_t cpu = number<std::uint16_t>("the CPU");
        if (!line_.skip(':')) throw FormatError("an interrupt's target is CPU:VECTOR");
        return (cpu << 16) + number<std::uint16_t>("the vector");
      }
      default: expect("a name"); return names_.read(symbols_, line_, names);
    }
  }

  // Flags, and what a kind has no use for and has all the same.
  void read_extra(Operation& it) {
    const std::string name = line_.name(kNameMarks);
    const auto flag = std::find(kFlagNames.begin(), kFlagNames.end(), name);
    if (flag != kFlagNames.end()) {
      it.flags |= static_cast<std::uint16_t>(1 << (flag - kFlagNames.begin()));
    } else if (!line_.skip('=')) {
      throw FormatError(fmt::format("\"{}{}\" is not known here; known are {}, repeats=N", name, line_.rest_of_word(),
                                    fmt::join(kFlagNames, ", ")));
    } else if (name == "repeats") {
      const auto repeats = line_.number(name);
      if (repeats > kMostRepeats) throw FormatError(fmt::format("repeats is {}; legal: 0 to {}", repeats, kMostRepeats));
      it.flags |= static_cast<std::uint16_t>(repeats << kRepeatShift);
    } else if (name == "argument") {
      it.argument = line_.number(name);
    } else if (name == "bytes") {
      it.bytes = narrow<std::uint8_t>(line_.number(name), name);
    } else if (name == "id") {
      it.id = narrow<std::uint32_t>(line_.number(name), name);
    } else {
      throw FormatError(fmt::format("\"{}=\" is not known; known are repeats, argument, bytes, id", name));
    }
  }

  const Symbols& symbols_;
  const TextNames& names_;
  Scanner& line_;
};

class TextSource final : public Source {
 public:
  TextSource(const std::filesystem::path& file, ReadOptions options) : path_(file) {
    const std::string text = whole_text();
    fingerprint = fingerprint_of(text);
    try {
      read_lines(text);
      resolve_locks(symbols, options.recover);
    } catch (const FormatError& error) {
      damage = fmt::format("line {}: {}", line_number_, error.what());
      if (!options.recover) throw TraceError(fmt::format("{}: {}", path_.string(), damage));
      resolve_locks(symbols, true);
    }
    for (const Lines& stream : streams_) operations.push_back(stream.operations.size());
  }

  struct Lines {
    std::vector<Operation> operations;
    std::vector<std::uint32_t> numbers;
  };
  [[nodiscard]] const Lines& lines_of(std::uint32_t stream) const { return streams_[stream]; }
  [[nodiscard]] std::unique_ptr<Frames> open(std::uint32_t stream) const override;

 private:
  [[nodiscard]] std::string whole_text() const {
    const InputFile file(path_);
    std::string text(file.size(), '\0');
    file.read(0, text);
    return text;
  }

  void read_lines(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_number_;
      read_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!ended_) throw FormatError("the text ends without a line \"end\"");
  }

  void read_line(std::string_view text) {
    if (line_number_ == 1) {
      if (text.ends_with('\r')) text.remove_suffix(1);
      if (text != kTextHead) throw FormatError(fmt::format("this is \"{}\"; legal: \"{}\"", text.substr(0, 40), kTextHead));
      return;
    }
    Scanner line(text);
    if (line.at_end()) return;
    if (ended_) throw FormatError("a line behind \"end\"");
    bool quoted = false;
    Scanner ahead = line;
    const std::string first = ahead.name(kNameMarks, &quoted);
    if (!quoted && std::find(kLineBeginnings.begin(), kLineBeginnings.end(), first) != kLineBeginnings.end()) {
      read_fact(first, ahead);
      if (!ahead.at_end()) throw FormatError(fmt::format("\"{}\" is not expected here", ahead.rest_of_word()));
      return;
    }
    const std::uint32_t stream = names_.read(symbols, line, Names::stream);
    if (stream >= streams_.size()) throw FormatError(fmt::format("there is no stream {}", stream));
    streams_[stream].operations.push_back(OperationReader(symbols, names_, line).read());
    streams_[stream].numbers.push_back(line_number_);
  }

  void read_fact(const std::string& what, Scanner& line) {
    const auto text = [&line, &what] {
      if (line.at_end()) throw FormatError(fmt::format("what \"{}\" is, is missing", what));
      return line.name(kNameMarks);
    };
    if (what == "end") ended_ = true;
    if (what == "program") summary.program = text();
    if (what == "recorder") summary.recorder = text();
    if (what == "machine") summary.machine = text();
    if (what == "missing") summary.missing.push_back(text());
    if (what == "configuration") summary.configuration += text();
    if (what == "misses") read_misses(text(), line);
    if (what == "redefine") redefine(line);
    define<0>(what, line);
  }

  void read_misses(const std::string& source, Scanner& line) {
    if (line.at_end()) throw FormatError("the number of misses is missing");
    summary.misses[source] = narrow<std::int64_t>(line.number("the number of misses"), "the number of misses");
  }

  void redefine(Scanner& line) {
    if (line.at_end() || !line.skip('#')) throw FormatError("a lock's number, as #3, is missing");
    const auto lock = line.number("the lock's number");
    if (lock >= symbols.locks.size()) throw FormatError(fmt::format("lock {} of {}", lock, symbols.locks.size()));
    symbols.locks[lock] = checked(SymbolReader(symbols, names_, line).read<Lock>());
  }

  template <std::size_t kIndex>
  void define(const std::string& kind, Scanner& line) {
    if constexpr (kIndex < std::variant_size_v<Symbol>) {
      if (kind != kSymbolKinds[kIndex]) return define<kIndex + 1>(kind, line);
      const auto symbol = checked(SymbolReader(symbols, names_, line).read<std::variant_alternative_t<kIndex, Symbol>>());
      symbols.define(symbol);
      names_.add(symbols, symbol);
      streams_.resize(symbols.streams.size());
    }
  }

  template <class T>
  T checked(T symbol) const {
    if (const std::string wrong = complaint(symbols, symbol); !wrong.empty()) throw FormatError(wrong);
    return symbol;
  }

  std::filesystem::path path_;
  TextNames names_;
  std::vector<Lines> streams_;
  std::uint32_t line_number_ = 0;
  bool ended_ = false;
};

// All at once.
class TextFrames final : public Frames {
 public:
  explicit TextFrames(const TextSource::Lines& lines) : lines_(lines) {}

  std::span<const Operation> next() override {
    const bool is_first = !std::exchange(done_, true);
    return is_first ? std::span<const Operation>(lines_.operations) : std::span<const Operation>();
  }
  [[nodiscard]] std::uint64_t first() const override { return 0; }
  [[nodiscard]] std::string position(std::uint64_t at) const override {
    return fmt::format("line {}", at < lines_.numbers.size() ? lines_.numbers[at] : 1);
  }

 private:
  const TextSource::Lines& lines_;
  bool done_ = false;
};

std::unique_ptr<Frames> TextSource::open(std::uint32_t stream) const {
  return std::make_unique<TextFrames>(streams_[stream]);
}

}  // namespace

std::unique_ptr<Source> text_source(const std::filesystem::path& file, ReadOptions options) {
  return std::make_unique<TextSource>(file, options);
}

}  // namespace linebounce::trace
