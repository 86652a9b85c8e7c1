// The table of the forms, and what all of them have in common.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "models/text/quote_marks.hpp"
#include "types/btf.hpp"
#include "types/class_hierarchy.hpp"
#include "types/jol.hpp"
#include "types/listing.hpp"
#include "types/pahole.hpp"
#include "types/ptype.hpp"
#include "types/record_layouts.hpp"
#include "types/structlayout.hpp"

namespace linebounce::types {
namespace {

bool is_same_member(const Member& a, const Member& b) {
  const auto size_of = [](const Member& member) { return member.type == nullptr ? -1 : member.type->size; };
  return a.name == b.name && a.kind == b.kind && a.bit_offset == b.bit_offset && a.bits == b.bits && size_of(a) == size_of(b);
}

bool is_same_layout(const Type& a, const Type& b) {
  return a.kind == b.kind && a.size == b.size &&
         std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(), is_same_member) &&
         a.untold == b.untold;
}

// Leaves one of the structures that have the same name and the same layout. Those that differ get a number.
void number_namesakes(std::vector<TypePtr>& structures) {
  std::map<std::string, std::vector<TypePtr>> by_name;
  for (const TypePtr& one : structures) {
    std::vector<TypePtr>& namesakes = by_name[one->name];
    const auto is_it = [&one](const TypePtr& other) { return is_same_layout(*one, *other); };
    if (std::ranges::none_of(namesakes, is_it)) namesakes.push_back(one);
  }
  std::vector<TypePtr> out;
  for (const TypePtr& one : structures) {
    const std::vector<TypePtr>& namesakes = by_name[one->name];
    const auto at = std::ranges::find(namesakes, one);
    if (at == namesakes.end()) continue;
    if (namesakes.size() == 1) {
      out.push_back(one);
      continue;
    }
    Type numbered = *one;
    numbered.name += fmt::format("#{}", at - namesakes.begin() + 1);
    out.push_back(std::make_shared<const Type>(std::move(numbered)));
  }
  structures = std::move(out);
}

// A structure without bytes can't be laid out.
void leave_out_empty(Listing& listing) {
  const auto is_empty = [](const TypePtr& type) { return type->size < 1; };
  for (const TypePtr& type : listing.structures) {
    if (is_empty(type)) listing.unread.push_back({type->name, "has no bytes"});
  }
  std::erase_if(listing.structures, is_empty);
}

// Returns the mark at the beginning of a comment's line, with the blanks before it and one after it, such as "  // ", " * " or
// ";; CHECK-NEXT: ". Empty for other lines.
std::string_view comment_mark(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const char mark = begin < line.size() ? line[begin] : ' ';
  if (mark != '/' && mark != '*' && mark != ';') return {};
  std::size_t end = std::min(line.find_first_not_of(mark, begin), line.size());
  const bool stands_alone = end == line.size() || line[end] == ' ' || line[end] == '\t' || line[end] == '\r';
  if (mark == '/' ? end < begin + 2 : !stands_alone || (mark == '*' && end != begin + 1)) return {};
  // A test of LLVM expects the line: "// CHECK-NEXT: "
  constexpr std::string_view kCheck = "CHECK", kOfLabel = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  const std::size_t word = std::min(line.find_first_not_of(" \t", end), line.size());
  const std::size_t colon = std::min(line.find_first_not_of(kOfLabel, word), line.size());
  if (line.substr(word).starts_with(kCheck) && line.substr(colon).starts_with(':')) end = colon + 1;
  return line.substr(0, end + (end < line.size() && line[end] == ' ' ? 1 : 0));
}

// Removes the marks of listings that stand in a comment: of lines that follow each other and have one.
void remove_comment_marks(std::vector<std::string>& lines) {
  constexpr std::ptrdiff_t kFewest = 3;
  for (auto begin = lines.begin(); begin != lines.end();) {
    const auto has_mark = [](const std::string& line) { return !comment_mark(line).empty(); };
    begin = std::find_if(begin, lines.end(), has_mark);
    const auto end = std::find_if_not(begin, lines.end(), has_mark);
    if (end - begin >= kFewest) {
      for (; begin != end; ++begin) begin->erase(0, comment_mark(*begin).size());
    }
    begin = end;
  }
}

}  // namespace

const std::vector<ListingForm>& listing_forms() {
  static const std::vector<ListingForm> kForms = {
      btf_form(), ptype_form(), pahole_form(), record_layouts_form(), class_hierarchy_form(), jol_form(), structlayout_form(),
  };
  return kForms;
}

std::string unquoted(std::string_view text) {
  const bool is_binary = text.find('\0') != text.npos;
  if (is_binary) return std::string(text);
  std::vector<std::string> lines = unquoted_lines(text);
  remove_comment_marks(lines);
  std::string plain;
  for (const std::string& line : lines) plain += line + "\n";
  return plain;
}

const ListingForm* listing_form_of(std::string_view excerpt) {
  const auto& forms = listing_forms();
  const auto found = std::ranges::find_if(forms, [excerpt](const ListingForm& form) { return form.is_like(excerpt); });
  return found == forms.end() ? nullptr : &*found;
}

Listing read_listing(const ListingForm& form, const ListingInput& input) {
  Listing listing = form.read(input);
  if (listing.structures.empty() && listing.unread.empty() && listing.of_base.empty())
    throw ReadError(fmt::format("{}: {}: it has no structure", input.file, form.name));
  leave_out_empty(listing);
  number_namesakes(listing.structures);
  number_namesakes(listing.of_base);
  return listing;
}

}  // namespace linebounce::types
