#include "sim/terminal/layout_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "models/text/visible.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

constexpr int kStripWidth = 64;
constexpr std::size_t kDrawingIndent = 10;
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr std::array kColours = {Colour::cyan, Colour::yellow, Colour::green, Colour::magenta, Colour::blue, Colour::red};

// Adjacent bytes of a section that hold one field or one hole between fields.
struct DrawnPiece {
  const Field* field;  // null: a hole
  int begin, end;      // offsets in the section
};

struct DrawnLine {
  int begin, end;  // offsets in the section of the line's first byte and of the byte behind its last
  std::vector<DrawnPiece> pieces;
};

// A section whose first byte lies `base` bytes after the start of a line.
struct Part {
  Section section;
  std::string title;
  int base, size;
};

std::vector<Part> parts_of(const Layout& layout, int line_bytes) {
  std::vector<Part> parts = {{Section::own, "", layout.base_offset.value_or(0) % line_bytes, layout.size},
                             {Section::read_mostly, "read_mostly: on lines of its own", 0, 0},
                             {Section::per_cpu, "per_cpu: each CPU has this for itself, on lines of its own", 0, 0}};
  for (Part& part : parts) {
    for (const Field& field : layout.fields) {
      if (field.section == part.section) part.size = std::max(part.size, field.offset + field.size);
    }
  }
  std::erase_if(parts, [](const Part& part) { return part.size == 0; });
  return parts;
}

std::vector<DrawnPiece> pieces_of(const Layout& layout, const Part& part) {
  std::vector<const Field*> fields;
  for (const Field& field : layout.fields) {
    if (field.section == part.section) fields.push_back(&field);
  }
  std::ranges::stable_sort(fields, [](const Field* a, const Field* b) { return a->offset < b->offset; });
  std::vector<DrawnPiece> pieces;
  int end = 0;
  for (const Field* field : fields) {
    if (field->offset > end) pieces.push_back({nullptr, end, field->offset});
    pieces.push_back({field, field->offset, field->offset + field->size});
    end = field->offset + field->size;
  }
  if (part.size > end) pieces.push_back({nullptr, end, part.size});
  return pieces;
}

// Cuts the section's pieces at the ends of coherence lines.
std::vector<DrawnLine> lines_of(const Layout& layout, const Part& part, int line_bytes) {
  std::vector<DrawnLine> lines;
  for (int begin = 0; begin < part.size;) {
    const int end = std::min((part.base + begin) / line_bytes * line_bytes + line_bytes - part.base, part.size);
    lines.push_back({begin, end, {}});
    begin = end;
  }
  for (const DrawnPiece& piece : pieces_of(layout, part)) {
    for (DrawnLine& line : lines) {
      const DrawnPiece inside{piece.field, std::max(piece.begin, line.begin), std::min(piece.end, line.end)};
      if (inside.begin < inside.end) line.pieces.push_back(inside);
    }
  }
  return lines;
}

// One mark for each piece of a line: a letter for a field, in order, or a dot for a hole.
std::vector<std::string> marks_of(const DrawnLine& line) {
  std::vector<std::string> marks;
  std::size_t fields = 0;
  for (const DrawnPiece& piece : line.pieces)
    marks.push_back(piece.field == nullptr ? "·" : std::string(1, kLetters[fields++ % kLetters.size()]));
  return marks;
}

Colour colour_of(const std::vector<DrawnPiece>& pieces, std::size_t i) {
  return pieces[i].field == nullptr ? Colour::dim : kColours[i % kColours.size()];
}

// Draws one character for each byte. A line of more than kStripWidth bytes gets one character for every few bytes.
std::string strip(const Part& part, const DrawnLine& line, int line_bytes, const Painter& paint) {
  const int bytes = std::max(1, line_bytes / kStripWidth);
  const auto marks = marks_of(line);
  const int start = (part.base + line.begin) / line_bytes * line_bytes - part.base;
  std::string out;
  for (int byte = start; byte < start + line_bytes; byte += bytes) {
    // A character that stands for several bytes shows the first field among them, or a hole if there is no field.
    std::size_t shown = line.pieces.size();
    for (std::size_t i = 0; i < line.pieces.size(); ++i) {
      const bool here = line.pieces[i].begin < byte + bytes && line.pieces[i].end > byte;
      const bool better = shown == line.pieces.size() || line.pieces[shown].field == nullptr;
      if (here && better) shown = i;
    }
    out += shown == line.pieces.size() ? " " : paint(colour_of(line.pieces, shown), marks[shown]);
  }
  return out;
}

std::string name_of(const DrawnPiece& piece) {
  if (piece.field == nullptr) return "(no field)";
  return piece.field->name + (piece.begin > piece.field->offset ? " (goes on)" : "");
}

void draw_part(const Layout& layout, const Part& part, int line_bytes, Table& table, const Painter& paint) {
  const std::size_t width = std::min(line_bytes, kStripWidth);
  const std::string indent(kDrawingIndent, ' ');
  if (!part.title.empty()) table.add_text("  " + part.title + "\n");
  const auto lines = lines_of(layout, part, line_bytes);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    table.add_text(indent + "┌" + repeated("─", width) + "┐\n" +
                   paint(Colour::bold, pad_right(fmt::format("  line {}", i), kDrawingIndent)) + "│" +
                   strip(part, lines[i], line_bytes, paint) + "│\n" + indent + "└" + repeated("─", width) + "┘\n");
    const auto marks = marks_of(lines[i]);
    for (std::size_t k = 0; k < lines[i].pieces.size(); ++k) {
      const DrawnPiece& piece = lines[i].pieces[k];
      table.add({{marks[k], colour_of(lines[i].pieces, k)},
                 fmt::format("+{}", (part.base + piece.begin) % line_bytes),
                 std::to_string(piece.begin),
                 std::to_string(piece.end - piece.begin),
                 name_of(piece)});
    }
  }
}

std::string begins_text(const Layout& layout, int line_bytes) {
  if (!layout.base_offset) return fmt::format("begins at multiples of {}", layout.alignment);
  return fmt::format("begins {} bytes into a line", *layout.base_offset % line_bytes);
}

ordered_json pieces_json(const Part& part, const DrawnLine& line, bool fields, int line_bytes) {
  ordered_json out = ordered_json::array();
  for (const DrawnPiece& piece : line.pieces) {
    if ((piece.field != nullptr) != fields) continue;
    ordered_json entry;
    if (fields) entry["name"] = piece.field->name;
    entry["offset_in_line"] = (part.base + piece.begin) % line_bytes;
    entry["offset_bytes"] = piece.begin;
    entry["size_bytes"] = piece.end - piece.begin;
    out.push_back(std::move(entry));
  }
  return out;
}

ordered_json part_lines_json(const Layout& layout, const Part& part, int line_bytes) {
  ordered_json out = ordered_json::array();
  for (const DrawnLine& line : lines_of(layout, part, line_bytes)) {
    out.push_back({{"line", out.size()},
                   {"fields", pieces_json(part, line, true, line_bytes)},
                   {"holes", pieces_json(part, line, false, line_bytes)}});
  }
  return out;
}

const char* name_of(Section section) {
  switch (section) {
    case Section::read_mostly: return "read_mostly";
    case Section::per_cpu: return "per_cpu";
    case Section::own: break;
  }
  return "own";
}

}  // namespace

std::string drawn_layout(const Layout& layout, int line_bytes, const Painter& paint) {
  Table table({words("", 1), figures("in line", 6), figures("offset", 7), figures("size", 7), words("", 0, 3)}, paint,
              kDrawingIndent);
  for (const Part& part : parts_of(layout, line_bytes)) draw_part(layout, part, line_bytes, table, paint);
  return paint(Colour::bold, layout.name) +
         fmt::format("  {} bytes, {}, lines of {} bytes{}\n", layout.size, begins_text(layout, line_bytes), line_bytes,
                     layout.subsystem.empty() ? "" : "; " + visible_name(layout.subsystem)) +
         table.text();
}

ordered_json layout_to_json(const Layout& layout, int line_bytes) {
  ordered_json out;
  out["name"] = layout.name;
  out["subsystem"] = layout.subsystem;
  out["size_bytes"] = layout.size;
  if (layout.base_offset) {
    out["base_offset_bytes"] = *layout.base_offset;
  } else {
    out["alignment_bytes"] = layout.alignment;
  }
  out["sections"] = ordered_json::array();
  for (const Part& part : parts_of(layout, line_bytes))
    out["sections"].push_back({{"section", name_of(part.section)}, {"lines", part_lines_json(layout, part, line_bytes)}});
  return out;
}

}  // namespace linebounce::sim
