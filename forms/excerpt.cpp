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
  excerpt.bytes.resize(kExcerptBytes);
  in.read(excerpt.bytes.data(), static_cast<std::streamsize>(kExcerptBytes));
  excerpt.bytes.resize(static_cast<std::size_t>(in.gcount()));
  excerpt.whole = in.peek() == std::char_traits<char>::eof();
  refuse_unreadable(in, file.string());
  complete(excerpt);
  refuse_wrapped(excerpt, file.string());
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
