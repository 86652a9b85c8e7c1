#include "record/collector/allocation_site.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

#include "record/collector/debug_entries.hpp"

namespace linebounce::record {
namespace {

constexpr int kMostLinesOfCall = 4;

bool is_of_system(const std::string& file) {
  const std::string path = std::filesystem::path(file).lexically_normal().string();
  return path.empty() || path.starts_with("/usr/include/") || path.starts_with("/usr/lib/");
}

// C++'s operators, and names such as "xmalloc" and "pool_alloc", are wrappers; the function that calls them says more.
bool is_allocator(const std::string& function) {
  return function.find("alloc") != std::string::npos || function.starts_with("operator new");
}

std::string without_namespace(const std::string& name) {
  const std::size_t end = name.find('<');
  const std::size_t colons = name.rfind("::", end);
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

// Finds a variable or parameter by name in a function (and its nested blocks) or in a compilation unit.
bool find_variable(Dwarf_Die& scope, const std::string& name, Dwarf_Die& found) {
  Dwarf_Die child;
  if (dwarf_child(&scope, &child) != 0) return false;
  do {
    const int tag = dwarf_tag(&child);
    if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && name_of(child) == name) {
      found = child;
      return true;
    }
    if (tag == DW_TAG_lexical_block && find_variable(child, name, found)) return true;
  } while (next_sibling(child));
  return false;
}

// Types whose names in C differ from those in debug information.
const Type* type_of_keyword(const std::string& name) {
  static const std::map<std::string, Type> kTypes = {
      {"char", {.name = "char", .size = 1, .alignment = 1}},     {"short", {.name = "short", .size = 2, .alignment = 2}},
      {"int", {.name = "int", .size = 4, .alignment = 4}},       {"unsigned", {.name = "unsigned", .size = 4, .alignment = 4}},
      {"long", {.name = "long", .size = 8, .alignment = 8}},     {"float", {.name = "float", .size = 4, .alignment = 4}},
      {"double", {.name = "double", .size = 8, .alignment = 8}},
  };
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? nullptr : &found->second;
}

// Matches "new Node(1)", "sizeof(struct node)", "make_unique<Node>", "(struct node*)malloc" and "struct node* n = ...". The
// first group is the type's name.
const std::array<std::regex, 5>& type_patterns() {
  static const std::array<std::regex, 5> kPatterns = {
      std::regex(R"(\bnew\s+(?:\([^)]*\)\s*)?((?:\w+::)*\w+))"),
      std::regex(R"(\bsizeof\s*\(\s*(?:const\s+)?(?:struct\s+|class\s+|union\s+|unsigned\s+)?((?:\w+::)*\w+)\s*\))"),
      std::regex(R"(\bmake_(?:unique|shared)(?:_for_overwrite)?\s*<\s*((?:\w+::)*\w+))"),
      std::regex(R"((?:\(|<)\s*(?:struct\s+|union\s+)?((?:\w+::)*\w+)\s*\*\s*(?:\)|>))"),
      std::regex(R"(\b(?:struct\s+|union\s+)?(\w+)\s*\*\s*\w+\s*=)"),
  };
  return kPatterns;
}

const std::regex& new_array() {
  static const std::regex kPattern(R"(\bnew\s+(?:\([^)]*\)\s*)?(?:\w+::)*\w+\s*\[|\bmake_unique\w*\s*<[^>]*\[\s*\]\s*>)");
  return kPattern;
}

const std::regex& allocates() {
  static const std::regex kPattern(R"(\bnew\b|\bmake_(?:unique|shared)|alloc)");
  return kPattern;
}

// Matches "sizeof *p", "sizeof(*t->buckets[i])" and "sizeof(p[0])". Groups: the stars, the variable, the member and element
// accesses behind it.
const std::regex& size_of_expression() {
  static const std::regex kPattern(
      R"(\bsizeof\s*\(?\s*(\**)\s*\(?\s*(\w+)((?:\s*(?:->|\.)\s*\w+|\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\])*))");
  return kPattern;
}

// Lists the steps for Types::reached(): first the accesses behind the variable, then one step for each star.
std::vector<std::string> steps_of(const std::string& stars, const std::string& behind) {
  static const std::regex kStep(R"(\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\w+)");
  std::vector<std::string> steps;
  const std::sregex_iterator end;
  for (std::sregex_iterator step(behind.begin(), behind.end(), kStep); step != end; ++step)
    steps.push_back(step->str().front() == '[' ? Types::kElement : step->str());
  steps.insert(steps.end(), stars.size(), Types::kElement);
  return steps;
}

}  // namespace

std::string type_of_cpp_allocator(const std::string& function) {
  const std::size_t start = function.find("new_allocator<");
  const std::size_t end = function.rfind(">::allocate");
  if (start == std::string::npos || end == std::string::npos) return "";
  const std::size_t type = function.find('<', start) + 1;
  const std::size_t last = function.find_last_not_of(' ', end - 1);
  return function.substr(type, last + 1 - type);
}

const AllocationSite& AllocationSites::at(std::span<const std::uint64_t> frames) {
  std::vector<std::uint64_t> key(frames.begin(), frames.end());
  const auto found = sites_.find(key);
  if (found != sites_.end()) return found->second;
  return sites_.emplace(std::move(key), find(frames)).first->second;
}

// A C++ container's allocator names its element type, which is more reliable than the types in the source line around it.
AllocationSite AllocationSites::find(std::span<const std::uint64_t> frames) {
  AllocationSite site;
  bool is_container = false;
  for (const std::uint64_t frame : frames) {
    for (const SourcePlace& place : image_->source_places(frame)) {
      if (const std::string type = type_of_cpp_allocator(place.function); !type.empty() && !is_container) {
        is_container = true;
        const Type* known = types_->named(type, place.function);
        if (known != nullptr && known->size > 0) site.types.push_back(known);
      }
      if (is_of_system(place.file)) continue;
      if (!is_container) read_type(place, site);
      site.name = fmt::format("{}:{}", place.function, place.line);
      site.source = fmt::format("{}:{}", place.file, place.line);
      if (!is_allocator(place.function)) return site;
    }
  }
  if (site.name.empty()) site.name = function_of(frames);
  return site;
}

// The innermost function that has a name and is not an operator; all of them may be a library's.
std::string AllocationSites::function_of(std::span<const std::uint64_t> frames) const {
  if (frames.empty()) return "?";
  for (const std::uint64_t frame : frames) {
    std::string function = image_->function(frame);
    if (!function.starts_with("operator new") && function != image_->file_name(frame)) return function;
  }
  return image_->function(frames.front());
}

const std::vector<std::string>& AllocationSites::lines_of(const std::string& file) {
  const auto [entry, is_new] = files_.try_emplace(file);
  if (is_new) {
    std::ifstream text(file);
    for (std::string line; std::getline(text, line);) entry->second.push_back(line);
  }
  return entry->second;
}

// Returns the source statement around the call, as far as it lies on nearby lines.
std::string AllocationSites::text_at(const SourcePlace& place) {
  const std::vector<std::string>& lines = lines_of(place.file);
  const auto count = static_cast<int>(lines.size());
  if (place.line < 1 || place.line > count) return "";
  const std::string& line = lines[place.line - 1];
  const std::size_t column = std::min<std::size_t>(place.column > 0 ? place.column - 1 : 0, line.size());
  const std::size_t before = column == 0 ? std::string::npos : line.rfind(';', column - 1);
  std::string text = before == std::string::npos ? line : line.substr(before + 1);
  std::size_t call = before == std::string::npos ? column : column - before - 1;
  if (before == std::string::npos && place.line >= 2 && lines[place.line - 2].find(';') == std::string::npos) {
    text = lines[place.line - 2] + " " + text;
    call += lines[place.line - 2].size() + 1;
  }
  for (int next = place.line; next < count && next < place.line + kMostLinesOfCall; ++next) {
    if (text.find(';', call) != std::string::npos) break;
    text += " " + lines[next];
  }
  return text.substr(0, text.find(';', call));
}

std::size_t AllocationSites::class_at(const SourcePlace& place) {
  const std::vector<std::string>& lines = lines_of(place.file);
  const std::string name = without_namespace(place.function);
  const std::string before = place.function.substr(0, place.function.size() - std::min(place.function.size(), name.size()));
  if (name.empty() || !before.ends_with(name + "::")) return lines.size();
  const std::regex head(R"(^\s*(?:template\s*<.*>\s*)?(?:struct|class)\b[^;]*\b)" + name + R"(\b[^;]*$)");
  const auto found = std::ranges::find_if(lines, [&head](const std::string& line) { return std::regex_search(line, head); });
  return found - lines.begin();
}

std::string AllocationSites::initialisers_at(const SourcePlace& place) {
  constexpr std::size_t kMostLines = 1000;
  const std::vector<std::string>& lines = lines_of(place.file);
  const std::size_t first = class_at(place);
  std::string all, statement;
  int depth = 0;
  for (std::size_t i = first; i < std::min(lines.size(), first + kMostLines); ++i) {
    for (const char c : lines[i].substr(0, lines[i].find("//"))) {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      statement += c;
      if (c != ';' && depth > 0) continue;
      // Only depth 1 holds members; deeper statements are in function bodies.
      if (c == ';' && depth == 1 && std::regex_search(statement, allocates())) all += statement;
      if (c == ';') statement.clear();
      if (c == '}') return all;
    }
    statement += ' ';
  }
  return all;
}

void AllocationSites::read_type(const SourcePlace& place, AllocationSite& site) {
  std::string text = text_at(place);
  if (!std::regex_search(text, allocates())) {
    if (const std::string initialisers = initialisers_at(place); !initialisers.empty()) text = initialisers;
  }
  const std::vector<const Type*> types = types_in_text(text, place);
  site.types.insert(site.types.end(), types.begin(), types.end());
  site.is_new_array = std::regex_search(text, new_array());
  site.more_behind = text.find("sizeof") != std::string::npos && text.find('+') != std::string::npos;
}

std::vector<const Type*> AllocationSites::types_in_text(const std::string& text, const SourcePlace& place) {
  std::vector<const Type*> types;
  const auto add = [&types](const Type* type) {
    if (type != nullptr && type->size > 0) types.push_back(type);
  };
  const std::sregex_iterator end;
  for (const std::regex& pattern : type_patterns()) {
    for (std::sregex_iterator match(text.begin(), text.end(), pattern); match != end; ++match) {
      const std::string name = (*match)[1];
      const Type* keyword = type_of_keyword(name);
      add(keyword != nullptr ? keyword : types_->named(name, place.function));
    }
  }
  for (std::sregex_iterator match(text.begin(), text.end(), size_of_expression()); match != end; ++match) {
    add(type_of_expression((*match)[2], steps_of((*match)[1], (*match)[3]), place));
  }
  return types;
}

const Type* AllocationSites::type_of_expression(const std::string& variable, const std::vector<std::string>& steps,
                                                const SourcePlace& place) {
  Dwarf_Die scope = place.scope;
  Dwarf_Die unit = place.unit;
  Dwarf_Die found;
  if (!find_variable(scope, variable, found) && !find_variable(unit, variable, found)) return nullptr;
  return types_->reached(found, steps);
}

}  // namespace linebounce::record
