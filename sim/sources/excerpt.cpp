#include "sim/sources/excerpt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "sim/sources/line_file.hpp"
#include "trace/error.hpp"
#include "trace/read_problem.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kExcerptBytes = 64 * 1024;

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

// How often `text` contains `part`.
std::size_t times_in(std::string_view text, std::string_view part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++times;
  return times;
}

// Refuses an e-mail's stored form, quoted-printable: long lines end in "=" and continue on the next, and "=" is "=3D". A reader
// would take the pieces for lines, and might miss most of the text.
void refuse_quoted_printable(const Excerpt& excerpt, const std::string& name) {
  constexpr std::size_t kShortestBroken = 65, kLongestBroken = 76;  // lengths that mail programs give broken lines
  const auto broken = std::ranges::count_if(excerpt.lines, [](const Excerpt::Line& line) {
    const std::string& text = line.text;
    return text.size() <= kLongestBroken && text.size() >= kShortestBroken && text.ends_with('=') && !text.ends_with("==");
  });
  const std::size_t escapes = times_in(excerpt.bytes, "=3D") + times_in(excerpt.bytes, "=20\n");
  if (broken + escapes < 2) return;
  throw trace::TraceError(
      fmt::format("{0}: is an e-mail's text in quoted-printable form, with broken lines; decode it first: "
                  "python3 -m quopri -d {0} > FILE",
                  name));
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
                            ": is not a regular file, so its beginning would be lost while its form is recognised; "
                            "name the form with --as");
  Excerpt excerpt;
  excerpt.name = file.filename().string();
  std::ifstream in = open_input(file);
  excerpt.bytes.resize(kExcerptBytes);
  in.read(excerpt.bytes.data(), static_cast<std::streamsize>(kExcerptBytes));
  excerpt.bytes.resize(static_cast<std::size_t>(in.gcount()));
  excerpt.whole = in.peek() == std::char_traits<char>::eof();
  refuse_unreadable(in, file.string());
  complete(excerpt);
  refuse_quoted_printable(excerpt, file.string());
  return excerpt;
}

Excerpt excerpt_of_text(const std::string& text, const std::string& name) {
  Excerpt excerpt;
  excerpt.name = name;
  excerpt.bytes = text.substr(0, kExcerptBytes);
  excerpt.whole = text.size() <= kExcerptBytes;
  complete(excerpt);
  return excerpt;
}

}  // namespace linebounce::sim
