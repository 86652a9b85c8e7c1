#include "commands/advise/source_edit.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "commands/advise/member_declarations.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

struct SourceLine {
  std::string file;
  int line = 0;
};

SourceLine source_line(const std::string& source) {
  const std::size_t colon = source.rfind(':');
  SourceLine place;
  if (colon == std::string::npos) return place;
  place.file = fs::weakly_canonical(source.substr(0, colon)).string();
  std::from_chars(source.data() + colon + 1, source.data() + source.size(), place.line);
  return place;
}

// Returns the column of the bracket that closes the one at `open`; none if it is on another line.
std::optional<std::size_t> closing(const std::string& code, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < code.size(); ++at) {
    if (code[at] == '(' || code[at] == '[') ++depth;
    if ((code[at] == ')' || code[at] == ']') && --depth == 0) return at;
  }
  return std::nullopt;
}

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Returns the columns where the word occurs in a line of code.
std::vector<std::size_t> places_of_word(const std::string& code, const std::string& word) {
  std::vector<std::size_t> places;
  for (std::size_t at = code.find(word); at != std::string::npos; at = code.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(code[at - 1])) && (end == code.size() || !is_letter(code[end]))) places.push_back(at);
  }
  return places;
}

std::string indentation(const std::string& line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

// True if the file belongs to an installed library, not to the program.
bool is_of_a_library(const std::string& file) {
  return std::ranges::any_of(std::array{"/usr/", "/lib/", "/opt/", "/nix/"},
                             [&file](const char* root) { return file.starts_with(root); });
}

bool is_cpp(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension != ".c" && extension != ".h";
}

std::string unqualified(const std::string& name) {
  const std::size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

// Returns the size of a scalar type in bytes; none if it contains an unknown word.
std::optional<std::int64_t> bytes_of_scalar(const std::string& type) {
  static const std::map<std::string, std::int64_t> kBytes = {
      {"char", 1},         {"bool", 1},       {"_Bool", 1},      {"int8_t", 1},   {"uint8_t", 1},   {"short", 2},
      {"int16_t", 2},      {"uint16_t", 2},   {"int", 4},        {"unsigned", 4}, {"signed", 4},    {"float", 4},
      {"int32_t", 4},      {"uint32_t", 4},   {"long", 8},       {"double", 8},   {"size_t", 8},    {"ssize_t", 8},
      {"int64_t", 8},      {"uint64_t", 8},   {"uintptr_t", 8},  {"intptr_t", 8}, {"ptrdiff_t", 8}, {"atomic_long", 8},
      {"atomic_ulong", 8}, {"atomic_int", 4}, {"atomic_uint", 4}};
  static const std::regex kWord(R"(\w+)");
  std::set<std::string> words;
  for (std::sregex_iterator word(type.begin(), type.end(), kWord), end; word != end; ++word) {
    if (word->str() != "volatile") words.insert(word->str());
  }
  const bool all_known = std::ranges::all_of(words, [](const std::string& word) { return kBytes.contains(word); });
  if (words.empty() || !all_known || type.find_first_of("<>*&") != std::string::npos) return std::nullopt;
  if (words.contains("double")) return words.size() == 1 ? std::optional<std::int64_t>(8) : std::nullopt;
  for (const std::string narrow : {"char", "short"}) {
    if (words.contains(narrow)) return kBytes.at(narrow);
  }
  std::int64_t bytes = 0;  // in "unsigned long", the largest word's size counts
  for (const std::string& word : words) bytes = std::max(bytes, kBytes.at(word));
  return bytes;
}

class Editor {
 public:
  Editor(const trace::Symbols& symbols, int line_bytes, fs::file_time_type recorded)
      : symbols_(symbols), line_bytes_(line_bytes), recorded_(recorded) {}

  void apply(const LayoutEdit& edit) {
    if (!edit.spread.empty()) return spread(edit);
    if (edit.structure == trace::kNone) return align_objects(edit);
    const trace::Structure& structure = symbols_.structures.at(edit.structure);
    if (is_of_a_library(source_line(structure.source).file)) return align_objects_of_a_library(structure, edit);
    if (!edit.split.empty()) {
      split(structure, edit.split);
    } else {
      align_structure(structure);
    }
    align_blocks_of(edit.structure);
    cautions_.insert(
        fmt::format("`{}` grows. Adapt code that relies on its size or offsets, and allocations that this run did not make or "
                    "that realloc moves",
                    structure.name));
  }

  SourceEdit take() {
    SourceEdit edit;
    for (auto& [path, file] : files_) {
      if (file.is_changed()) edit.files.push_back(std::move(file));
    }
    edit.cautions.assign(cautions_.begin(), cautions_.end());
    return edit;
  }

 private:
  [[nodiscard]] std::string aligned() const { return fmt::format("__attribute__((aligned({})))", line_bytes_); }

  SourceText& file_of(const SourceLine& place, const std::string& what) {
    if (place.file.empty() || place.line == 0)
      throw NoEdit(fmt::format("where {} is in the source is not in the trace: compile it with debug information", what));
    auto known = files_.find(place.file);
    if (known == files_.end()) known = files_.try_emplace(place.file, place.file, readable_text(place.file)).first;
    if (place.line > known->second.line_count()) throw NoEdit(fmt::format("{}: has no line {}", place.file, place.line));
    return known->second;
  }

  [[nodiscard]] std::string readable_text(const std::string& file) const {
    static const std::set<std::string> kKnown = {".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx"};
    static const std::regex kUnreadable(R"(R"|\r|//[^\n]*\\\n)");
    std::error_code error;
    const auto changed = fs::last_write_time(file, error);
    if (error) throw NoEdit(fmt::format("{}: cannot be read: {}", file, error.message()));
    if (changed > recorded_) throw NoEdit(fmt::format("{}: has changed since the program was recorded", file));
    if (!kKnown.contains(fs::path(file).extension().string())) throw NoEdit(fmt::format("{}: is neither C nor C++", file));
    std::string text = read_file(file);
    if (std::regex_search(text, kUnreadable))
      throw NoEdit(fmt::format("{}: has raw strings, comments that go on behind a backslash, or CRLF", file));
    return text;
  }

  // "struct __attribute__((aligned(64))) counts {"
  void align_structure(const trace::Structure& structure) {
    const SourceLine place = source_line(structure.source);
    SourceText& file = file_of(place, structure.name);
    const std::string& code = file.code(place.line);
    const std::regex named(R"(\b(?:struct|class|union)\s+()" + unqualified(structure.name) +
                           R"()\b\s*(?:final\s*)?(?:[:{]|$))");
    static const std::regex kUnnamed(R"(^\s*(?:typedef\s+|static\s+)*(?:struct|union)\s*()(?:\{|$))");
    std::smatch found;
    if (code.find("template") != std::string::npos ||
        (!std::regex_search(code, found, named) && !std::regex_search(code, found, kUnnamed)))
      throw NoEdit(fmt::format("{}: expected a plain definition of {}", structure.source, structure.name));
    const StructureBody body = body_at(file, place.line, structure.source);
    const std::string& last = file.code(body.close_line);
    if (last.find("aligned", body.close_column) != std::string::npos)
      throw NoEdit(fmt::format("{}: has an alignment already", structure.source));
    const std::size_t at = found.position(1);
    const bool apart = at > 0 && code[at - 1] != ' ';
    file.insert(place.line, at, (apart ? " " : "") + aligned() + " ");
  }

  // Makes allocations use the structure's new alignment. malloc only guarantees 16 bytes; `new` aligns as the type requires.
  void align_blocks_of(std::uint32_t structure) {
    std::set<std::string> done;
    for (const trace::Object& object : symbols_.objects) {
      if (object.structure == structure && object.movable && done.insert(object.source).second) align_block(object);
    }
  }

  void align_block(const trace::Object& object) {
    const SourceLine place = source_line(object.source);
    SourceText& file = file_of(place, object.name);
    const std::string& code = file.code(place.line);
    const bool is_new = is_cpp(file.path()) && !places_of_word(code, "new").empty() && code.find("alloc") == std::string::npos;
    if (is_new && object.structure != trace::kNone) {
      cautions_.insert("new aligns as the type asks since C++17");
      return;
    }
    for (const std::string name : {"malloc", "calloc"}) {
      const std::vector<std::size_t> calls = places_of_word(code, name);
      if (calls.size() != 1) continue;
      const std::size_t at = calls.front(), open = at + name.size();
      const bool is_member = at > 0 && (code[at - 1] == '.' || code[at - 1] == '>' || code[at - 1] == ':');
      const auto close = open < code.size() && code[open] == '(' ? closing(code, open) : std::nullopt;
      if (is_member || !close) break;
      const std::string inside = file.original(place.line).substr(open + 1, *close - open - 1);
      file.replace(place.line, at, *close + 1 - at, call_instead(name, inside, object.source));
      cautions_.insert("aligned_alloc needs C11 or C++17");
      return;
    }
    throw NoEdit(fmt::format("{}: expected exactly one plain call of malloc, calloc or new", object.source));
  }

  std::string call_instead(const std::string& name, const std::string& inside, const std::string& source) {
    if (name == "malloc") return fmt::format("aligned_alloc({}, {})", line_bytes_, inside);
    static const std::regex kArguments(R"(^\s*(\w+|sizeof\s*\(?[\w\s*]+\)?)\s*,\s*(\w+|sizeof\s*\(?[\w\s*]+\)?)\s*$)");
    std::smatch parts;
    if (!std::regex_match(inside, parts, kArguments))
      throw NoEdit(fmt::format("{}: the arguments of calloc are more than names and sizes", source));
    cautions_.insert("calloc's own check that the product fits and that there is memory is gone");
    const std::string bytes = fmt::format("{} * {}", parts[1].str(), parts[2].str());
    return fmt::format("__builtin_memset(aligned_alloc({}, {}), 0, {})", line_bytes_, bytes, bytes);
  }

  // Aligns variables and blocks that have no structure.
  void align_objects(const LayoutEdit& edit) {
    for (const std::uint32_t id : edit.objects) {
      const trace::Object& object = symbols_.objects.at(id);
      if (object.movable) {
        align_block(object);
      } else {
        align_variable(object);
      }
      cautions_.insert(fmt::format("what lies behind {} may still be on its line", object.name));
    }
  }

  // Aligns only the program's objects of a library's type, because the type itself can't be edited.
  void align_objects_of_a_library(const trace::Structure& structure, const LayoutEdit& edit) {
    if (!edit.split.empty())
      throw NoEdit(
          fmt::format("{}: {} is a library's type, whose members cannot be moved; use another type, or fewer threads "
                      "for each object",
                      structure.source, structure.name));
    align_objects(edit);
  }

  void align_variable(const trace::Object& object) {
    const SourceLine place = source_line(object.source);
    SourceText& file = file_of(place, object.name);
    const std::string& code = file.code(place.line);
    static const std::regex kOtherFirstWord(R"(^\s*(?:return|using|typedef|else|template|namespace|extern|inline|goto)\b)");
    const std::string type = R"((?:\w+(?:::\w+)*(?:<[^;={}()]*>)?[\s*&]+)+)";
    const std::string name = unqualified(object.name) + R"(\b\s*(?:\[[^\]]*\]\s*)*)";
    const std::regex declaration(R"((?:^|;)\s*)" + type + name + R"((?:[;={]|$))");
    std::smatch found;
    if (std::regex_search(code, kOtherFirstWord)) throw no_declaration(object);
    if (std::regex_search(code, found, declaration)) {
      std::size_t begin = found.position();
      if (code[begin] == ';') ++begin;
      return file.insert(place.line, code.find_first_not_of(" \t", begin), aligned() + " ");
    }
    // In "long a, b;", an attribute after a declarator applies only to that one.
    const std::regex one_of_several(R"(^\s*)" + type + R"((?:\w+\s*(?:\[[^\]]*\]\s*)*(?:=[^,;(){}]*)?,\s*)*()" + name +
                                    R"()(?:=[^,;(){}]*)?[,;])");
    if (!std::regex_search(code, found, one_of_several)) throw no_declaration(object);
    const auto end = static_cast<std::size_t>(found.position(1) + found.length(1));
    file.insert(place.line, code.find_last_not_of(" \t", end - 1) + 1, " " + aligned());
  }

  static NoEdit no_declaration(const trace::Object& object) {
    return NoEdit(fmt::format("{}: expected a plain declaration of {}", object.source, object.name));
  }

  // Turns an array of scalars into an array of structures with one member, and appends the member's name to each use of an
  // element.
  void spread(const LayoutEdit& edit) {
    for (const auto& [array, element_bytes] : edit.spread) {
      if (!array.empty()) throw NoEdit(fmt::format("{} is a member: its uses may be in any file, and are left to you", array));
      for (const std::uint32_t id : edit.objects) spread_variable(symbols_.objects.at(id), element_bytes);
    }
  }

  void spread_variable(const trace::Object& object, std::int64_t element_bytes) {
    if (object.movable) throw NoEdit(fmt::format("{}: the elements of a block are left to you", object.source));
    const SourceLine place = source_line(object.source);
    SourceText& file = file_of(place, object.name);
    const std::string name = unqualified(object.name);
    const std::regex declaration(R"(^\s*static\s+((?:\w+\s+)+))" + name + R"(\s*(\[[^\[\]]*\])\s*([;=]))");
    const std::string& code = file.code(place.line);
    std::smatch parts;
    const bool is_header = fs::path(place.file).extension().string().starts_with(".h");
    if (is_header || !std::regex_search(code, parts, declaration) || places_of_word(code, name).size() != 1)
      throw NoEdit(fmt::format("{}: expected a plain declaration of a static array", object.source));
    const std::string type = without_ends(parts[1]);
    const auto scalar = bytes_of_scalar(type);
    if (!scalar) throw NoEdit(fmt::format("{}: the size of {} is not known", object.source, type));
    if (*scalar != element_bytes)
      throw NoEdit(fmt::format("{}: threads use {} bytes each, which is not one {}", object.source, element_bytes, type));
    const std::size_t begin = parts.position(1);
    const std::size_t end = parts.position(3);
    file.replace(
        place.line, begin, end - begin,
        fmt::format("struct {{ {} value {}; }} {}{}{}", type, aligned(), name, parts[2].str(), parts[3] == "=" ? " " : ""));
    spread_uses(file, place.line, name);
  }

  static void spread_uses(SourceText& file, int declaration, const std::string& name) {
    for (int line = 1; line <= file.line_count(); ++line) {
      if (line == declaration) continue;
      const std::string& code = file.code(line);
      for (const std::size_t at : places_of_word(code, name)) {
        const std::size_t open = code.find_first_not_of(" \t", at + name.size());
        const bool element = open != std::string::npos && code[open] == '[';
        const auto close = element ? closing(code, open) : std::nullopt;
        if (!close || !is_plain_use(code.substr(0, at)))
          throw NoEdit(fmt::format("{}:{}: uses {} not only by its elements", file.path().string(), line, name));
        file.insert(line, *close + 1, ".value");
      }
    }
  }

  // Judges a use by the code in front of it. A use is not plain if it is a member of another structure, a declaration, or an
  // address other than an atomic operation's operand.
  static bool is_plain_use(const std::string& before) {
    static const std::regex kMember(R"((\.|->)\s*$)");
    static const std::regex kDeclared(R"((\w+)[\s*]*$)");
    static const std::regex kAddress(R"(&\s*$)");
    static const std::regex kAtomic(R"(\b(?:__atomic_|__sync_|atomic_)\w+\s*\(\s*&\s*$)");
    if (std::regex_search(before, kMember)) return false;
    if (std::regex_search(before, kAddress) && before.find("&&") == std::string::npos)
      return std::regex_search(before, kAtomic);
    std::smatch word;
    if (!std::regex_search(before, word, kDeclared)) return true;
    static const std::set<std::string> kStatements = {"return", "case", "else", "do"};
    const bool is_product = before.find('*', word.position()) != std::string::npos;
    return kStatements.contains(word[1]) || (is_product && !bytes_of_scalar(word[1]).has_value());
  }

  // Moves the groups' members to the end of the structure, each group to lines of its own.
  void split(const trace::Structure& structure, const std::vector<std::vector<std::string>>& groups) {
    const SourceLine place = source_line(structure.source);
    SourceText& file = file_of(place, structure.name);
    const StructureBody body = body_at(file, place.line, structure.source);
    MemberDeclarations members = member_declarations(file, body, structure.source);
    const MemberBlock* before = nullptr;  // the block that moved last, if no plain member has moved since
    for (const auto& group : groups) {
      for (std::size_t i = 0; i < group.size(); ++i) {
        const MemberBlock* const follows = i == 0 ? nullptr : before;
        before = nullptr;
        if (MemberDeclaration* const declaration = members.plain_with(group[i])) {
          move(file, body, members, *declaration, group[i], i == 0);
        } else if (MemberBlock* const block = members.block_with(group[i])) {
          if (!block->moved) {
            move(file, body, *block, i == 0);
          } else if (block != follows) {
            throw NoEdit(
                fmt::format("{}:{}: bit fields of several words would move apart", file.path().string(), block->first));
          }
          before = block;
        } else {
          throw NoEdit(fmt::format("{}: {} is not declared plainly in {}", structure.source, group[i], structure.name));
        }
      }
    }
    remove_moved(file, members.plain);
    cautions_.insert(fmt::format("members of `{}` move. Adapt initialisers that don't name them", structure.name));
  }

  void move(SourceText& file, const StructureBody& body, const MemberDeclarations& members, MemberDeclaration& declaration,
            const std::string& member, bool begins_line) const {
    const bool whole_line =
        declaration.declarators.size() == 1 && declaration.moved == 0 && is_alone(members.plain, declaration);
    const std::string declarator = take_declarator(declaration, member);
    const std::string& text = file.original(declaration.line);
    file.insert_before(body.close_line, indentation(text) + (begins_line ? aligned() + " " : "") +
                                            (whole_line ? without_ends(text) : declaration.type + declarator + ";"));
  }

  // Moves a block to the end. If it begins a line, inserts an aligned member of size 0 in front of bit fields and anonymous
  // unions or structures. An attribute on bit fields would align each of them, and GCC ignores one on an anonymous member.
  void move(SourceText& file, const StructureBody& body, MemberBlock& block, bool begins_line) const {
    block.moved = true;
    const std::string& first = file.original(block.first);
    const std::string start = indentation(first);
    static const std::regex kAnonymous(R"(\}\s*;\s*$)");
    const bool takes_attribute = !block.has_bit_fields && !std::regex_search(file.code(block.last), kAnonymous);
    if (begins_line && !takes_attribute)
      file.insert_before(body.close_line, fmt::format("{}{} char line_of_{}[0];", start, aligned(), block.first));
    const bool attribute = begins_line && takes_attribute;
    file.insert_before(body.close_line, start + (attribute ? aligned() + " " : "") + without_ends(first));
    for (int line = block.first + 1; line <= block.last; ++line) file.insert_before(body.close_line, file.original(line));
    for (int line = block.first; line <= block.last; ++line) file.remove(line);
  }

  static bool is_alone(const std::vector<MemberDeclaration>& declarations, const MemberDeclaration& one) {
    return std::ranges::count(declarations, one.line, &MemberDeclaration::line) == 1;
  }

  static std::string take_declarator(MemberDeclaration& declaration, const std::string& member) {
    const auto at = std::ranges::find(declaration.declarators, member, name_of_declarator);
    const std::string text = *at;
    declaration.declarators.erase(at);
    ++declaration.moved;
    return text;
  }

  static void remove_moved(SourceText& file, const std::vector<MemberDeclaration>& declarations) {
    for (const MemberDeclaration& it : declarations) {
      if (it.moved == 0) continue;
      const auto stays = [&it](const MemberDeclaration& other) { return other.line == it.line && !other.declarators.empty(); };
      if (std::ranges::none_of(declarations, stays)) {
        file.remove(it.line);
      } else if (it.declarators.empty()) {
        remove_with_blanks(file, it);
      } else {
        file.replace(it.line, it.begin, it.end - it.begin, fmt::format("{}{};", it.type, fmt::join(it.declarators, ", ")));
      }
    }
  }

  // Removes a declaration and the blanks before it. Removes the blanks after it instead if it comes first on its line.
  static void remove_with_blanks(SourceText& file, const MemberDeclaration& declaration) {
    const std::string& code = file.code(declaration.line);
    std::size_t begin = declaration.begin, end = declaration.end;
    if (code.find_first_not_of(" \t") == begin) {
      end = std::min(code.find_first_not_of(" \t", end), code.size());
    } else {
      begin = code.find_last_not_of(" \t", begin - 1) + 1;
    }
    file.replace(declaration.line, begin, end - begin, "");
  }

  const trace::Symbols& symbols_;
  int line_bytes_;
  fs::file_time_type recorded_;
  std::map<std::string, SourceText> files_;  // by canonical path
  std::set<std::string> cautions_;
};

// Returns the place of the first definition to edit.
std::string place_to_edit(const LayoutEdit& edit, const trace::Symbols& symbols) {
  if (edit.structure != trace::kNone) {
    const std::string& source = symbols.structures.at(edit.structure).source;
    if (!source.empty()) return source;
  }
  return edit.objects.empty() ? "" : symbols.objects.at(edit.objects.front()).source;
}

}  // namespace

SourceEdit source_edit(const std::vector<LayoutEdit>& edits, const trace::Symbols& symbols, int line_bytes,
                       fs::file_time_type recorded) {
  Editor editor(symbols, line_bytes, recorded);
  SourceEdit made;
  try {
    for (const LayoutEdit& edit : edits) editor.apply(edit);
    made = editor.take();
    if (made.files.empty()) made.why_not = "nothing in the source was found to change";
  } catch (const NoEdit& reason) {
    made.why_not = reason.what();
  }
  if (!edits.empty()) made.place = place_to_edit(edits.front(), symbols);
  return made;
}

}  // namespace linebounce::sim
