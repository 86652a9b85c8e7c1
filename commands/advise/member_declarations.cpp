#include "commands/advise/member_declarations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>

#include "models/text/separated.hpp"

namespace linebounce::sim {
namespace {

std::vector<std::string> declarators_of(const std::string& list) {
  std::vector<std::string> declarators;
  for (const std::string_view declarator : separated(list, ',')) declarators.push_back(without_ends(std::string(declarator)));
  return declarators;
}

// True if a comment continues on the next line.
bool has_open_comment(const std::string& line) {
  const std::size_t comment = line.rfind("/*");
  return comment != std::string::npos && line.find("*/", comment) == std::string::npos;
}

class MemberReader {
 public:
  MemberReader(const SourceText& file, const StructureBody& body) : file_(file), body_(body) {}

  MemberDeclarations read() {
    for (int line = body_.open_line + 1; line < body_.close_line; ++line) {
      if (without_ends(file_.code(line)).empty()) continue;
      if (!plain_line(line)) line = block(line);
    }
    return std::move(found_);
  }

 private:
  [[noreturn]] void refuse(int line) const {
    throw NoEdit(fmt::format("{}:{}: has more than plain declarations of members", file_.path().string(), line));
  }

  bool plain_line(int line) {
    static const std::regex kDeclaration(
        R"(\s*((?:\w+(?:::\w+)*(?:<[\w:]+>)?[\s*]+?)+)(\**\w+\s*(?:\[[^\]]*\]\s*)*(?:,\s*\**\w+\s*(?:\[[^\]]*\]\s*)*)*);\s*)");
    const std::string& code = file_.code(line);
    std::vector<MemberDeclaration> on_line;
    std::size_t begin = code.find_first_not_of(" \t");
    for (std::smatch found; begin != std::string::npos && begin < code.size();) {
      const auto from = code.begin() + static_cast<std::ptrdiff_t>(begin);
      if (!std::regex_search(from, code.end(), found, kDeclaration, std::regex_constants::match_continuous)) {
        if (!on_line.empty()) refuse(line);
        return false;
      }
      const std::size_t end = code.find(';', begin) + 1;
      on_line.push_back({.line = line, .begin = begin, .end = end, .type = found[1], .declarators = declarators_of(found[2])});
      begin = code.find_first_not_of(" \t", end);
    }
    if (has_open_comment(file_.original(line))) refuse(line);
    found_.plain.insert(found_.plain.end(), on_line.begin(), on_line.end());
    in_bit_fields_ = false;
    return true;
  }

  // Returns the last line of a declaration that begins at this line and ends with a semicolon.
  int block(int first) {
    int depth = 0;
    std::string code;
    for (int line = first; line < body_.close_line; ++line) {
      const std::string part = without_ends(file_.code(line));
      if (part.starts_with('#') || has_open_comment(file_.original(line))) refuse(line);
      code += part + " ";
      depth += static_cast<int>(std::ranges::count(part, '{') - std::ranges::count(part, '}'));
      if (depth == 0 && part.ends_with(';')) {
        add(first, line, code);
        return line;
      }
    }
    refuse(first);
  }

  void add(int first, int last, const std::string& code) {
    static const std::regex kNested(R"((?:(?:const|volatile)\s+)*(?:union|struct|enum)\b[^{};()]*\{[^()]*\}[^{};()]*;\s*)");
    static const std::regex kFunction(R"((?:[\w*]+\s+|\*)+\(\s*\*\s*\w+\s*\)\s*\([^(){};]*\)\s*;\s*)");
    static const std::regex kBits(
        R"((?:(?:\w+\s+)+(?:\w+\s*)?:\s*\w+\s*(?:,\s*(?:\w+\s*)?:\s*\w+\s*)*;\s*)+)");  // "unsigned a : 1, : 3;"
    static const std::regex kAccess(R"(\b(?:public|private|protected)\s*:)");
    const bool is_bits = std::regex_match(code, kBits);
    const bool is_known = is_bits || std::regex_match(code, kNested) || std::regex_match(code, kFunction);
    if (!is_known || std::regex_search(code, kAccess) || defines_type_of_others(first, last, code)) refuse(first);
    if (!is_bits || !in_bit_fields_) found_.blocks.push_back({.first = first, .last = last, .has_bit_fields = is_bits});
    in_bit_fields_ = is_bits;
    MemberBlock& block = found_.blocks.back();
    block.last = last;
    static const std::regex kWord(R"([A-Za-z_]\w*)");
    for (std::sregex_iterator word(code.begin(), code.end(), kWord), end; word != end; ++word) block.words.insert(word->str());
  }

  // True if these lines define a type that another member's declaration names. They must then stay before that declaration.
  bool defines_type_of_others(int first, int last, const std::string& code) const {
    static const std::regex kTag(R"(\b(?:union|struct|enum)\s+(\w+)[^;{}]*\{)");
    std::smatch tag;
    if (!std::regex_search(code, tag, kTag)) return false;
    const std::regex word(fmt::format(R"(\b{}\b)", tag[1].str()));
    for (int line = body_.open_line + 1; line < body_.close_line; ++line) {
      if ((line < first || line > last) && std::regex_search(file_.code(line), word)) return true;
    }
    return false;
  }

  const SourceText& file_;
  const StructureBody& body_;
  MemberDeclarations found_;
  bool in_bit_fields_ = false;  // true: the latest declaration was a bit field
};

}  // namespace

MemberDeclaration* MemberDeclarations::plain_with(const std::string& member) {
  for (MemberDeclaration& it : plain) {
    if (std::ranges::find(it.declarators, member, name_of_declarator) != it.declarators.end()) return &it;
  }
  return nullptr;
}

MemberBlock* MemberDeclarations::block_with(const std::string& member) {
  MemberBlock* found = nullptr;
  for (MemberBlock& it : blocks) {
    if (!it.words.contains(member)) continue;
    if (found != nullptr) return nullptr;
    found = &it;
  }
  return found;
}

StructureBody body_at(const SourceText& file, int first, const std::string& source) {
  int depth = 0;
  StructureBody body;
  for (int line = first; line <= file.line_count(); ++line) {
    const std::string& code = file.code(line);
    for (std::size_t at = 0; at < code.size(); ++at) {
      if (code[at] == '{' && depth++ == 0) body.open_line = line;
      if (code[at] == '}' && --depth == 0) {
        body.close_line = line;
        body.close_column = at;
        return body;
      }
    }
    if (body.open_line == 0 && (line > first || code.find(';') != std::string::npos)) break;
  }
  throw NoEdit(fmt::format("{}: no structure is defined there", source));
}

MemberDeclarations member_declarations(const SourceText& file, const StructureBody& body, const std::string& source) {
  static const std::regex kOpenEnd(R"(\[\s*[01]?\s*\]\s*;\s*$)");
  MemberDeclarations found = MemberReader(file, body).read();
  if (found.plain.empty() && found.blocks.empty()) throw NoEdit(fmt::format("{}: has no line for each member", source));
  const int last_block = found.blocks.empty() ? 0 : found.blocks.back().last;
  const int last_plain = found.plain.empty() ? 0 : found.plain.back().line;
  if (std::regex_search(file.code(std::max(last_plain, last_block)), kOpenEnd))
    throw NoEdit(fmt::format("{}: ends with a flexible array, after which no member may follow", source));
  return found;
}

std::string name_of_declarator(const std::string& declarator) {
  const std::size_t begin = declarator.find_first_not_of("* ");
  return declarator.substr(begin, declarator.find_first_of("[ ", begin) - begin);
}

}  // namespace linebounce::sim
