#include "models/text/structure_listing.hpp"

#include <algorithm>
#include <array>

#include "models/text/quote_marks.hpp"

namespace linebounce {
namespace {

bool opens_structure(std::string_view line) {
  constexpr std::array<std::string_view, 4> kBegins = {"struct ", "class ", "union ", "typedef struct"};
  return line.ends_with('{') && std::ranges::any_of(kBegins, [line](std::string_view one) { return line.starts_with(one); });
}

bool has_place_comment(std::string_view line) {
  const std::size_t begin = line.rfind("/*"), end = line.rfind("*/");
  if (begin == line.npos || end == line.npos || end < begin + 2) return false;
  const std::string_view inside = line.substr(begin + 2, end - begin - 2);
  // The figures are decimal; `pahole --hex` prints them in hexadecimal, with 0x.
  const bool is_hexadecimal = inside.find("0x") != inside.npos;
  const std::string_view characters = is_hexadecimal ? "0123456789abcdefx: \t" : "0123456789: \t";
  return inside.find_first_of("0123456789") != inside.npos && inside.find_first_not_of(characters) == inside.npos;
}

}  // namespace

bool is_structure_listing(std::string_view text) {
  constexpr std::string_view kBlanksOfLines = " \t\r";
  bool opens = false, places = false;
  for (const std::string& whole : unquoted_lines(text)) {
    std::string_view line = whole;
    line.remove_prefix(std::min(line.find_first_not_of(kBlanksOfLines), line.size()));
    line = line.substr(0, line.find_last_not_of(kBlanksOfLines) + 1);
    opens = opens || opens_structure(line);
    places = places || has_place_comment(line);
  }
  return opens && places;
}

bool is_ptype_listing(std::string_view text) {
  constexpr std::string_view kHead = "/* offset ";
  for (const std::string& line : unquoted_lines(text)) {
    const std::size_t head = line.find(kHead), type = line.find("type = ");
    if (head != line.npos && type != line.npos && line.find("size */") < type && head < type) return true;
  }
  return false;
}

bool is_btf_listing(std::string_view text) {
  // bpftool -j
  if (text.find("\"types\"") != text.npos && text.find("\"kind\"") != text.npos && text.find("\"vlen\"") != text.npos)
    return true;
  constexpr std::array<std::string_view, 4> kKinds = {"STRUCT '", "INT '", "PTR '", "CONST '"};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = without_quote_marks(text.substr(begin, end - begin));
    const std::size_t close = line.find("] ");
    const bool is_numbered =
        line.starts_with('[') && close != line.npos && close > 1 && line.find_first_not_of("0123456789", 1) == close;
    const auto has_kind = [&](std::string_view kind) { return line.substr(close + 2).starts_with(kind); };
    if (is_numbered && std::ranges::any_of(kKinds, has_kind)) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace linebounce
