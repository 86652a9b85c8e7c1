// Structures as a listing describes them: members name their types, and some of those types are in the listing as well.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "types/listing.hpp"

namespace linebounce::types {

inline constexpr std::int64_t kListedPointerBytes = 8;  // listings are of 64-bit programs

struct Outline;

struct OutlineMember {
  std::string name{};
  MemberKind kind = MemberKind::member;
  std::string type{};                          // as the listing has it: "struct page *"; a base's is its name
  std::optional<std::int64_t> bit_offset = 0;  // none: the listing does not tell
  std::int64_t bytes = 0;                      // of all elements; of a bit-field's unit
  std::int64_t bits = 0;                       // of a bit-field
  std::optional<std::int64_t> elements{};      // of an array
  std::int64_t alignment = 0;                  // that the declaration demands, in bytes; 0: none
  bool has_unknown_size = false;               // `bytes` means nothing
  std::shared_ptr<Outline> inside{};           // of a structure whose members stand there as well
  // Of a bit-field in a listing that does not tell from which end of its unit it counts: its number, and the free bits that the
  // listing states beside it.
  std::optional<std::int64_t> bit_number{}, free_before{}, free_behind{};

  [[nodiscard]] std::int64_t begin() const { return bit_offset.value_or(0) / 8; }
};

struct Outline {
  std::string name{};
  TypeKind kind = TypeKind::structure;
  std::int64_t size = -1;  // -1: not stated, as for a union
  std::int64_t alignment = 0;
  bool has_exact_alignment = false;  // `alignment` is the structure's; else it is at least this
  bool is_packed = false;
  bool states_alignment = false;  // false: any padding up to a power of two is believed
  // A base class whose place the listing leaves open, such as a virtual base of a base, may lie in any hole.
  bool hides_bases = false;
  std::optional<std::vector<Bytes>> gaps{};  // as in Type
  int without_place = 0;                     // members that it lists without a place, such as static ones
  std::vector<OutlineMember> members{};
  std::vector<Outline> definitions{};  // of types within it, which are not members
  std::vector<Bytes> untold{};
  std::optional<std::int64_t> free_bits{};  // that the listing states in front of the next bit-field
};

// Where the members listed so far end, in bytes.
std::int64_t end_of_members(const Outline& outline);

// Notes that the listing states padding from `begin` on.
void add_gap(Outline& outline, std::int64_t begin, std::int64_t bytes);

// Notes that the listing states free bits here.
void note_free_bits(Outline& outline, std::int64_t bits);

// Collects a listing's structures, and makes types of them once all are known.
class NamedTypes {
 public:
  void add(Outline outline);
  void refuse(std::string name, std::string why) { unread_.push_back({std::move(name), std::move(why)}); }
  [[nodiscard]] bool is_empty() const { return outlines_.empty() && unread_.empty(); }

  Listing listing();

 private:
  TypePtr make(const Outline& outline);
  TypePtr made(std::size_t number);
  void add_members(Type& type, const Outline& outline);
  void add_variants(Type& type, const Outline& outline);
  Member member_of(const OutlineMember& given, Type& type, const Outline& outline);
  TypePtr type_of(const OutlineMember& given);
  TypePtr element_of(const OutlineMember& given, std::int64_t bytes);

  std::vector<Outline> outlines_;
  std::vector<Unread> unread_;
  std::multimap<std::string, std::size_t> by_name_;
  std::map<std::size_t, TypePtr> made_;
  std::set<std::size_t> open_;  // that are being made
};

}  // namespace linebounce::types
