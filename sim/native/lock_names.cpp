#include "sim/native/lock_names.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "models/text/trimmed.hpp"

namespace linebounce::sim {
namespace {

constexpr int kMostElements = 64;  // most elements of an array that get names
constexpr int kDeepestMember = 8;  // of structures in structures

// A debug information entry.
struct DebugEntry {
  int depth = 0;
  std::string tag, name;
  std::uint64_t type = 0, size = 0, offset = 0, upper_bound = 0;
  bool is_static = false;
  std::vector<std::uint64_t> children;
};

std::uint64_t number_in(std::string_view text, int base) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

// The value after the last ": ", such as `next` in "(indirect string, offset: 0x4): next".
std::string_view attribute_value(std::string_view attribute) {
  const std::size_t at = attribute.rfind(": ");
  return at == std::string_view::npos ? trimmed(attribute.substr(attribute.find(':') + 1)) : trimmed(attribute.substr(at + 2));
}

class DebugInformation {
 public:
  explicit DebugInformation(const std::string& text) {
    std::string_view rest = text;
    std::vector<std::uint64_t> open;  // by depth
    std::uint64_t current = 0;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.starts_with("<") && line.find("><") != std::string_view::npos) {
        current = open_entry(line, open);
      } else if (current != 0) {
        read_attribute(line, entries_[current]);
      }
    }
  }

  [[nodiscard]] const DebugEntry* find(std::uint64_t number) const {
    const auto found = entries_.find(number);
    return found == entries_.end() ? nullptr : &found->second;
  }
  // The first definition with this tag and name, of a function or a variable; null if there is none. Skips entries that have
  // neither a type nor children.
  [[nodiscard]] const DebugEntry* named(std::string_view tag, std::string_view name) const {
    for (const auto& [number, entry] : entries_) {
      if (entry.tag == tag && entry.name == name && entry.type + entry.children.size() > 0) return &entry;
    }
    return nullptr;
  }
  // The type without const, volatile, _Atomic and typedef around it.
  [[nodiscard]] const DebugEntry* plain_type(std::uint64_t number) const {
    const DebugEntry* type = find(number);
    for (int i = 0; i < kDeepestMember && type != nullptr && is_wrapper(type->tag); ++i) type = find(type->type);
    return type;
  }

 private:
  static bool is_wrapper(std::string_view tag) {
    return tag == "DW_TAG_const_type" || tag == "DW_TAG_volatile_type" || tag == "DW_TAG_atomic_type" ||
           tag == "DW_TAG_typedef";
  }

  // Takes a line such as <1><2e>: Abbrev Number: 3 (DW_TAG_const_type).
  std::uint64_t open_entry(std::string_view line, std::vector<std::uint64_t>& open) {
    const std::size_t tag = line.find("(DW_TAG_");
    if (tag == std::string_view::npos) return 0;
    const auto depth = static_cast<std::size_t>(number_in(line.substr(1), 16));
    const std::uint64_t number = number_in(line.substr(line.find("><") + 2), 16);
    DebugEntry& entry = entries_[number];
    entry.depth = static_cast<int>(depth);
    entry.tag = line.substr(tag + 1, line.rfind(')') - tag - 1);
    open.resize(depth + 1);
    open[depth] = number;
    if (depth > 0) entries_[open[depth - 1]].children.push_back(number);
    return number;
  }

  // <4e>   DW_AT_type        : <0x88>
  static void read_attribute(std::string_view line, DebugEntry& entry) {
    const std::size_t begin = line.find("DW_AT_");
    if (begin == std::string_view::npos) return;
    const std::string_view attribute = line.substr(begin);
    const std::string_view value = attribute_value(attribute);
    if (attribute.starts_with("DW_AT_name ")) {
      entry.name = value;
    } else if (attribute.starts_with("DW_AT_type ")) {
      const std::size_t at = value.find("<0x");
      if (at != std::string_view::npos) entry.type = number_in(value.substr(at + 3), 16);
    } else if (attribute.starts_with("DW_AT_byte_size ")) {
      entry.size = number_in(value, 10);
    } else if (attribute.starts_with("DW_AT_data_member_location")) {
      entry.offset = number_in(value, 10);
    } else if (attribute.starts_with("DW_AT_external")) {
      entry.is_static = true;
    } else if (attribute.starts_with("DW_AT_upper_bound")) {
      entry.upper_bound = number_in(value, 10) + 1;
    } else if (attribute.starts_with("DW_AT_count")) {
      entry.upper_bound = number_in(value, 10);
    }
  }

  std::map<std::uint64_t, DebugEntry> entries_;
};

class NameLines {
 public:
  explicit NameLines(const std::string& debug_information) : known_(debug_information) {}

  // Adds the members of the lock's type, to which the parameter of acquire() points.
  void add_lock() {
    const DebugEntry* const acquire = known_.named("DW_TAG_subprogram", "acquire");
    if (acquire == nullptr || acquire->children.empty()) return;
    const DebugEntry* const parameter = known_.find(acquire->children.front());
    const DebugEntry* const pointer = parameter == nullptr ? nullptr : known_.plain_type(parameter->type);
    if (pointer != nullptr && pointer->tag == "DW_TAG_pointer_type") add("lock", 0, "", pointer->type, 0);
  }

  // Takes lines such as 0000000000004040 l     O .bss       0000000000000040              nodes
  void add_variables(std::string_view symbols) {
    while (!symbols.empty()) {
      const std::size_t end = std::min(symbols.find('\n'), symbols.size());
      add_variable(symbols.substr(0, end));
      symbols.remove_prefix(std::min(end + 1, symbols.size()));
    }
  }

  [[nodiscard]] std::string take() { return std::move(lines_); }

 private:
  void add_variable(std::string_view line) {
    const std::size_t section = line.find(" .");
    const std::size_t tab = line.find('\t');
    if (section == std::string_view::npos || tab == std::string_view::npos) return;
    const std::string_view in = line.substr(section + 1, tab - section - 1);
    const bool is_thread_local = in == ".tbss" || in == ".tdata";
    if (!is_thread_local && in != ".bss" && in != ".data") return;
    const std::string_view name = trimmed(line.substr(line.rfind(' ') + 1));
    const DebugEntry* const variable = known_.named("DW_TAG_variable", name);
    if (variable == nullptr) return;
    add(is_thread_local ? "thread_local" : "data", number_in(line, 16), std::string(name), variable->type, 0);
  }

  // Adds the members of a type, each with its full name.
  void add(const char* where, std::uint64_t at, const std::string& name, std::uint64_t type, int depth) {
    const DebugEntry* const plain = known_.plain_type(type);
    if (plain == nullptr || depth > kDeepestMember) return;
    if (plain->tag == "DW_TAG_array_type") {
      add_elements(where, at, name, *plain, depth);
    } else if (plain->tag == "DW_TAG_structure_type" || plain->tag == "DW_TAG_class_type" ||
               plain->tag == "DW_TAG_union_type") {
      for (const std::uint64_t child : plain->children) {
        const DebugEntry* const member = known_.find(child);
        if (member == nullptr || member->is_static || (member->tag != "DW_TAG_member" && member->tag != "DW_TAG_inheritance"))
          continue;
        const bool is_nameless = member->name.empty();
        const std::string whole = is_nameless ? name : name.empty() ? member->name : name + "." + member->name;
        add(where, at + member->offset, whole, member->type, depth + 1);
        if (plain->tag == "DW_TAG_union_type") break;  // a union's members overlap, so the first names them all
      }
    } else if (const std::uint64_t size = size_of(*plain); size > 0 && !name.empty()) {
      lines_ += fmt::format("{} {} {} {}\n", where, at, size, name);
    }
  }

  void add_elements(const char* where, std::uint64_t at, const std::string& name, const DebugEntry& array, int depth) {
    std::uint64_t count = 1;
    for (const std::uint64_t child : array.children) {
      const DebugEntry* const range = known_.find(child);
      if (range != nullptr) count *= range->upper_bound;
    }
    const DebugEntry* const element = known_.plain_type(array.type);
    const std::uint64_t size = element == nullptr ? 0 : size_of(*element);
    for (std::uint64_t i = 0; size > 0 && i < count && i < kMostElements; ++i)
      add(where, at + i * size, fmt::format("{}[{}]", name, i), array.type, depth + 1);
  }

  [[nodiscard]] static std::uint64_t size_of(const DebugEntry& type) {
    return type.tag == "DW_TAG_pointer_type" ? sizeof(void*) : type.size;
  }

  DebugInformation known_;
  std::string lines_;
};

}  // namespace

std::string lock_names(const std::string& debug_information, const std::string& symbols) {
  NameLines names(debug_information);
  names.add_lock();
  names.add_variables(symbols);
  return names.take();
}

}  // namespace linebounce::sim
