// Applies changes to a structure. All changes are collected before any offset is assigned. So fields that one change moves to
// a line of their own keep that line even if a later change moves or realigns other parts of the object.
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "sim/config/layout_changes.hpp"
#include "sim/config/suggestions.hpp"

namespace linebounce::sim {
namespace {

int round_up(int bytes, int step) {
  return (bytes + step - 1) / step * step;
}

// A unit that moves as a whole: a field, a nested structure with all its fields, or a run of bytes without a name.
struct Member {
  std::string name;  // empty: unnamed bytes
  std::vector<Field> fields;
  int begin = 0, end = 0;
  int alignment = 1;
  std::string moved_at = {};                  // the place in a file where a change names this member; empty: no change moves it
  std::optional<PlacedBytes> placed_at = {};  // the offset that a change requests
};

using Members = std::vector<Member>;

class ChangedStructure {
 public:
  ChangedStructure(Layout layout, const LayoutFile& file, int line_bytes)
      : layout_(std::move(layout)),
        file_line_bytes_(file.line_bytes),
        line_bytes_(line_bytes),
        alignment_(alignment_of(layout_)),
        size_step_(layout_.size % layout_.alignment == 0 ? std::max(alignment_, layout_.alignment) : alignment_) {
    gather();
  }

  void apply(const LayoutChange& change) {
    place(change);
    if (change.line) line_bytes_ = std::max(line_bytes_, change.line->bytes);
    Members first;
    for (const PlacedName& field : change.order) first.push_back(take(field, "order"));
    for (std::size_t i = 0; i < change.at.size(); ++i) first[i].placed_at = change.at[i];
    rest_.insert(rest_.begin(), first.begin(), first.end());
    for (const auto& line : change.split) {
      Members together;
      for (const PlacedName& field : line) together.push_back(take(field, "split"));
      lines_.push_back(std::move(together));
    }
    spread(change);
    for (const PlacedName& field : change.read_mostly) read_mostly_.push_back(take(field, "read_mostly"));
    for (const PlacedName& field : change.per_cpu) per_cpu_.push_back(take(field, "per_cpu"));
    repacked_ = repacked_ || !change.order.empty() || !change.split.empty() || change.element_bytes || !change.spread.empty();
  }

  [[nodiscard]] Layout finished() {
    std::erase_if(lines_, [](const Members& line) { return line.empty(); });
    if (!lines_.empty()) align_for_lines();
    layout_.fields.clear();
    layout_.moved.clear();
    int end = 0;
    for (const Member& member : rest_) end = put(member, begin_of(member, end), Section::own);
    for (const Members& line : lines_) {
      end = next_line(end);
      for (const Member& member : line) end = put(member, behind(end, member), Section::own);
    }
    if (repacked_) layout_.size = lines_.empty() ? round_up(std::max(end, 1), size_step_) : next_line(end);
    // Rounds the size up as C's alignment attribute does, so that the next element of an array is aligned too.
    if (aligned_) layout_.size = round_up(layout_.size, aligned_->bytes);
    put_section(read_mostly_, Section::read_mostly);
    put_section(per_cpu_, Section::per_cpu);
    std::ranges::sort(layout_.moved, [](const MovedBytes& a, const MovedBytes& b) { return a.from < b.from; });
    return layout_;
  }

 private:
  // Groups the file's fields into members, in the order of their offsets.
  void gather() {
    std::vector<Field> fields = layout_.fields;
    std::ranges::stable_sort(fields, [](const Field& a, const Field& b) { return a.offset < b.offset; });
    for (const Field& field : fields) {
      const std::string group = group_of(field.name);
      const bool goes_on = !rest_.empty() && rest_.back().name == group;
      if (!goes_on) {
        add_unnamed(field.offset, natural_alignment(field.size));
        rest_.push_back({group, {}, field.offset, field.offset, 1});
      }
      Member& member = rest_.back();
      member.fields.push_back(field);
      member.end = std::max(member.end, field.offset + field.size);
      member.alignment = std::max(member.alignment, alignment_of(field));
    }
    add_unnamed(layout_.size, size_step_);
  }

  // If the gap before `begin` is not compiler padding, the file must have left out a field. Keeps these bytes as an unnamed
  // member between their neighbours.
  void add_unnamed(int begin, int alignment) {
    const int end = rest_.empty() ? 0 : rest_.back().end;
    if (begin > end && round_up(end, alignment) != begin) rest_.push_back({"", {}, end, begin, 1});
  }

  void place(const LayoutChange& change) {
    if (change.align) {
      layout_.alignment = change.align->bytes;
      layout_.base_offset.reset();
      aligned_ = change.align;
    }
    if (!change.base_offset) return;
    const int base = change.base_offset->bytes;
    if (base >= file_line_bytes_ || base % alignment_ != 0)
      fail(change.base_offset->origin, "layout.change.base_offset_bytes",
           fmt::format("{} is not a legal offset in a line for a {}; legal: multiples of {} below {}", base, layout_.name,
                       alignment_, file_line_bytes_));
    layout_.base_offset = base;
    aligned_.reset();
  }

  void spread(const LayoutChange& change) {
    for (const PlacedName& name : change.spread) {
      const Member array = take(name, "spread");
      const int bytes = change.element_bytes ? change.element_bytes->bytes : numbered_element(array, name);
      spread(array, bytes, change.element_bytes ? change.element_bytes->origin : name.origin);
    }
    if (change.element_bytes && change.spread.empty())
      spread(whole(), change.element_bytes->bytes, change.element_bytes->origin);
  }

  void spread(const Member& array, int bytes, const Origin& origin) {
    const int size = array.end - array.begin;
    // The last element of an array of structures may end with padding. No field covers it, so `size` need not be a multiple
    // of `bytes`.
    const bool numbered = array.fields.size() > 1 && array.fields.back().name.find('[') != std::string::npos;
    if (bytes >= size || (size % bytes != 0 && !numbered))
      fail(origin, "layout.change.element_bytes",
           fmt::format("{} of {} bytes is not an array of elements of {} bytes; legal: a divisor of {}", array_name(array),
                       size, bytes, size));
    for (int i = 0; i * bytes < size; ++i) lines_.push_back({element(array, i, bytes)});
  }

  [[nodiscard]] std::string array_name(const Member& array) const { return array.name.empty() ? layout_.name : array.name; }

  // Derives an array's element size from the offsets of its first two elements: "sd[0].lock" and "sd[1].lock".
  [[nodiscard]] static int numbered_element(const Member& array, const PlacedName& name) {
    const auto begins = [&](int number) {
      const std::string element = fmt::format("{}[{}]", array.name, number);
      int begin = array.end;
      for (const Field& field : array.fields) {
        if (field.name == element || field.name.starts_with(element + ".")) begin = std::min(begin, field.offset);
      }
      return begin;
    };
    const int bytes = begins(1) - begins(0);
    if (begins(1) == array.end || bytes <= 0)
      fail(name.origin, "layout.change.spread",
           fmt::format("the layout does not say where the elements of {} begin: give element_bytes", array.name));
    return bytes;
  }

  // Takes the whole object as one member and empties all places.
  Member whole() {
    Member all{"", layout_.fields, 0, layout_.size, alignment_};
    for (Members* members : places()) members->clear();
    return all;
  }

  // Cuts element `number` out of an array. A field that spans several elements is split at their boundaries.
  [[nodiscard]] static Member element(const Member& array, int number, int bytes) {
    const int first = array.begin + number * bytes;
    Member out{array.name, {}, first, std::min(first + bytes, array.end), 1, array.moved_at};
    for (const Field& field : array.fields) {
      const int begin = std::max(field.offset, out.begin);
      const int end = std::min(field.offset + field.size, out.end);
      if (begin >= end) continue;
      Field part = field;
      if (field.offset < out.begin || field.offset + field.size > out.end) part.name += fmt::format("[{}]", number);
      part.offset = begin;
      part.size = end - begin;
      out.alignment = std::max(out.alignment, alignment_of(part));
      out.fields.push_back(part);
    }
    return out;
  }

  // Removes a member from the part of the structure that currently holds it. Errors: ConfigError, if there is no such member
  // (lists the structure's) or it can't move (says why).
  Member take(const PlacedName& field, const std::string& key) {
    for (Members* members : places()) {
      const auto found =
          std::find_if(members->begin(), members->end(), [&](const Member& member) { return is_named(member, field.name); });
      if (found == members->end()) continue;
      refuse_scattered(*found, field, key);
      Member member = std::move(*found);
      members->erase(found);
      member.moved_at = field.origin.place;
      member.placed_at.reset();
      return member;
    }
    fail(field.origin, "layout.change." + key, refusal(field.name));
  }

  [[nodiscard]] static bool is_named(const Member& member, const std::string& name) {
    return !member.name.empty() && is_called(member.name, name);
  }

  std::vector<Members*> places() {
    std::vector<Members*> all = {&rest_, &read_mostly_, &per_cpu_};
    for (Members& line : lines_) all.push_back(&line);
    return all;
  }

  void refuse_scattered(const Member& found, const PlacedName& field, const std::string& key) {
    for (const Members* members : places()) {
      for (const Member& member : *members) {
        if (&member != &found && member.name == found.name)
          fail(field.origin, "layout.change." + key,
               fmt::format("other fields lie between the parts of {} in the layout file: it cannot move as one", found.name));
      }
    }
  }

  std::string refusal(const std::string& name) {
    std::vector<std::string> known;
    for (const Members* members : places()) {
      for (const Member& member : *members) {
        if (member.name.empty()) continue;
        known.push_back(member.name);
        const bool part = std::ranges::any_of(member.fields, [&](const Field& field) { return is_called(field.name, name); });
        if (!part) continue;
        std::vector<std::string> parts;
        for (const Field& field : member.fields) parts.push_back(field.name);
        return fmt::format("{} is a part of {} ({}), which a program uses as one piece: its parts stay together; name {}", name,
                           member.name, fmt::join(parts, ", "), member.name);
      }
    }
    return fmt::format("structure {}: the field {}", layout_.name, not_known(name, known));
  }

  // Aligns the object to a line: members get lines of their own only if the object's offset within a line is known. An
  // explicit base offset serves as well.
  void align_for_lines() {
    if (layout_.base_offset) return;
    if (aligned_ && aligned_->bytes < line_bytes_)
      fail(aligned_->origin, "layout.change.align_bytes",
           fmt::format(
               "{} is less than the machine's line of {} bytes, at whose start the split fields of {} are to lie; legal: "
               "at least {}",
               aligned_->bytes, line_bytes_, layout_.name, line_bytes_));
    layout_.alignment = std::max(layout_.alignment, line_bytes_);
  }

  // Returns the first offset at or after `end` at which a new cache line begins.
  [[nodiscard]] int next_line(int end) const {
    const int base = layout_.base_offset.value_or(0);
    return round_up(base + end, line_bytes_) - base;
  }

  // Returns the first offset at or after `end` that has the same remainder modulo the member's alignment as in the file.
  [[nodiscard]] static int behind(int end, const Member& member) {
    const int shift = member.begin % member.alignment;
    return round_up(end - shift, member.alignment) + shift;
  }

  // Returns the member's new offset. `end`: where the previous member ends. Errors: ConfigError if a change requests an
  // offset that overlaps it or is misaligned.
  [[nodiscard]] int begin_of(const Member& member, int end) const {
    if (!member.placed_at) return repacked_ ? behind(end, member) : member.begin;
    const int at = member.placed_at->bytes;
    if (at < end || at % member.alignment != member.begin % member.alignment)
      fail(member.placed_at->origin, "layout.change.at_bytes",
           fmt::format("{} cannot begin at {} of {}; legal: from {} on, {} modulo {}", member.name, at, layout_.name, end,
                       member.begin % member.alignment, member.alignment));
    return at;
  }

  // Places the member, and returns its end.
  int put(const Member& member, int begin, Section section) {
    for (Field field : member.fields) {
      field.offset += begin - member.begin;
      field.section = section;
      if (section != Section::own) field.moved_at = member.moved_at;
      layout_.fields.push_back(field);
    }
    layout_.moved.push_back({member.begin, member.end - member.begin, begin, section});
    return begin + member.end - member.begin;
  }

  void put_section(const Members& members, Section section) {
    int end = 0;
    for (const Member& member : members) end = put(member, behind(end, member), section);
  }

  Layout layout_;
  int file_line_bytes_, line_bytes_;
  int alignment_;  // the structure's natural alignment
  int size_step_;  // the structure's size must be a multiple of this, in bytes
  Members rest_;
  std::vector<Members> lines_;
  Members read_mostly_, per_cpu_;
  bool repacked_ = false;
  std::optional<PlacedBytes> aligned_;  // `align` of the latest change; none if a later change sets a base offset
};

}  // namespace

LayoutSet changed_layouts(const LayoutFile& file, const std::vector<LayoutChange>& changes, int line_bytes) {
  std::map<std::string, ChangedStructure> changed;
  for (const LayoutChange& change : changes) {
    const std::string& name = change.structure.name;
    const auto layout = file.layouts.all().find(name);
    if (layout == file.layouts.all().end()) {
      std::vector<std::string> known;
      for (const auto& [other, structure] : file.layouts.all()) known.push_back(other);
      fail(change.structure.origin, "layout.change.structure", not_known(name, known));
    }
    changed.try_emplace(name, layout->second, file, line_bytes).first->second.apply(change);
  }
  LayoutSet layouts = file.layouts;
  for (auto& [name, structure] : changed) layouts.add(structure.finished());
  return layouts;
}

}  // namespace linebounce::sim
