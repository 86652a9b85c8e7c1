// One description of a structure, whatever it was read from: the debug information of a program, BTF, or another tool's
// listing.
//
// Readers fill it in and drop nothing: members may overlap, share addresses, or have no bytes. What becomes of the bytes in
// between is decided here, in one place (bytes_of()).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace linebounce::types {

struct Type;
using TypePtr = std::shared_ptr<const Type>;

enum class TypeKind : std::uint8_t { scalar, structure, union_type, array };

enum class MemberKind : std::uint8_t {
  member,          // a named member of any type
  bit_field,       //
  base_class,      // the non-virtual part of a base class; in Go, an embedded structure is a member
  virtual_base,    // at its place in a complete object
  vtable_pointer,  //
  empty,           // of an empty class: no bytes of its own, may lie anywhere in the structure
  variant,         // one of an enum's variants (Rust) or of a record's variant parts (Ada)
  flexible_array,  // behind the structure's end
  anonymous,       // a structure or union without a name, whose members are named like those of the structure
  gap,             // padding that the source names: Go's `_`
};

struct Member {
  std::string name{};  // empty: it has none
  MemberKind kind = MemberKind::member;
  std::optional<std::int64_t> bit_offset = 0;  // from the structure's beginning; none: the source does not tell
  // What it occupies. 0: nothing (empty, flexible_array). For a base class, without its virtual bases and its tail padding.
  std::int64_t bits = 0;
  TypePtr type{};              // nullptr: unknown
  std::int64_t alignment = 0;  // in bytes, if its declaration demands more than its type does; 0: its type's

  [[nodiscard]] std::int64_t begin() const { return bit_offset.value_or(0) / 8; }             // first byte
  [[nodiscard]] std::int64_t end() const { return (bit_offset.value_or(0) + bits + 7) / 8; }  // first byte behind it
};

// Bytes from `begin` to before `end`.
struct Bytes {
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const Bytes&, const Bytes&) = default;
};

struct Type {
  std::string name{};  // with namespaces and classes: "db::Node"; a scalar's: "unsigned int"; empty: it has none
  TypeKind kind = TypeKind::scalar;
  std::int64_t size = 0;          // in bytes
  std::int64_t alignment = 1;     // in bytes
  std::vector<Member> members{};  // of a structure or union, in the order of the source
  TypePtr element{};              // of an array; m[2][3] is one of 6 elements
  std::int64_t elements = 0;
  std::string source{};         // where a structure is defined: "/src/queue.h:12"; empty: unknown
  bool has_destructor = false;  // destroying an object runs C++ code

  // Bytes of which the source does not tell what they are: of members whose size or place it leaves open.
  std::vector<Bytes> untold{};

  // A variant (MemberKind::variant): has as many bytes as the whole, some of which belong to the tag or to other variants.
  bool is_variant = false;
  // False for sources that don't tell which members are over-aligned (BTF). Any padding up to a power of two is then believed.
  bool states_alignment = true;
  // Of a source that lists the gaps between members and at the end: these, and no other padding is believed.
  std::optional<std::vector<Bytes>> gaps{};

  [[nodiscard]] bool is_aggregate() const { return kind == TypeKind::structure || kind == TypeKind::union_type; }
};

// THE SUM RULE. Every byte of a structure is of a member, is a gap, or is unexplained. A gap is padding that the source's
// language calls for: up to the alignment of the next member or of the structure, the rest of a bit-field's unit, the byte of
// an empty class, the tail padding of a base. A byte that nothing explains may be a member that the reader has lost, so no
// result may rest on it.
enum class ByteUse : std::uint8_t { member, gap, unexplained };

struct UsedBytes {
  Bytes bytes{};
  ByteUse use = ByteUse::member;
  friend bool operator==(const UsedBytes&, const UsedBytes&) = default;
};

// Covers the type from byte 0 to its size, in order and without overlap; neighbours differ in their use.
std::vector<UsedBytes> bytes_of(const Type& type);

std::vector<Bytes> unexplained_bytes(const Type& type);

// "bytes 12 to 15 and 40"; empty for none.
std::string bytes_text(const std::vector<Bytes>& bytes);

// The end of the last byte that an object uses, at most the size: what follows is tail padding, which a derived class or the
// member behind a [[no_unique_address]] one may use.
std::int64_t data_size(const Type& type);
// The same without virtual bases, which a derived class places anew: what the type occupies as a base.
std::int64_t base_size(const Type& type);

// Whether objects of the type have no data: an empty class, or one that has only empty members and bases.
bool is_empty(const Type& type);

// The largest alignment, in bytes, that the members' offsets and the size allow, at most that of the members' types. For
// sources that don't tell a structure's alignment; less than the members' for a packed structure.
std::int64_t alignment_by_members(const Type& type);

// The alignment of a scalar of this size on a 64-bit machine: 1, 2, 4, 8 or 16.
std::int64_t scalar_alignment(std::int64_t bytes);

// The alignment of something of which only the size is known: the largest power of two, up to 8, that divides it.
std::int64_t natural_alignment(std::int64_t bytes);

}  // namespace linebounce::types
