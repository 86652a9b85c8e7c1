#include "forms/line_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <system_error>

#include "trace/error.hpp"
#include "trace/read_problem.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kBlanks = " \t\r";

struct Compression {
  std::string_view magic, tool;
};
constexpr std::array kCompressions = {Compression{"\x1F\x8B", "gzip"},
                                      Compression{"\xFD"
                                                  "7zXZ",
                                                  "xz"},
                                      Compression{"BZh", "bzip2"}, Compression{"\x28\xB5\x2F\xFD", "zstd"}};

void refuse_compressed(std::ifstream& stream, const std::string& name) {
  const int first = stream.peek();
  for (const Compression& compression : kCompressions) {
    if (first != static_cast<unsigned char>(compression.magic[0])) continue;
    std::string begin(compression.magic.size(), '\0');
    stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    if (begin == compression.magic)
      throw trace::TraceError(fmt::format("{}: is compressed by {}; decompress it first: {} -dc {} > FILE", name,
                                          compression.tool, compression.tool, name));
    // The file is not compressed. Puts the examined bytes back one by one, because a pipe can't seek.
    for (std::streamsize i = stream.gcount(); i > 0; --i) stream.unget();
  }
}

// Windows programs begin a text in UTF-8 with this mark.
void skip_byte_order_mark(std::ifstream& stream) {
  if (stream.peek() != static_cast<unsigned char>(kByteOrderMark.front())) return;
  std::string begin(kByteOrderMark.size(), '\0');
  stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin == kByteOrderMark) return;
  for (std::streamsize i = stream.gcount(); i > 0; --i) stream.unget();
}

std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

void refuse_unreadable(const std::ifstream& stream, const std::string& name) {
  if (stream.bad()) throw trace::TraceError(read_problem(name, errno));
}

std::ifstream open_input(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file)) throw trace::TraceError(read_problem(file.string(), EISDIR));
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw trace::TraceError(fmt::format("{}: cannot be opened: {}", file.string(), std::generic_category().message(errno)));
  refuse_compressed(stream, file.string());
  skip_byte_order_mark(stream);
  refuse_unreadable(stream, file.string());
  stream.clear();  // an empty file is at its end after the look at its first byte
  return stream;
}

std::optional<std::string_view> LineFile::next() {
  if (!std::getline(stream_, line_)) {
    if (stream_.bad())
      throw trace::TraceError(
          fmt::format("{}: cannot be read after line {}: {}", name_, number_, std::generic_category().message(errno)));
    return std::nullopt;
  }
  ++number_;
  const std::string_view line = without_quote_marks(line_);
  if (line.size() < line_.size()) ++quoted_;
  return line;
}

void LineFile::refuse(const std::string& text) const {
  constexpr std::size_t kShown = 60;
  std::string shown(stripped(line_).substr(0, kShown));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
  }
  throw trace::TraceError(fmt::format("{}: line {}: {}: \"{}\"", name_, number_, text, shown));
}

std::string_view stripped(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string_view take_word(std::string_view& text) {
  text = stripped(text);
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text = stripped(text.substr(word.size()));
  return word;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = stripped(text)).empty()) words.push_back(take_word(text));
  return words;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

std::optional<std::vector<int>> listed_numbers(std::string_view text, int most) {
  std::vector<int> numbers;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = stripped(text.substr(begin, end - begin));
    const std::size_t dash = part.find('-');
    const auto first = decimal(part.substr(0, dash));
    const auto last = dash == part.npos ? first : decimal(part.substr(dash + 1));
    if (!first || !last || *first > *last || *last > static_cast<std::uint64_t>(most)) return std::nullopt;
    for (std::uint64_t number = *first; number <= *last; ++number) numbers.push_back(static_cast<int>(number));
    begin = end + 1;
  }
  return numbers;
}

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  return number(text, 16);
}

std::optional<std::uint64_t> decimal(std::string_view text) {
  return number(text, 10);
}

std::optional<double> real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

}  // namespace linebounce::sim
