#include "sim/studies/advice/source_edit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <stdexcept>
#include <utility>

#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

// Says what() of the place why there is no edit.
class NoEdit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SourceLine {
  std::string file;
  int line = 0;
};

SourceLine source_line(const std::string& source) {
  const std::size_t colon = source.rfind(':');
  SourceLine place;
  if (colon == std::string::npos) return place;
  place.file = source.substr(0, colon);
  std::from_chars(source.data() + colon + 1, source.data() + source.size(), place.line);
  return place;
}

// "[...]" or "(...)" from `open` on, on this line: where it closes. None: not on this line.
std::optional<std::size_t> closing(const std::string& code, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < code.size(); ++at) {
    if (code[at] == '(' || code[at] == '[') ++depth;
    if ((code[at] == ')' || code[at] == ']') && --depth == 0) return at;
  }
  return std::nullopt;
}

// The places of a word in a line of code.
std::vector<std::size_t> places_of_word(const std::string& code, const std::string& word) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::vector<std::size_t> places;
  for (std::size_t at = code.find(word); at != std::string::npos; at = code.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !is_letter(code[at - 1])) && (end == code.size() || !is_letter(code[end]))) places.push_back(at);
  }
  return places;
}

std::string trimmed_both(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

std::string indentation(const std::string& line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

// Bytes of a scalar that a declaration names; none: not known.
std::optional<std::int64_t> bytes_of_scalar(const std::string& type) {
  if (type.ends_with('*')) return 8;
  static const std::map<std::string, std::int64_t> kBytes = {
      {"char", 1},     {"bool", 1},      {"_Bool", 1},    {"int8_t", 1},    {"uint8_t", 1},     {"short", 2},
      {"int16_t", 2},  {"uint16_t", 2},  {"int", 4},      {"unsigned", 4},  {"float", 4},       {"int32_t", 4},
      {"uint32_t", 4}, {"long", 8},      {"double", 8},   {"size_t", 8},    {"ssize_t", 8},     {"int64_t", 8},
      {"uint64_t", 8}, {"uintptr_t", 8}, {"intptr_t", 8}, {"ptrdiff_t", 8}, {"atomic_long", 8}, {"atomic_int", 4}};
  static const std::regex kWord(R"(\w+)");
  std::optional<std::int64_t> bytes;
  for (std::sregex_iterator word(type.begin(), type.end(), kWord), end; word != end; ++word) {
    const auto known = kBytes.find(word->str());
    // "unsigned long" is what its last word says; "long int" what the longer says.
    if (known != kBytes.end()) bytes = std::max(bytes.value_or(0), known->second);
  }
  return bytes;
}

// What stands between a structure's braces.
struct Body {
  int open_line, close_line;
};

class Editor {
 public:
  Editor(const trace::Symbols& symbols, int line_bytes, fs::file_time_type recorded)
      : symbols_(symbols), line_bytes_(line_bytes), recorded_(recorded) {}

  void apply(const LayoutEdit& edit) {
    const trace::Structure* structure = edit.structure == trace::kNone ? nullptr : &symbols_.structures.at(edit.structure);
    if (!edit.spread.empty()) return spread(edit);
    if (structure == nullptr) return align_objects(edit);
    if (!edit.split.empty()) {
      split(*structure, edit.split);
    } else {
      align_structure(*structure);
    }
    align_blocks(edit);
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

  SourceText& file_of_place(const SourceLine& place, const std::string& what) {
    if (place.file.empty() || place.line == 0)
      throw NoEdit(fmt::format("where {} is in the source is not in the trace: compile it with debug information", what));
    const auto known = files_.find(place.file);
    if (known != files_.end()) return known->second;
    std::error_code error;
    const auto changed = fs::last_write_time(place.file, error);
    if (error) throw NoEdit(fmt::format("{}: cannot be read: {}", place.file, error.message()));
    if (changed > recorded_) throw NoEdit(fmt::format("{}: has changed since the program was recorded", place.file));
    const std::string extension = fs::path(place.file).extension().string();
    static const std::set<std::string> kKnown = {".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inc"};
    if (!kKnown.contains(extension)) throw NoEdit(fmt::format("{}: is neither C nor C++", place.file));
    SourceText& file = files_.try_emplace(place.file, place.file, read_file(place.file)).first->second;
    if (place.line > file.line_count()) throw NoEdit(fmt::format("{}: has no line {}", place.file, place.line));
    return file;
  }

  // "struct __attribute__((aligned(64))) counts {"
  void align_structure(const trace::Structure& structure) {
    const SourceLine place = source_line(structure.source);
    SourceText& file = file_of_place(place, structure.name);
    static const std::regex kKeyword(R"(\b(struct|class|union)\b)");
    const std::string& code = file.code(place.line);
    std::smatch found;
    if (!std::regex_search(code, found, kKeyword))
      throw NoEdit(fmt::format("{}: no struct or class begins there", structure.source));
    const auto end = static_cast<std::size_t>(found.position() + found.length());
    const std::string head = code.substr(end, code.find('{', end) - end);
    if (head.find("aligned") != std::string::npos || head.find("alignas") != std::string::npos)
      throw NoEdit(fmt::format("{}: has an alignment already", structure.source));
    file.insert(place.line, end, " " + aligned());
  }

  // Blocks from malloc are aligned to 16 bytes, whatever their type asks for; those from new as the type asks.
  void align_blocks(const LayoutEdit& edit) {
    std::set<std::string> done;
    for (const std::uint32_t id : edit.objects) {
      const trace::Object& object = symbols_.objects.at(id);
      if (object.movable && done.insert(object.source).second) align_block(object);
    }
  }

  void align_block(const trace::Object& object) {
    const SourceLine place = source_line(object.source);
    SourceText& file = file_of_place(place, object.name);
    const std::string& code = file.code(place.line);
    if (!places_of_word(code, "new").empty()) return;
    for (const std::string name : {"malloc", "calloc"}) {
      const std::vector<std::size_t> calls = places_of_word(code, name);
      if (calls.empty()) continue;
      const std::size_t open = code.find('(', calls.front());
      const auto close = open == std::string::npos ? std::nullopt : closing(code, open);
      if (calls.size() > 1 || !close) break;
      const std::string inside = file.original(place.line).substr(open + 1, *close - open - 1);
      file.replace(place.line, calls.front(), *close + 1 - calls.front(), call_instead(name, inside, object.source, file));
      return;
    }
    throw NoEdit(fmt::format("{}: no one call of malloc, calloc or new stands there", object.source));
  }

  std::string call_instead(const std::string& name, const std::string& inside, const std::string& source, SourceText& file) {
    if (name == "malloc") return fmt::format("aligned_alloc({}, {})", line_bytes_, inside);
    const std::size_t comma = inside.find(',');
    if (comma == std::string::npos || inside.find(',', comma + 1) != std::string::npos ||
        inside.find("++") != std::string::npos)
      throw NoEdit(fmt::format("{}: the call of calloc is not a simple one", source));
    include(file, "<string.h>");
    const std::string bytes =
        fmt::format("({}) * ({})", trimmed_both(inside.substr(0, comma)), trimmed_both(inside.substr(comma + 1)));
    return fmt::format("memset(aligned_alloc({}, {}), 0, {})", line_bytes_, bytes, bytes);
  }

  static void include(SourceText& file, const std::string& header) {
    int last = 0;
    for (int line = 1; line <= file.line_count(); ++line) {
      if (!trimmed_both(file.code(line)).starts_with("#include")) continue;
      if (file.original(line).find(header) != std::string::npos) return;
      last = line;
    }
    file.insert_before(last + 1, "#include " + header);
  }

  // Variables and blocks without structure.
  void align_objects(const LayoutEdit& edit) {
    align_blocks(edit);
    for (const std::uint32_t id : edit.objects) {
      const trace::Object& object = symbols_.objects.at(id);
      if (object.movable) continue;
      const SourceLine place = source_line(object.source);
      SourceText& file = file_of_place(place, object.name);
      if (places_of_word(file.code(place.line), unqualified(object.name)).empty())
        throw NoEdit(fmt::format("{}: {} is not declared there", object.source, object.name));
      file.insert(place.line, indentation(file.original(place.line)).size(), aligned() + " ");
      cautions_.insert(fmt::format("what the linker puts behind {} may still be on its line", object.name));
    }
  }

  static std::string unqualified(const std::string& name) {
    const std::size_t colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
  }

  // An array of scalars: each becomes a structure's only member, and each use of an element one of that member.
  void spread(const LayoutEdit& edit) {
    for (const auto& [array, element_bytes] : edit.spread) {
      if (!array.empty()) throw NoEdit(fmt::format("{} is a member: its uses may be in any file, and are left to you", array));
      for (const std::uint32_t id : edit.objects) spread_variable(symbols_.objects.at(id), element_bytes);
    }
  }

  void spread_variable(const trace::Object& object, std::int64_t element_bytes) {
    if (object.movable) throw NoEdit(fmt::format("{}: the elements of a block are left to you", object.source));
    const SourceLine place = source_line(object.source);
    SourceText& file = file_of_place(place, object.name);
    const std::string name = unqualified(object.name);
    static const std::string kStorage = R"(((?:(?:static|extern|volatile|_Thread_local|thread_local)\s+)*))";
    const std::regex declaration(R"(^(\s*))" + kStorage + R"(([\w:<>]+(?:\s+[\w:<>]+)*[\s*]*?)\s*\b)" + name +
                                 R"(\s*(\[[^\[\]]*\])\s*([;=]))");
    const std::string& code = file.code(place.line);
    std::smatch parts;
    if (!std::regex_search(code, parts, declaration))
      throw NoEdit(fmt::format("{}: no plain declaration of an array stands there", object.source));
    const std::string type = trimmed_both(parts[3]);
    if (bytes_of_scalar(type) != element_bytes)
      throw NoEdit(fmt::format("{}: threads use {} bytes each, which is not one {}", object.source, element_bytes, type));
    const auto begin = static_cast<std::size_t>(parts.position(3));
    const auto end = static_cast<std::size_t>(parts.position(5));
    file.replace(
        place.line, begin, end - begin,
        fmt::format("struct {{ {} value {}; }} {}{}{}", type, aligned(), name, parts[4].str(), parts[5] == "=" ? " " : ""));
    spread_uses(file, place.line, name);
    if (parts[2].str().find("static") == std::string::npos)
      cautions_.insert(fmt::format("uses of {} in other files become {}[i].value, too", name, name));
  }

  static void spread_uses(SourceText& file, int declaration, const std::string& name) {
    for (int line = 1; line <= file.line_count(); ++line) {
      if (line == declaration) continue;
      const std::string& code = file.code(line);
      for (const std::size_t at : places_of_word(code, name)) {
        const std::size_t open = code.find_first_not_of(" \t", at + name.size());
        const bool element = open != std::string::npos && code[open] == '[';
        const auto close = element ? closing(code, open) : std::nullopt;
        if (!close) throw NoEdit(fmt::format("{}:{}: uses {} not only by its elements", file.path().string(), line, name));
        file.insert(line, *close + 1, ".value");
      }
    }
  }

  // Members that move go behind the others, each group on a line of its own.
  void split(const trace::Structure& structure, const std::vector<std::vector<std::string>>& groups) {
    const SourceLine place = source_line(structure.source);
    SourceText& file = file_of_place(place, structure.name);
    const Body body = body_at(file, place, structure.source);
    for (const auto& group : groups) {
      bool first = true;
      for (const std::string& member : group) {
        const std::string moved = take_out(file, body, member, structure);
        file.insert_before(body.close_line,
                           indentation(file.original(body.open_line + 1)) + (first ? aligned() + " " : "") + moved);
        first = false;
      }
    }
    cautions_.insert(fmt::format("members of {} move: initialisers that don't name them must follow", structure.name));
  }

  static Body body_at(const SourceText& file, const SourceLine& place, const std::string& source) {
    int depth = 0;
    Body body{0, 0};
    for (int line = place.line; line <= file.line_count(); ++line) {
      if (body.open_line != 0 && trimmed_both(file.code(line)).starts_with('#'))
        throw NoEdit(fmt::format("{}: the structure has lines for the preprocessor", source));
      for (const char c : file.code(line)) {
        if (c == '{' && depth++ == 0) body.open_line = line;
        if (c == '}' && --depth == 0) {
          body.close_line = line;
          if (body.close_line <= body.open_line + 1) throw NoEdit(fmt::format("{}: is written on one line", source));
          return body;
        }
      }
      if (body.open_line == 0 && file.code(line).find(';') != std::string::npos) break;
    }
    throw NoEdit(fmt::format("{}: no structure is defined there", source));
  }

  // The member's own declaration, without the others that share its line.
  static std::string take_out(SourceText& file, const Body& body, const std::string& member,
                              const trace::Structure& structure) {
    for (int line = body.open_line + 1; line < body.close_line; ++line) {
      const std::string& code = file.code(line);
      const std::string text = trimmed_both(code);
      const bool is_declaration = text.ends_with(';') && std::count(text.begin(), text.end(), ';') == 1;
      if (places_of_word(code, member).empty() || !is_declaration || text.find_first_of("(){}") != std::string::npos) continue;
      if (text.find(',') == std::string::npos) {
        file.remove(line);
        return trimmed_both(file.original(line));
      }
      break;
    }
    throw NoEdit(fmt::format("{}: {} has no line of its own in {}", structure.source, member, structure.name));
  }

  const trace::Symbols& symbols_;
  int line_bytes_;
  fs::file_time_type recorded_;
  std::map<std::string, SourceText> files_;
  std::set<std::string> cautions_;
};

// Of the first: where a reader begins.
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
  } catch (const NoEdit& reason) {
    made.why_not = reason.what();
  }
  if (!edits.empty()) made.place = place_to_edit(edits.front(), symbols);
  return made;
}

}  // namespace linebounce::sim
