#include "sim/config/ptype.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "models/text/quote_marks.hpp"
#include "models/text/trimmed.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kTypeIs = "type = ";

// "osp::Star<double> [with T = double] {" becomes "osp__Star_double", a name without punctuation.
std::string plain_name(std::string_view text) {
  text = text.substr(0, std::min({text.find(" [with"), text.find(" : "), text.find('{')}));
  std::string name;
  for (const char c : trimmed(text)) {
    const bool is_kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    name += is_kept ? c : '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

class PtypeRewriter {
 public:
  std::string rewritten(const std::string& text) {
    std::string out;
    for (const std::string& whole : unquoted_lines(text)) {
      std::string_view line = trimmed(whole);
      while (line.starts_with("//")) line = trimmed(line.substr(2));
      out += rewritten_line(line) + "\n";
    }
    return out;
  }

 private:
  std::string rewritten_line(std::string_view line) {
    if (!opening_.empty()) {  // an e-mail program has broken the line before
      opening_ += " " + std::string(line);
      return opened_structure();
    }
    if (!line.starts_with("/*")) return line.starts_with('}') && !places_.empty() ? closed(line) : "";
    const std::size_t end = std::min(line.find("*/"), line.size());
    const std::string_view comment = trimmed(line.substr(2, end - 2));
    const std::string_view behind = trimmed(line.substr(std::min(end + 2, line.size())));
    if (behind.starts_with(kTypeIs)) {
      opening_ = behind.substr(kTypeIs.size());
      return opened_structure();
    }
    if (places_.empty()) return "";
    if (comment.starts_with("total size")) return size(comment);
    if (behind.empty()) return "";
    return member(comment, behind);
  }

  std::string opened_structure() {
    if (!opening_.ends_with('{')) return "";
    const std::string_view text = opening_;
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string keyword(text.substr(0, blank)), name = plain_name(text.substr(blank));
    places_ = {{"0", ""}};
    opening_.clear();
    return fmt::format("{} {} {{", keyword, name);
  }

  // "total size (bytes):   24", "total size:   24 bytes"
  static std::string size(std::string_view comment) {
    const std::size_t colon = comment.find(':');
    std::string_view number = trimmed(comment.substr(std::min(colon, comment.size() - 1) + 1));
    return fmt::format("/* size: {} */", number.substr(0, number.find(' ')));
  }

  // `comment`: "16: 2 | 4", or the size alone, of a member of a union
  std::string member(std::string_view comment, std::string_view declared) {
    const std::size_t bar = comment.find('|');
    Place place{places_.back().offset, std::string(comment)};
    if (bar != comment.npos) place = {std::string(trimmed(comment.substr(0, bar))), std::string(comment.substr(bar + 1))};
    if (declared.ends_with('{')) {
      const std::string keyword(declared.substr(0, declared.find(' ')));
      places_.push_back(std::move(place));
      return keyword + " {";
    }
    std::string text(declared);
    if (const std::size_t left_out = text.find("{...}"); left_out != std::string::npos) text.erase(left_out, 5);
    return fmt::format("{} /* {} {} */", text, place.offset, trimmed(place.size));
  }

  std::string closed(std::string_view line) {
    const Place place = places_.back();
    places_.pop_back();
    if (places_.empty()) return "};";
    return fmt::format("{} /* {} {} */", line, place.offset, trimmed(place.size));
  }

  struct Place {
    std::string offset, size;
  };
  std::vector<Place> places_;  // of the open structures, from the outermost
  std::string opening_;        // the beginning of a structure whose brace stands on a later line
};

}  // namespace

std::string pahole_text_of_ptype(const std::string& text) {
  return PtypeRewriter().rewritten(text);
}

}  // namespace linebounce::sim
