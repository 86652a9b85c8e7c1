// Helpers for tests of the readers of listings.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "types/listing.hpp"

namespace linebounce::types {

// Reads a text in the form that it has.
inline Listing listing_of(std::string_view text, const ListingInput& also = {}) {
  const ListingForm* const form = listing_form_of(text);
  if (form == nullptr) throw ReadError("the text has no known form");
  return read_listing(*form, {text, "in", also.base, "base", also.distilled_base});
}

// Why the text is refused as a whole.
inline std::string refusal_of(std::string_view text, const ListingInput& also = {}) {
  try {
    listing_of(text, also);
  } catch (const ReadError& error) {
    return error.what();
  }
  return "no error";
}

// nullptr if there is none.
inline const Type* structure_in(const Listing& listing, std::string_view name) {
  const auto found = std::ranges::find_if(listing.structures, [name](const TypePtr& type) { return type->name == name; });
  return found == listing.structures.end() ? nullptr : found->get();
}

// "name@8+4" in bytes; "kind@8:3/2" for 2 bits from bit 3; "base?" for one without a place.
inline std::string member_text(const Member& member) {
  const std::string name = member.name.empty() ? "-" : member.name;
  if (!member.bit_offset) return name + "?";
  std::string text = name + "@" + std::to_string(*member.bit_offset / 8);
  if (member.kind == MemberKind::bit_field)
    return text + ":" + std::to_string(*member.bit_offset % 8) + "/" + std::to_string(member.bits);
  return text + "+" + std::to_string(member.bits / 8);
}

inline std::vector<std::string> members_of(const Type& type) {
  std::vector<std::string> out;
  for (const Member& member : type.members) out.push_back(member_text(member));
  return out;
}

// "NAME: bytes 4 to 7" for each structure that has unexplained bytes, and "NAME: why" for each that could not be read.
inline std::vector<std::string> doubts_of(const Listing& listing) {
  std::vector<std::string> out;
  for (const TypePtr& type : listing.structures) {
    const auto bytes = unexplained_bytes(*type);
    if (!bytes.empty()) out.push_back(type->name + ": " + bytes_text(bytes));
  }
  for (const Unread& one : listing.unread) out.push_back(one.name + ": " + one.why);
  return out;
}

}  // namespace linebounce::types
