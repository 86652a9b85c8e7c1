// BTF, the type information in Linux kernels, kernel modules and BPF programs. Reads it as it stands in files (the section .BTF
// of an ELF file, /sys/kernel/btf) and as bpftool prints it (`bpftool btf dump ... format raw`, with or without -j).
//
// The types of one BTF object are numbered, and refer to each other by number. Those of a kernel module ("split" BTF) continue
// the numbers of the kernel's, its base, and refer to it.
//
// What BTF does not have: unnamed bit-fields, alignments, virtual bases, packed attributes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "types/listing.hpp"

namespace linebounce::types {

enum class BtfKind : std::uint8_t {
  unknown,
  integer,
  pointer,
  array,
  structure,
  union_type,
  enumeration,
  forward,
  type_definition,
  volatile_type,
  const_type,
  restrict_type,
  function,
  prototype,
  variable,
  section,
  floating,
  declaration_tag,
  type_tag,
  enumeration64,
};
inline constexpr int kBtfKinds = 20;

struct BtfMember {
  std::string name;                                     // empty: an anonymous structure or union
  std::int64_t type = 0, bit_offset = 0, bitfield = 0;  // `bitfield`: its width in bits; 0 for any other member
};

struct BtfType {
  BtfKind kind = BtfKind::unknown;
  std::string name{};
  std::int64_t size = 0;                             // in bytes
  std::int64_t type = 0;                             // that it refers to
  std::int64_t elements = 0;                         // of an array
  std::int64_t integer_bits = 0, integer_begin = 0;  // of an integer: its width, and where it begins in its bytes
  std::vector<BtfMember> members{};
  bool is_cut = false;  // a text has only some of its members

  [[nodiscard]] bool is_aggregate() const { return kind == BtfKind::structure || kind == BtfKind::union_type; }
};

struct Btf {
  std::map<std::int64_t, BtfType> types{};  // by number; a part of bpftool's text may lack some
  std::shared_ptr<const Btf> base{};        // nullptr: none
  // Split BTF without its base: numbers below the first are those of a base that was not given.
  bool lacks_base = false;
  // A base that has only names and sizes (the section .BTF.base of a module that was built apart from its kernel).
  bool is_distilled = false;
  std::string strings{};  // of the binary form, because those of a module continue its kernel's
  bool is_binary = false;

  // nullptr if there is no such type.
  [[nodiscard]] const BtfType* find(std::int64_t number) const;
};

// Errors: ReadError.
std::shared_ptr<const Btf> read_btf(std::string_view bytes, const std::string& file, std::shared_ptr<const Btf> base);
std::shared_ptr<const Btf> read_binary_btf(std::string_view bytes, const std::string& file, std::shared_ptr<const Btf> base);
std::shared_ptr<const Btf> read_btf_text(std::string_view text, const std::string& file, std::shared_ptr<const Btf> base);

bool is_binary_btf(std::string_view bytes);
bool is_btf_text(std::string_view text);

// The structures and unions that have a name of their own or by a typedef. With a base, also the base's whose names the module
// lacks.
Listing structures_of(const Btf& btf);

ListingForm btf_form();

}  // namespace linebounce::types
