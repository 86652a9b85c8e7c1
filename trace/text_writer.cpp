// Writes a line for each symbol and operation in the order of arrival. For a recording, that is the order in which streams took
// turns.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/files.hpp"
#include "trace/operation.hpp"
#include "trace/sink.hpp"
#include "trace/symbol_fields.hpp"
#include "trace/text_names.hpp"
#include "trace/text_token.hpp"

namespace linebounce::trace {
namespace {

// " key=value" for the members that differ from their defaults.
class MemberText {
 public:
  MemberText(const Symbols& symbols, const TextNames& names) : symbols_(symbols), names_(names) {}

  template <class T>
  std::string of(const T& symbol) const {
    const T defaults;
    std::string text;
    for_each_member<T>([&](const auto& member) {
      if (member.key == "name") {
        text.insert(0, " " + value("", symbol.*member.at));
      } else if (symbol.*member.at != defaults.*member.at) {
        text += fmt::format(" {}={}", member.key, value(member.key, symbol.*member.at));
      }
    });
    return text;
  }

 private:
  [[nodiscard]] static std::string value(std::string_view, const std::string& text) {
    return quoted_if_needed(text, kNameMarks);
  }
  [[nodiscard]] static std::string value(std::string_view, bool truth) { return truth ? "yes" : "no"; }
  [[nodiscard]] std::string value(std::string_view key, std::uint32_t id) const {
    if (key == "structure") return names_.shown(symbols_, Names::structure, id);
    if (key == "object") return names_.shown(symbols_, Names::object, id);
    return fmt::format("#{}", id);  // for of_lock, whose lock may be defined later
  }
  [[nodiscard]] static std::string value(std::string_view, std::int64_t number) { return fmt::format("{}", number); }
  [[nodiscard]] static std::string value(std::string_view, int number) { return fmt::format("{}", number); }
  [[nodiscard]] static std::string value(std::string_view, std::optional<int> number) { return fmt::format("{}", *number); }
  [[nodiscard]] static std::string value(std::string_view, std::optional<std::uint64_t> number) {
    return fmt::format("{}", *number);
  }
  [[nodiscard]] static std::string value(std::string_view, const std::vector<WaitsIn>& all) {
    std::string text;
    for (const WaitsIn& waits : all) {
      const std::string taker = waits.taker == kNone ? "*" : fmt::format("#{}", waits.taker);
      text += fmt::format("{}{}:#{}", text.empty() ? "" : ",", taker, waits.function);
    }
    return text;
  }
  [[nodiscard]] static std::string value(std::string_view, const std::vector<Field>& fields) {
    std::string text;
    for (const Field& field : fields) {
      const std::string name = quoted_if_needed(field.name, ":,");
      text += fmt::format("{}{}:{}:{}", text.empty() ? "" : ",", name, field.offset, field.size);
      if (field.alignment != 0) text += fmt::format(":{}", field.alignment);
    }
    return text;
  }

  const Symbols& symbols_;
  const TextNames& names_;
};

class TextSink final : public Sink {
 public:
  explicit TextSink(const std::filesystem::path& file) : file_(file) { line(kTextHead); }

  void define(const Symbols& symbols, const Symbol& symbol) override {
    const MemberText members(symbols, names_);
    const std::string text = std::visit([&members](const auto& it) { return members.of(it); }, symbol);
    line(fmt::format("{}{}", kSymbolKinds[symbol.index()], text));
    names_.add(symbols, symbol);
  }

  void redefine(const Symbols& symbols, std::uint32_t lock) override {
    line(fmt::format("redefine #{}{}", lock, MemberText(symbols, names_).of(symbols.locks[lock])));
  }

  void append(const Symbols& symbols, std::uint32_t stream, std::span<const Operation> operations) override {
    for (const Operation& operation : operations) append_one(symbols, stream, operation);
  }

  void flush() override { file_.flush(); }

  void finish(const Summary& summary) override {
    const auto text = [this](std::string_view key, const std::string& value) {
      if (!value.empty()) line(fmt::format("{} {}", key, quoted_if_needed(value, kNameMarks)));
    };
    text("program", summary.program);
    text("recorder", summary.recorder);
    text("machine", summary.machine);
    for (const auto& [source, count] : summary.misses)
      line(fmt::format("misses {} {}", quoted_if_needed(source, kNameMarks), count));
    for (const std::string& sentence : summary.missing) line("missing " + quoted_if_needed(sentence, kNameMarks));
    configuration(summary.configuration);
    line("end");
    file_.close();
  }

 private:
  void append_one(const Symbols& symbols, std::uint32_t stream, const Operation& it) {
    const KindFacts& facts = facts_of(it.kind);
    std::string text = fmt::format("{} {}", stream_name(symbols, stream), facts.name);
    if (it.is_memory()) {
      text += fmt::format(" {} {}", names_.shown_place(symbols, it.id, it.argument), it.bytes);
    } else {
      add_id(text, symbols, it, facts.names);
      if (facts.has_argument) text += fmt::format(" {}", it.argument);
      if (facts.names == Names::nothing && it.id != 0) text += fmt::format(" id={}", it.id);
      if (!facts.has_argument && it.argument != 0) text += fmt::format(" argument={}", it.argument);
      if (it.bytes != 0) text += fmt::format(" bytes={}", it.bytes);
    }
    std::uint16_t unnamed = it.flags;
    const auto names = flag_names(it.kind);
    for (std::size_t bit = 0; bit < names.size(); ++bit) {
      if ((it.flags >> bit & 1) != 0) text += fmt::format(" {}", names[bit]);
      unnamed &= static_cast<std::uint16_t>(~(1U << bit));
    }
    if (unnamed != 0) text += fmt::format(" repeats={}", unnamed >> kRepeatShift);
    line(text);
  }

  void line(std::string_view text) {
    file_.write(text);
    file_.write("\n");
  }

  void configuration(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      line("configuration " + quoted_if_needed(text.substr(0, end), kNameMarks));
      text.remove_prefix(end);
    }
  }

  // A stream's name is quoted if it equals another word that may begin a line.
  [[nodiscard]] std::string stream_name(const Symbols& symbols, std::uint32_t stream) const {
    std::string name = names_.shown(symbols, Names::stream, stream);
    const auto& others = kLineBeginnings;
    return std::ranges::find(others, name) == others.end() ? name : fmt::format("\"{}\"", name);
  }

  void add_id(std::string& text, const Symbols& symbols, const Operation& it, Names names) const {
    switch (names) {
      case Names::nothing: break;
      case Names::cpu:
      case Names::vector:
      case Names::tally: text += fmt::format(" {}", it.id); break;
      case Names::cpu_and_vector: text += fmt::format(" {}:{}", it.id >> 16, it.id & 0xFFFF); break;
      default: text += " " + names_.shown(symbols, names, it.id);
    }
  }

  OutputFile file_;
  TextNames names_;
};

}  // namespace

std::unique_ptr<Sink> text_sink(const std::filesystem::path& file) {
  return std::make_unique<TextSink>(file);
}

}  // namespace linebounce::trace
