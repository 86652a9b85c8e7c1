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

// True if each "=" of the text is one of quoted-printable: before two digits, or at the end of a line that goes on in the next.
// Counts those that other texts hardly have ("x=20" may be a setting), and requires two.
bool is_quoted_printable(std::string_view text) {
  constexpr std::size_t kShortestBroken = 65, kLongestBroken = 76;  // lengths that mail programs give broken lines
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  int telling = 0;
  for (std::size_t at = text.find('='); at != text.npos; at = text.find('=', at + 1)) {
    const std::string_view next = text.substr(at + 1, 2);
    if (next.starts_with('\n') || next == "\r\n") {
      const std::size_t length = at - text.substr(0, at).rfind('\n');  // from the line's begin, as npos is -1
      if (length >= kShortestBroken && length <= kLongestBroken) ++telling;
    } else if (next == "3D") {
      ++telling;
    } else if (next.find_first_not_of(kDigits) != next.npos) {
      return false;
    }
  }
  return telling >= 2;
}

// Refuses an e-mail's stored form. A reader would take the pieces of broken lines for lines, and might miss most of the text.
void refuse_quoted_printable(const Excerpt& excerpt, const std::string& name) {
  if (!is_quoted_printable(excerpt.bytes)) return;
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
                            ": this is not a regular file, so its beginning would be lost while its form is recognised; "
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
