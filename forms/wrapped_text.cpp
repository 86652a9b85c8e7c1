#include "forms/wrapped_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "forms/line_file.hpp"
#include "models/text/shell_word.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kDecimalDigits = "0123456789";

// True if each "=" of the text is one of quoted-printable: before two digits, or at the end of a line that goes on in the next.
// Counts those that other texts hardly have ("x=20" may be a setting), and requires two.
bool is_quoted_printable(const Excerpt& excerpt) {
  constexpr std::size_t kShortestBroken = 65, kLongestBroken = 76;  // lengths that mail programs give broken lines
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const std::string_view text = excerpt.bytes;
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

// With a mark of byte order, or with a zero as every second byte.
bool is_utf_16(const Excerpt& excerpt) {
  constexpr std::size_t kLooked = 64;
  const std::string_view bytes = std::string_view(excerpt.bytes).substr(0, kLooked);
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff")) return true;
  if (bytes.size() < kLooked) return false;
  const auto is_zero_from = [bytes](std::size_t first) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if ((bytes[i] == '\0') != (i % 2 == first)) return false;
    }
    return true;
  };
  return is_zero_from(0) || is_zero_from(1);
}

bool is_archive(const Excerpt& excerpt) {
  return excerpt.bytes.starts_with("!<arch>\n");
}

bool has_only_carriage_returns(const Excerpt& excerpt) {
  return excerpt.is_text && excerpt.has("\r") && !excerpt.has("\n");
}

// The coloured table of core-to-core-latency, which has such sequences and a sign for plus or minus, is read as it is.
bool has_escape_sequences(const Excerpt& excerpt) {
  return excerpt.is_text && excerpt.has("\x1b[") && !excerpt.has("\xc2\xb1");
}

bool has_no_break_spaces(const Excerpt& excerpt) {
  constexpr int kFewest = 3;
  int count = 0;
  for (std::size_t at = excerpt.bytes.find("\xc2\xa0"); at != std::string::npos; at = excerpt.bytes.find("\xc2\xa0", at + 2))
    ++count;
  return excerpt.is_text && count >= kFewest;
}

bool has_html_entities(const Excerpt& excerpt) {
  constexpr std::array<std::string_view, 7> kEntities = {"&lt;", "&gt;", "&amp;", "&quot;", "&nbsp;", "&#39;", "&#x27;"};
  const bool is_xml = excerpt.has("<?xml") || excerpt.has("<topology");
  return excerpt.is_text && !is_xml &&
         std::ranges::any_of(kEntities, [&](std::string_view entity) { return excerpt.has(entity); });
}

// True if the text has a word. Marks for an empty cell ("nan") and exponents are none.
bool has_word(std::string_view text) {
  return std::ranges::any_of(
      text, [](char letter) { return is_letter(letter) && std::string_view("nNaAeE").find(letter) == std::string_view::npos; });
}

// True if all lines begin with their numbers, as cat -n, grep -n and documents print them: "17:text", "     17<tab>text",
// "07 text". Rows of a matrix may have numbers, too, but more cells and no words. The CPUs of a trace seldom count on.
bool has_line_numbers(const Excerpt& excerpt) {
  constexpr std::size_t kFewest = 4, kFewestBare = 12, kMostCells = 3;
  const bool has_zero = excerpt.is_text && !excerpt.lines.empty() && excerpt.lines.front().text.starts_with('0');
  const bool is_padded = excerpt.bytes.starts_with("     1\t");
  const bool has_colon = excerpt.bytes.starts_with("1:");
  if (!excerpt.is_text || excerpt.lines.size() < (has_zero || is_padded || has_colon ? kFewest : kFewestBare)) return false;
  std::uint64_t before = 0;
  bool has_words = false;
  for (const Excerpt::Line& line : excerpt.lines) {
    const std::string_view text = line.text;
    const std::size_t end = std::min(text.find_first_not_of(kDecimalDigits), text.size());
    const auto number = decimal(text.substr(0, end));
    const bool has_mark = end == text.size() || text[end] == ':' || text[end] == '\t' || has_zero;
    if (!number || *number == 0 || !has_mark || (before > 0 && *number != before + 1)) return false;
    before = *number;
    has_words = has_words || has_word(text.substr(end)) || words_of(text).size() <= kMostCells;
  }
  return has_words;
}

struct Wrapping {
  bool (*is_there)(const Excerpt& excerpt);
  std::string_view what;
  std::string_view unwrap;  // a command that reads the file {0} and prints its text
};
constexpr std::array kWrappings = {
    Wrapping{is_quoted_printable, "is an e-mail's text in quoted-printable form, with broken lines",
             "python3 -m quopri -d {0}"},
    Wrapping{is_archive, "is an archive of object files", "ar p {0} MEMBER.o"},
    Wrapping{is_utf_16, "is text in UTF-16, as Windows writes it", "iconv -f UTF-16 -t UTF-8 {0}"},
    Wrapping{has_only_carriage_returns, "has carriage returns in place of line ends", "tr '\\r' '\\n' < {0}"},
    Wrapping{has_escape_sequences, "has the escape sequences of a terminal's colours",
             "sed 's/\\x1b\\[[0-9;?]*[A-Za-z]//g' {0}"},
    Wrapping{has_no_break_spaces, "has no-break spaces, as texts from web pages do", "sed 's/\\xc2\\xa0/ /g' {0}"},
    Wrapping{has_html_entities, "has the entities of HTML (&lt;)",
             "python3 -c 'import html, sys; print(html.unescape(sys.stdin.read()))' < {0}"},
    Wrapping{has_line_numbers, "has line numbers", "sed -E 's/^[> ]*[0-9]+[:\\t ]?//' {0}"},
};

}  // namespace

void refuse_wrapped(const Excerpt& excerpt, const std::string& file) {
  const auto* const found =
      std::ranges::find_if(kWrappings, [&](const Wrapping& wrapping) { return wrapping.is_there(excerpt); });
  if (found == kWrappings.end()) return;
  throw trace::TraceError(fmt::format("{}: {}; unwrap it first: {} > FILE", file, found->what,
                                      fmt::format(fmt::runtime(found->unwrap), shell_word(file))));
}

}  // namespace linebounce::sim
