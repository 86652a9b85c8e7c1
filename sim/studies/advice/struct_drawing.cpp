#include "sim/studies/advice/struct_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

struct Member {
  std::string name;
  std::int64_t bytes = 0;
};

// Fields with dotted or numbered names are parts of one member.
std::vector<Member> members_of(const trace::Structure& structure) {
  std::vector<trace::Field> fields = structure.fields;
  std::stable_sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
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
    // What an array's elements are called by alone: it is no structure in the program.
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
    const bool spread =
        std::any_of(it_.arrays.begin(), it_.arrays.end(), [&](const auto& array) { return array.name == name; });
    return spread || std::any_of(it_.split.begin(), it_.split.end(),
                                 [&](const auto& line) { return std::find(line.begin(), line.end(), name) != line.end(); });
  }

  void draw_line(const std::vector<std::string>& line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const auto member = std::find_if(members_.begin(), members_.end(), [&](const Member& it) { return it.name == line[i]; });
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

}  // namespace

std::string struct_drawing(const StructDrawing& drawing) {
  return Drawer(drawing).draw();
}

}  // namespace linebounce::sim
