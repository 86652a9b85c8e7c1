#include "forms/excerpt.hpp"

#include <algorithm>
#include <fstream>

#include "forms/line_file.hpp"
#include "forms/wrapped_text.hpp"
#include "trace/error.hpp"
#include "trace/read_problem.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kExcerptBytes = 64 * 1024;
// A matrix is recognised by its shape, so one of many CPUs is read to its end: 512 rows of as many cells of 15 characters.
constexpr std::size_t kWideTableBytes = 4 * 1024 * 1024;
constexpr std::ptrdiff_t kWideRow = 100;  // figures
constexpr int kRowsToLookAt = 16;         // titles may stand above

std::ptrdiff_t figures_in(std::string_view line) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || c == '.'; };
  std::ptrdiff_t figures = 0;
  for (std::size_t i = 0; i < line.size(); ++i) figures += is_digit(line[i]) && (i == 0 || !is_digit(line[i - 1])) ? 1 : 0;
  return figures;
}

std::size_t most_bytes(std::string_view beginning) {
  for (int row = 0; row < kRowsToLookAt && !beginning.empty(); ++row) {
    const std::size_t end = std::min(beginning.find('\n'), beginning.size() - 1);
    if (figures_in(beginning.substr(0, end)) >= kWideRow) return kWideTableBytes;
    beginning.remove_prefix(end + 1);
  }
  return kExcerptBytes;
}

bool looks_like_text(std::string_view bytes) {
  constexpr std::string_view kOfTexts = "\t\n\v\f\r\x1b";
  return std::ranges::all_of(
      bytes, [&](char c) { return static_cast<unsigned char>(c) >= ' ' || kOfTexts.find(c) != std::string_view::npos; });
}

void split_lines(Excerpt& excerpt) {
  const std::string_view text = excerpt.bytes;
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos && !excerpt.whole) break;
    ++number;
    const std::string_view line = stripped(without_quote_marks(text.substr(begin, std::min(end, text.size()) - begin)));
    if (!line.empty()) excerpt.lines.push_back({number, std::string(line)});
    if (end == std::string_view::npos) break;
    begin = end + 1;
  }
}

void complete(Excerpt& excerpt) {
  excerpt.is_text = looks_like_text(excerpt.bytes);
  if (excerpt.is_text) split_lines(excerpt);
}

}  // namespace

Excerpt excerpt_of(const fs::path& file) {
  if (!fs::exists(file)) throw trace::TraceError(read_problem(file.string(), ENOENT));
  if (fs::exists(file) && !fs::is_regular_file(file) && !fs::is_directory(file))
    throw trace::TraceError(file.string() +
                            ": this is not a regular file, so its beginning would be lost while its form is recognised; "
                            "name the form with --as");
  Excerpt excerpt;
  excerpt.name = file.filename().string();
  std::ifstream in = open_input(file);
  const auto read_up_to = [&](std::size_t most) {
    const std::size_t before = excerpt.bytes.size();
    excerpt.bytes.resize(most);
    in.read(excerpt.bytes.data() + before, static_cast<std::streamsize>(most - before));
    excerpt.bytes.resize(before + static_cast<std::size_t>(in.gcount()));
  };
  read_up_to(kExcerptBytes);
  if (const std::size_t most = most_bytes(excerpt.bytes); in && most > kExcerptBytes) read_up_to(most);
  excerpt.whole = in.peek() == std::char_traits<char>::eof();
  refuse_unreadable(in, file.string());
  complete(excerpt);
  refuse_wrapped(excerpt, file.string());
  return excerpt;
}

Excerpt excerpt_of_text(const std::string& text, const std::string& name) {
  Excerpt excerpt;
  excerpt.name = name;
  excerpt.bytes = text.substr(0, most_bytes(text));
  excerpt.whole = excerpt.bytes.size() == text.size();
  complete(excerpt);
  return excerpt;
}

}  // namespace linebounce::sim
