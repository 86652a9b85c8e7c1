#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "trace/error.hpp"
#include "trace/files.hpp"
#include "trace/fingerprint.hpp"
#include "trace/source.hpp"
#include "trace/symbol_fields.hpp"
#include "trace/symbol_json.hpp"
#include "trace/text_names.hpp"

namespace linebounce::trace {
namespace {

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
      if (text != kTextHead) throw FormatError(fmt::format("this is {:?}; legal: \"{}\"", text.substr(0, 40), kTextHead));
      return;
    }
    Scanner line(text);
    if (line.at_end()) return;
    if (ended_) throw FormatError("a line behind \"end\"");
    bool quoted = false;
    Scanner ahead = line;
    const std::string first = ahead.name(kNameMarks, &quoted);
    if (!quoted && ahead.rest_of_word().empty() && std::ranges::find(kLineBeginnings, first) != kLineBeginnings.end()) {
      read_fact(first, ahead);
      if (!ahead.at_end()) throw FormatError(fmt::format("{:?} is not expected here", ahead.rest_of_word()));
      return;
    }
    const std::uint32_t stream = names_.read(symbols, line, Names::stream);
    if (stream >= streams_.size()) throw FormatError(fmt::format("there is no stream {}", stream));
    streams_[stream].operations.push_back(read_operation(symbols, names_, line));
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
    if (std::ranges::find(kSymbolKinds, what) != kSymbolKinds.end()) define(what, line);
  }

  void read_misses(const std::string& source, Scanner& line) {
    if (line.at_end()) throw FormatError("the number of misses is missing");
    summary.misses[source] = line.number_of<std::int64_t>("the number of misses");
  }

  void redefine(Scanner& line) {
    if (line.at_end() || !line.skip('#')) throw FormatError("a lock's number, as #3, is missing");
    const auto lock = line.number("the lock's number");
    if (lock >= symbols.locks.size()) throw FormatError(fmt::format("lock {} of {}", lock, symbols.locks.size()));
    symbols.locks[lock] = std::get<Lock>(read_symbol("lock", symbols, names_, line));
  }

  void define(const std::string& kind, Scanner& line) {
    const Symbol symbol = read_symbol(kind, symbols, names_, line);
    symbols.define(symbol);
    names_.add(symbols, symbol);
    streams_.resize(symbols.streams.size());
  }

  std::filesystem::path path_;
  TextNames names_;
  std::vector<Lines> streams_;
  std::uint32_t line_number_ = 0;
  bool ended_ = false;
};

// Delivers a stream's operations, all in one frame.
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
