#include "commands/advise/proposals.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "commands/advise/false_sharing.hpp"
#include "sim/config/toml_text.hpp"
#include "trace/symbols.hpp"
#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

// A structure after a proposal's changes, to be drawn in C.
struct StructDrawing {
  struct Array {
    std::string name;  // empty: the whole object is the array
    std::int64_t elements = 0, element_bytes = 0;
  };
  std::string name;
  int line_bytes = 64;
  std::vector<Array> arrays;                    // spread
  std::vector<std::vector<std::string>> split;  // the members of each new line
  const trace::Structure* structure = nullptr;  // none: bytes without fields
};

struct Member {
  std::string name;
  std::int64_t bytes = 0;
};

// Merges fields with dotted or numbered names into the member that contains them.
std::vector<Member> members_of(const trace::Structure& structure) {
  std::vector<trace::Field> fields = structure.fields;
  std::ranges::stable_sort(fields, [](const auto& a, const auto& b) { return a.offset < b.offset; });
  std::vector<Member> members;
  std::int64_t begin = 0;
  for (const trace::Field& field : fields) {
    const std::string name = group_of(field.name);
    if (members.empty() || members.back().name != name) {
      members.push_back({name});
      begin = field.offset;
    }
    members.back().bytes = field.offset + field.size - begin;
  }
  return members;
}

class Drawer {
 public:
  explicit Drawer(const StructDrawing& drawing) : it_(drawing) {
    if (it_.structure != nullptr) members_ = members_of(*it_.structure);
    // Drops the unnamed member of an array's elements, because the program has no structure with that name.
    std::erase_if(members_, [](const Member& member) { return member.name.empty(); });
  }

  std::string draw() {
    for (const StructDrawing::Array& array : it_.arrays) {
      if (array.name.empty()) return element_type(array) + fmt::format("struct element {}[{}];\n", it_.name, array.elements);
    }
    if (members_.empty()) return fmt::format("{} {};\n", it_.name, aligned());
    for (const StructDrawing::Array& array : it_.arrays) out_ += element_type(array);
    out_ += fmt::format("struct {} {{\n", it_.name);
    for (const Member& member : members_) {
      if (!moves(member.name)) field(member, false);
    }
    for (const StructDrawing::Array& array : it_.arrays)
      out_ += fmt::format("  struct {}_element {}[{}];\n", array.name, array.name, array.elements);
    for (const auto& line : it_.split) draw_line(line);
    return out_ + (it_.arrays.empty() && it_.split.empty() ? fmt::format("}} {};\n", aligned()) : "};\n");
  }

 private:
  [[nodiscard]] std::string aligned() const { return fmt::format("__attribute__((aligned({})))", it_.line_bytes); }

  [[nodiscard]] std::string element_type(const StructDrawing::Array& array) const {
    return fmt::format("struct {}element {{ char bytes[{}]; }} {};\n", array.name.empty() ? "" : array.name + "_",
                       array.element_bytes, aligned());
  }

  [[nodiscard]] bool moves(const std::string& name) const {
    const bool spread = std::ranges::any_of(it_.arrays, [&](const auto& array) { return array.name == name; });
    return spread ||
           std::ranges::any_of(it_.split, [&](const auto& line) { return std::ranges::find(line, name) != line.end(); });
  }

  void draw_line(const std::vector<std::string>& line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const auto member = std::ranges::find_if(members_, [&](const Member& it) { return it.name == line[i]; });
      if (member != members_.end()) field(*member, i == 0);
    }
  }

  void field(const Member& member, bool begins_line) {
    const std::string text = fmt::format("  {}{};", member.name, begins_line ? " " + aligned() : "");
    out_ += fmt::format("{:<52} // {} byte{}\n", text, member.bytes, member.bytes == 1 ? "" : "s");
  }

  const StructDrawing& it_;
  std::vector<Member> members_;
  std::string out_;
};

// Draws the structure as C code. Types are unknown, so members are drawn as arrays of bytes.
std::string struct_drawing(const StructDrawing& drawing) {
  return Drawer(drawing).draw();
}

// The pieces of all objects with one layout, on all lines.
struct Subject {
  std::string layout;
  std::uint32_t structure = trace::kNone;
  std::map<std::uint32_t, std::vector<Piece>> objects;  // pieces by offset
  std::vector<std::size_t> lines;
  std::int64_t disturbed = 0;
  bool by_neighbours = false;  // true if pieces of other objects conflict with pieces of these objects
};

// Examines at most this many objects of a structure, assuming that the others are used alike.
constexpr std::size_t kEnoughObjects = 64;

std::vector<Subject> subjects_of(const std::vector<FalselySharedLine>& lines, const trace::Symbols& symbols) {
  std::map<std::string, Subject> by_layout;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    for (const Piece& piece : lines[i].pieces) {
      const std::string name = layout_name(symbols, piece.object);
      if (name.empty()) continue;  // a [[layout.change]] could not say what it changes
      Subject& subject = by_layout[name];
      subject.layout = name;
      subject.structure = symbols.objects[piece.object].structure;
      for (const Piece& other : lines[i].pieces) {
        if (!conflict(piece, other)) continue;
        subject.disturbed += piece.reads + piece.writes;
        subject.by_neighbours = subject.by_neighbours || other.object != piece.object;
        if (subject.lines.empty() || subject.lines.back() != i) subject.lines.push_back(i);
        break;
      }
      if (subject.objects.contains(piece.object) || subject.objects.size() < kEnoughObjects)
        subject.objects[piece.object].push_back(piece);
    }
  }
  std::vector<Subject> subjects;
  for (auto& [name, subject] : by_layout) {
    if (subject.lines.empty()) continue;
    for (auto& [object, pieces] : subject.objects)
      std::ranges::sort(pieces, [](const Piece& a, const Piece& b) { return a.offset < b.offset; });
    subjects.push_back(std::move(subject));
  }
  std::ranges::stable_sort(subjects, [](const auto& a, const auto& b) { return a.disturbed > b.disturbed; });
  return subjects;
}

struct Spread {
  ArrayPlace array;
  std::int64_t element = 0;
};

// Returns the arrays whose elements conflict, with an element size that suits all objects.
std::vector<Spread> spreads_of(const Subject& subject, const trace::Symbols& symbols) {
  std::vector<Spread> spreads;
  for (const auto& [object, pieces] : subject.objects) {
    for (const Piece& piece : pieces) {
      const auto array = array_of(piece, symbols);
      if (!array) continue;
      const auto bytes = element_bytes(*array, pieces);
      if (!bytes) continue;
      const auto known = std::ranges::find_if(spreads, [&](const Spread& it) { return it.array == *array; });
      if (known == spreads.end()) {
        spreads.push_back({*array, *bytes});
      } else {
        known->element = std::min(known->element, *bytes);
      }
    }
  }
  return spreads;
}

// Groups fields that may share a line. Groups are sorted by their first fields. Leaves out arrays whose elements are spread
// over lines.
class FieldGroups {
 public:
  FieldGroups(const Subject& subject, const std::vector<Spread>& spreads) : subject_(&subject) {
    for (const auto& [object, pieces] : subject.objects) {
      for (const Piece& piece : pieces) {
        const std::string name = piece.field.empty() ? "" : group_of(piece.field);
        const bool spread = std::ranges::any_of(spreads, [&](const Spread& it) { return it.array.name == name; });
        if (!name.empty() && !spread) add(name);
      }
    }
  }

  // Returns the groups that should move to lines of their own. All other fields keep their places.
  [[nodiscard]] std::vector<std::vector<std::string>> split() const {
    if (groups_.size() < 2) return {};
    auto staying = std::ranges::find_if(groups_, [&](const auto& group) { return is_only_read(group); });
    if (staying == groups_.end()) staying = groups_.begin();
    std::vector<std::vector<std::string>> lines;
    for (auto group = groups_.begin(); group != groups_.end(); ++group) {
      if (group != staying) lines.push_back(*group);
    }
    return lines;
  }

 private:
  void add(const std::string& name) {
    for (const auto& group : groups_) {
      if (std::ranges::find(group, name) != group.end()) return;
    }
    const auto fits = std::ranges::find_if(groups_, [&](const auto& group) {
      return std::ranges::none_of(group, [&](const std::string& other) { return are_in_conflict(name, other); });
    });
    if (fits != groups_.end()) {
      fits->push_back(name);
    } else {
      groups_.push_back({name});
    }
  }

  [[nodiscard]] bool are_in_conflict(const std::string& a, const std::string& b) const {
    return std::ranges::any_of(subject_->objects, [&](const auto& object) {
      for (const Piece& one : object.second) {
        if (group_of(one.field) != a) continue;
        for (const Piece& other : object.second) {
          if (group_of(other.field) == b && conflict(one, other)) return true;
        }
      }
      return false;
    });
  }

  [[nodiscard]] bool is_only_read(const std::vector<std::string>& group) const {
    return std::ranges::all_of(subject_->objects, [&](const auto& object) {
      return std::ranges::none_of(object.second, [&](const Piece& piece) {
        return piece.written && std::ranges::find(group, group_of(piece.field)) != group.end();
      });
    });
  }

  const Subject* subject_;
  std::vector<std::vector<std::string>> groups_;
};

toml::array names_of(const std::vector<std::string>& fields) {
  toml::array names;
  for (const std::string& field : fields) names.push_back(field);
  return names;
}

class ProposalMaker {
 public:
  ProposalMaker(const Subject& subject, const trace::Symbols& symbols, int line_bytes, bool pairs)
      : subject_(subject), symbols_(symbols), line_bytes_(line_bytes), pairs_(pairs), spreads_(spreads_of(subject, symbols)) {
    split_ = FieldGroups(subject, spreads_).split();
  }

  std::optional<Proposal> make() {
    if (spreads_.empty() && split_.empty() && !subject_.by_neighbours) return std::nullopt;
    Proposal proposal;
    proposal.structure = subject_.layout;
    proposal.lines = subject_.lines;
    proposal.drawing = drawing();
    proposal.sentence = sentence();
    proposal.edit = {.structure = subject_.structure, .split = split_};
    for (const auto& [object, pieces] : subject_.objects) proposal.edit.objects.push_back(object);
    for (const Spread& spread : spreads_) proposal.edit.spread.emplace_back(spread.array.name, spread.element);
    return proposal;
  }

  // Returns all [[layout.change]]s of the proposal as TOML, under one name.
  [[nodiscard]] std::string change(const std::string& name) const {
    toml::table head{{"name", name}, {"structure", subject_.layout}};
    if (pairs_ && !(spreads_.empty() && split_.empty())) head.insert("line_bytes", line_bytes_);
    toml::array changes;
    for (const Spread& spread : spreads_) {
      toml::table change = head;
      if (!spread.array.name.empty()) change.insert("spread", toml::array{spread.array.name});
      change.insert("element_bytes", spread.element);
      changes.push_back(std::move(change));
    }
    if (!split_.empty()) {
      toml::array lines;
      for (const auto& line : split_) lines.push_back(names_of(line));
      toml::table change = head;
      change.insert("split", std::move(lines));
      changes.push_back(std::move(change));
    }
    if (changes.empty()) {
      toml::table change = head;
      change.insert("align_bytes", line_bytes_);
      changes.push_back(std::move(change));
    }
    std::string text;
    for (const auto& change : changes) text += "[[layout.change]]\n" + to_toml(*change.as_table());
    return text;
  }

 private:
  // A type that has template arguments is known by its variable, if it has only one.
  [[nodiscard]] std::string shown_layout() const {
    if (subject_.structure == trace::kNone || subject_.layout.find('<') == std::string::npos) return subject_.layout;
    const auto is_it = [this](const trace::Object& object) { return object.structure == subject_.structure; };
    const auto first = std::ranges::find_if(symbols_.objects, is_it);
    return std::find_if(std::next(first), symbols_.objects.end(), is_it) == symbols_.objects.end() ? first->name
                                                                                                   : subject_.layout;
  }

  [[nodiscard]] bool is_stack() const { return symbols_.objects.at(subject_.objects.begin()->first).is_stack(); }

  [[nodiscard]] std::string sentence() const {
    const std::string layout = shown_layout();
    if (is_stack())
      return fmt::format("give each variable on the {} that other threads use, too, a cache line of its own: aligned({})",
                         layout, line_bytes_);
    std::vector<std::string> parts;
    for (const Spread& spread : spreads_) {
      const std::string where = spread.array.name.empty() ? layout : spread.array.name + " of " + layout;
      parts.push_back(fmt::format("give each element of {} a cache line of its own: {} elements of {} bytes, aligned({})",
                                  where, spread.array.size / spread.element, spread.element, line_bytes_));
    }
    for (const auto& line : split_)
      parts.push_back(fmt::format("move {} of {} to a cache line of {} own: aligned({})", fmt::join(line, ", "), layout,
                                  line.size() == 1 ? "its" : "their", line_bytes_));
    if (parts.empty())
      parts.push_back(fmt::format("give {}`{}` a cache line of its own: aligned({})",
                                  subject_.objects.size() > 1 ? "each " : "", layout, line_bytes_));
    return fmt::format("{}", fmt::join(parts, "; "));
  }

  [[nodiscard]] std::string drawing() const {
    if (is_stack()) return fmt::format("TYPE variable __attribute__((aligned({})));\n", line_bytes_);
    StructDrawing it;
    it.name = shown_layout();
    it.line_bytes = line_bytes_;
    for (const Spread& spread : spreads_)
      it.arrays.push_back({spread.array.name, spread.array.size / spread.element, spread.element});
    it.split = split_;
    if (subject_.structure != trace::kNone) it.structure = &symbols_.structures.at(subject_.structure);
    return struct_drawing(it);
  }

  const Subject& subject_;
  const trace::Symbols& symbols_;
  int line_bytes_;
  bool pairs_;
  std::vector<Spread> spreads_;
  std::vector<std::vector<std::string>> split_;
};

// Returns a name for `layout.changes` that no other proposal has.
std::string choice_name(const std::string& layout, const std::vector<Proposal>& others) {
  std::string name = layout;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_'; }, '_');
  const auto taken = [&](const std::string& word) {
    return word == "all" || word == "none" ||
           std::ranges::any_of(others, [&](const Proposal& other) { return other.name == word; });
  };
  for (int number = 2; taken(name); ++number) name = fmt::format("{}_{}", name, number);
  return name;
}

}  // namespace

std::string layout_name(const trace::Symbols& symbols, std::uint32_t object) {
  const trace::Object& it = symbols.objects.at(object);
  return it.structure == trace::kNone ? it.name : symbols.structures.at(it.structure).name;
}

std::vector<Proposal> proposals(const std::vector<FalselySharedLine>& lines, const trace::Symbols& symbols, int line_bytes,
                                bool pairs) {
  std::vector<Proposal> all;
  for (const Subject& subject : subjects_of(lines, symbols)) {
    ProposalMaker maker(subject, symbols, line_bytes, pairs);
    auto proposal = maker.make();
    if (!proposal) continue;
    proposal->name = choice_name(subject.layout, all);
    proposal->change = maker.change(proposal->name);
    all.push_back(std::move(*proposal));
  }
  return all;
}

}  // namespace linebounce::sim
