// A structure in Go as `structlayout -json PACKAGE NAME` prints it (honnef.co/go/tools): one list for each call, whose elements
// are the innermost members and the padding.
//
//   [{"name":"Job.mu.state","type":"int32","start":0,"end":4,"size":4,"align":4,"is_padding":false}, ...]
#include "types/structlayout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "types/named_types.hpp"

namespace linebounce::types {
namespace {

// One list: from its bracket to the one that closes it.
std::string_view take_list(std::string_view& text) {
  int depth = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) is_string = !is_string;
    if (is_string) continue;
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) {
      const std::string_view list = text.substr(0, i + 1);
      text.remove_prefix(i + 1);
      return list;
    }
  }
  return std::exchange(text, {});
}

// In the layout of a generic type, its parameters have the size of an interface, whatever they stand for.
bool is_type_parameter(std::string_view type) {
  return !type.empty() && type.front() >= 'A' && type.front() <= 'Z' && type.find_first_of(".[*(") == type.npos;
}

class StructlayoutReader {
 public:
  explicit StructlayoutReader(std::string file) : file_(std::move(file)) {}

  Listing read(std::string_view text) {
    try {
      for (std::size_t open = text.find('['); open != text.npos; open = text.find('[')) {
        text.remove_prefix(open);
        read_list(nlohmann::json::parse(take_list(text), is_shallow));
      }
    } catch (const nlohmann::json::exception&) {
      throw ReadError(fmt::format(
          R"({}: structlayout: expected [{{"name": "Job.count", "type": "int", "start": 0, "end": 8, ...}}])", file_));
    }
    if (types_.is_empty()) throw ReadError(fmt::format("{}: structlayout: has no structure with bytes", file_));
    return types_.listing();
  }

 private:
  static bool is_shallow(int depth, nlohmann::json::parse_event_t, nlohmann::json&) { return depth <= 4; }

  void read_list(const nlohmann::json& list) {
    Outline outline{.size = 0, .states_alignment = true};
    std::string why;
    for (const nlohmann::json& part : list) {
      OutlineMember member = member_of(part, outline);
      if (is_type_parameter(member.type)) why = fmt::format("the size of {} is open: it is a type parameter", member.name);
      outline.size = std::max(outline.size, member.begin() + member.bytes);
      outline.alignment = std::max(outline.alignment, member.alignment);
      outline.members.push_back(std::move(member));
    }
    if (outline.name.empty()) return;  // of struct{}
    if (why.empty()) {
      types_.add(std::move(outline));
    } else {
      types_.refuse(outline.name, why);
    }
  }

  static OutlineMember member_of(const nlohmann::json& part, Outline& outline) {
    const auto start = part.at("start").get<std::int64_t>(), end = part.at("end").get<std::int64_t>();
    if (start < 0 || end < start || end > kLargestFigure) throw nlohmann::json::other_error::create(501, "no place", &part);
    OutlineMember member{.bit_offset = start * 8, .bytes = end - start};
    member.type = part.value("type", "");
    member.alignment = std::clamp<std::int64_t>(part.value("align", std::int64_t{0}), 0, kLargestFigure);
    const std::string name = part.value("name", "");
    const std::size_t dot = name.find('.');
    if (outline.name.empty()) outline.name = name.substr(0, dot);
    member.name = dot == name.npos ? name : name.substr(dot + 1);
    const bool is_blank = member.name == "_" || member.name.ends_with("._");
    if (part.value("is_padding", false) || (is_blank && member.bytes > 0)) {
      member.kind = MemberKind::gap;
      member.bits = member.bytes * 8;
    } else if (member.bytes == 0) {
      member.kind = MemberKind::empty;
    }
    return member;
  }

  std::string file_;
  NamedTypes types_;
};

}  // namespace

ListingForm structlayout_form() {
  return {
      .name = "structlayout",
      .what = "Go's structlayout -json",
      .marks = R"([{"name": "Job.count", "type": "int", "start": 0, "end": 8, "size": 8, "align": 8, "is_padding": false}])",
      .because = "its members have a start, an end and is_padding",
      .is_like =
          [](std::string_view text) { return text.find("\"is_padding\"") != text.npos && text.find("\"start\"") != text.npos; },
      .read =
          [](const ListingInput& input) {
            Listing listing = StructlayoutReader(input.file).read(input.bytes);
            listing.origin = "Go's structlayout";
            return listing;
          }};
}

}  // namespace linebounce::types
