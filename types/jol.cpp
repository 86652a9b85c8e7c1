// The layout of Java objects as JOL (Java Object Layout) prints it:
//
//   lay.Job object internals:
//   OFF  SZ               TYPE DESCRIPTION               VALUE
//     0   8                    (object header: mark)     0x0000000000000001 (non-biasable; age: 0)
//     8   4                    (object header: class)    0x01014a08
//    12   1               byte Base.kind                 0
//    13   3                    (alignment/padding gap)
//   Instance size: 16 bytes
//
// With compact object headers (JDK 24 and later), the class is a part of the mark.
#include "types/jol.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/text/text_lines.hpp"
#include "models/text/trimmed.hpp"
#include "types/member_declaration.hpp"
#include "types/named_types.hpp"

namespace linebounce::types {
namespace {

constexpr std::string_view kHead = " object internals:";
constexpr std::string_view kInstance = "Instance size:";
constexpr std::int64_t kUsualAlignment = 8;

class JolReader {
 public:
  explicit JolReader(std::string file) : file_(std::move(file)) {}

  Listing read(std::string_view text) {
    for (const std::string& whole : text_lines(text)) {
      ++line_;
      read_line(trimmed(whole));
    }
    close_unfinished();
    if (types_.is_empty())
      throw ReadError(fmt::format("{}: JOL: this text has no class; expected NAME object internals:", file_));
    return types_.listing();
  }

 private:
  void read_line(std::string_view line) {
    constexpr std::string_view kAlignment = "# Object alignment:";
    if (line.starts_with(kAlignment)) {
      line.remove_prefix(kAlignment.size());
      alignment_ = take_number(line).value_or(kUsualAlignment);
    } else if (line.ends_with(kHead)) {
      close_unfinished();
      outline_.emplace(Outline{.name = std::string(line.substr(0, line.size() - kHead.size())), .states_alignment = true});
      header_parts_ = 0;
    } else if (outline_ && line.starts_with(kInstance)) {
      close(line.substr(kInstance.size()));
    } else if (outline_) {
      read_row(line);
    }
  }

  // "12   1   byte Base.kind   0"; "13   3   (alignment/padding gap)"
  void read_row(std::string_view line) {
    const auto offset = take_number(line), size = offset ? take_number(line) : std::nullopt;
    if (!offset || !size || *offset > kLargestFigure || *size > kLargestFigure || !line.starts_with(' ')) return;
    line = trimmed(line);
    OutlineMember member{.bit_offset = *offset * 8, .bytes = *size};
    if (line.starts_with('(')) {
      set_part_of_header(member, line.substr(1, std::min(line.find(')'), line.size()) - 1));
    } else {
      const std::size_t blank = std::min(line.find(' '), line.size());
      const std::string_view described = trimmed(line.substr(blank));
      member.type = line.substr(0, blank);
      set_name(member, described.substr(0, described.find(' ')));
    }
    if (member.name.empty() && member.kind == MemberKind::member) return refuse("a row without a name");
    outline_->members.push_back(std::move(member));
  }

  // "object header: mark", "array length", "alignment/padding gap", "loss due to the next object alignment"
  void set_part_of_header(OutlineMember& member, std::string_view text) {
    constexpr std::string_view kHeader = "object header";
    if (text.find("gap") != text.npos || text.find("loss") != text.npos) {
      member.kind = MemberKind::gap;
      member.bits = member.bytes * 8;
    } else if (text.starts_with(kHeader)) {
      const std::size_t colon = text.find(": ");
      // Up to JOL 0.10, the header was three rows of the same name.
      member.name =
          colon != text.npos ? fmt::format("header.{}", text.substr(colon + 2)) : fmt::format("header.{}", header_parts_);
      ++header_parts_;
    } else {
      member.name = text == "array length" ? "length" : std::string(text);
    }
  }

  // A member of the class itself is "Job.count", one of a base class "Base.kind". The latter keeps the name of the class.
  void set_name(OutlineMember& member, std::string_view name) const {
    const std::size_t dot = name.rfind('.');
    const std::string_view own = std::string_view(outline_->name).substr(outline_->name.rfind('.') + 1);
    const bool is_own = dot != name.npos && name.substr(0, dot) == own.substr(own.rfind('$') + 1);
    member.name = is_own || (dot != name.npos && name.substr(0, dot) == own) ? name.substr(dot + 1) : name;
  }

  void refuse(const std::string& why) {
    types_.refuse(outline_->name, fmt::format("line {}: {}", line_, why));
    outline_.reset();
  }

  void close(std::string_view text) {
    const auto size = take_number(text);
    if (!size || *size > kLargestFigure) return refuse("expected its instance size");
    outline_->size = *size;
    outline_->alignment = alignment_;
    types_.add(*std::move(outline_));
    outline_.reset();
  }

  void close_unfinished() {
    if (outline_) refuse("the text is cut off: expected its instance size");
  }

  std::string file_;
  NamedTypes types_;
  std::optional<Outline> outline_;  // the class that is being read
  std::int64_t alignment_ = kUsualAlignment;
  int header_parts_ = 0;
  std::int64_t line_ = 0;
};

}  // namespace

ListingForm jol_form() {
  return {.name = "jol",
          .what = "JOL's layout of Java objects: jol-cli internals",
          .marks = "NAME object internals:, and OFF SZ TYPE DESCRIPTION VALUE",
          .because = "it has the heads that JOL prints",
          .is_like = [](std::string_view text) { return text.find(kHead) != text.npos; },
          .read =
              [](const ListingInput& input) {
                Listing listing = JolReader(input.file).read(input.bytes);
                listing.origin = "JOL's listing";
                return listing;
              }};
}

}  // namespace linebounce::types
