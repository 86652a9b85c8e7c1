#include "types/btf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace linebounce::types {
namespace {

constexpr int kDeepestBtfType = 64;                              // of types within types
constexpr std::int64_t kLargestBtfType = std::int64_t{1} << 32;  // in bytes
constexpr std::string_view kTextOfKernel = "; types of a kernel module need those of its kernel (--base FILE)";

// Why a type, and all that contain it, can't be read.
class Unreadable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

bool is_qualifier(BtfKind kind) {
  return kind == BtfKind::type_definition || kind == BtfKind::const_type || kind == BtfKind::volatile_type ||
         kind == BtfKind::restrict_type || kind == BtfKind::type_tag;
}

// Makes each type once, however many others refer to it.
class TypeMaker {
 public:
  explicit TypeMaker(const Btf& btf) : btf_(btf), pointer_bytes_(pointer_bytes(btf)) {}

  // Errors: Unreadable.
  TypePtr make(std::int64_t number) {
    const auto known = made_.find(number);
    if (known != made_.end()) return known->second;
    const auto failed = unreadable_.find(number);
    if (failed != unreadable_.end()) throw Unreadable(failed->second);
    if (!open_.insert(number).second) throw Unreadable("a type in it contains itself");
    try {
      if (std::ssize(open_) > kDeepestBtfType) throw Unreadable("types within types are too deep");
      TypePtr type = made(number);
      open_.erase(number);
      return made_.emplace(number, std::move(type)).first->second;
    } catch (const Unreadable& error) {
      open_.erase(number);
      unreadable_.emplace(number, error.what());
      throw;
    }
  }

 private:
  // BTF does not state the size of a pointer. It is that of a `long` in all of Linux.
  static std::int64_t pointer_bytes(const Btf& btf) {
    for (const Btf* part = &btf; part != nullptr; part = part->base.get()) {
      for (const auto& [number, type] : part->types) {
        const bool is_long =
            type.name == "long" || type.name == "long int" || type.name == "long unsigned int" || type.name == "unsigned long";
        if (type.kind == BtfKind::integer && is_long && (type.size == 4 || type.size == 8)) return type.size;
      }
    }
    return 8;
  }

  TypePtr made(std::int64_t number) {
    const BtfType* const type = btf_.find(number);
    if (type == nullptr)
      throw Unreadable(fmt::format("type {} is not in the file{}", number, btf_.lacks_base ? kTextOfKernel : ""));
    if (is_qualifier(type->kind)) return qualified(*type);
    switch (type->kind) {
      case BtfKind::integer:
      case BtfKind::enumeration:
      case BtfKind::enumeration64:
      case BtfKind::floating: return scalar(type->name, type->size);
      case BtfKind::pointer: return scalar("", pointer_bytes_);
      case BtfKind::array: return array(*type);
      case BtfKind::structure:
      case BtfKind::union_type: return aggregate(*type, is_in_distilled_base(number));
      case BtfKind::forward: throw Unreadable(fmt::format("{} is only declared", type->name));
      default: throw Unreadable(fmt::format("type {} has no size", number));
    }
  }

  // A structure without a name has that of its typedef.
  TypePtr qualified(const BtfType& type) {
    TypePtr of = make(type.type);
    if (type.kind != BtfKind::type_definition || !of->is_aggregate() || !of->name.empty()) return of;
    Type named = *of;
    named.name = type.name;
    return std::make_shared<const Type>(std::move(named));
  }

  static TypePtr scalar(const std::string& name, std::int64_t bytes) {
    if (bytes > kLargestBtfType) throw Unreadable("a type in it is too large");
    Type type{.name = name, .kind = TypeKind::scalar, .size = bytes, .alignment = scalar_alignment(bytes)};
    return std::make_shared<const Type>(std::move(type));
  }

  TypePtr array(const BtfType& of) {
    TypePtr element = make(of.type);
    if (element->size > 0 && of.elements > kLargestBtfType / element->size) throw Unreadable("an array in it is too large");
    Type type{.kind = TypeKind::array, .size = element->size * of.elements, .alignment = element->alignment};
    type.elements = of.elements;
    type.element = std::move(element);
    return std::make_shared<const Type>(std::move(type));
  }

  [[nodiscard]] bool is_in_distilled_base(std::int64_t number) const {
    return btf_.base != nullptr && btf_.base->is_distilled && !btf_.types.contains(number);
  }

  TypePtr aggregate(const BtfType& of, bool is_distilled) {
    if (of.is_cut) throw Unreadable("the text is cut off: members are missing");
    if (of.size > kLargestBtfType) throw Unreadable("is too large");
    if (is_distilled) return scalar(of.name, of.size);
    Type type{.name = of.name, .size = of.size};
    type.kind = of.kind == BtfKind::union_type ? TypeKind::union_type : TypeKind::structure;
    type.states_alignment = false;
    // All of it is of unnamed bit-fields, which BTF leaves out.
    if (of.members.empty() && of.size > 1) type.untold = {{0, of.size}};
    for (const BtfMember& one : of.members) {
      // pahole gives a member no type if it does not know it, such as C11's _Atomic ones.
      if (one.type == 0) {
        type.untold.push_back(bytes_up_to_next(of, one));
      } else {
        type.members.push_back(member(of, one));
      }
    }
    type.alignment = alignment_by_members(type);
    return std::make_shared<const Type>(std::move(type));
  }

  // From a member's first byte to before the next member's, or to the end.
  static Bytes bytes_up_to_next(const BtfType& of, const BtfMember& given) {
    if (given.bit_offset / 8 > of.size) throw Unreadable(fmt::format("its member {} ends behind it", given.name));
    Bytes bytes{.begin = given.bit_offset / 8, .end = of.size};
    for (const BtfMember& other : of.members) {
      if (other.bit_offset > given.bit_offset) bytes.end = std::min(bytes.end, other.bit_offset / 8);
    }
    return bytes;
  }

  Member member(const BtfType& of, const BtfMember& given) {
    Member member{.name = given.name, .bit_offset = given.bit_offset};
    try {
      member.type = make(given.type);
    } catch (const Unreadable& error) {
      throw Unreadable(fmt::format("{}: {}", given.name.empty() ? "an unnamed member" : given.name, error.what()));
    }
    member.bits = member.type->size * 8;
    if (!set_bit_field(member, given)) set_kind(member);
    if (member.bit_offset.value_or(0) + member.bits > of.size * 8)
      throw Unreadable(fmt::format("its member {} ends behind it", given.name));
    return member;
  }

  // Until 2018, BTF had a type for each width of bit-fields: an integer with fewer bits than its bytes have.
  [[nodiscard]] bool set_bit_field(Member& member, const BtfMember& given) const {
    std::int64_t width = given.bitfield;
    const BtfType* const type = plain(given.type);
    if (width == 0 && type != nullptr && type->kind == BtfKind::integer && type->integer_bits != 0 &&
        (type->integer_bits < type->size * 8 || type->integer_begin > 0)) {
      width = type->integer_bits;
      member.bit_offset = given.bit_offset + type->integer_begin;
    }
    if (width == 0 && (given.bit_offset % 8 == 0 || member.bits == 0)) return false;
    member.kind = member.name.empty() ? MemberKind::gap : MemberKind::bit_field;
    if (width != 0) member.bits = width;
    return true;
  }

  static void set_kind(Member& member) {
    const bool has_no_bytes = member.bits == 0;
    if (member.type->kind == TypeKind::array && member.type->elements == 0) {
      member.kind = MemberKind::flexible_array;
    } else if (has_no_bytes) {
      member.kind = MemberKind::empty;
    } else if (member.name.empty() && member.type->is_aggregate()) {
      member.kind = MemberKind::anonymous;
    } else if (member.name.empty()) {
      member.name = fmt::format("(unnamed, from byte {})", member.begin());
    }
  }

  [[nodiscard]] const BtfType* plain(std::int64_t number) const {
    const BtfType* type = btf_.find(number);
    for (int depth = 0; type != nullptr && is_qualifier(type->kind) && depth < kDeepestBtfType; ++depth)
      type = btf_.find(type->type);
    return type;
  }

  const Btf& btf_;
  std::int64_t pointer_bytes_;
  std::map<std::int64_t, TypePtr> made_;
  std::map<std::int64_t, std::string> unreadable_;
  std::set<std::int64_t> open_;  // that are being made
};

// The kernel's BTF, from a file or a listing; nullptr if none is given.
std::shared_ptr<const Btf> base_of(const ListingInput& input) {
  if (!input.base.empty() && !input.distilled_base.empty())
    throw ReadError(
        fmt::format("{}: brings its base along, in its section .BTF.base; leave out {}", input.file, input.base_file));
  if (!input.base.empty()) return read_btf(input.base, input.base_file, nullptr);
  if (input.distilled_base.empty()) return nullptr;
  Btf base = *read_binary_btf(input.distilled_base, input.file, nullptr);
  base.is_distilled = true;
  return std::make_shared<const Btf>(std::move(base));
}

Listing read_btf_listing(const ListingInput& input) {
  const std::shared_ptr<const Btf> btf = read_btf(input.bytes, input.file, base_of(input));
  Listing listing = structures_of(*btf);
  if (btf->base != nullptr && !btf->base->is_distilled) listing.of_base = structures_of(*btf->base).structures;
  return listing;
}

}  // namespace

const BtfType* Btf::find(std::int64_t number) const {
  const auto found = types.find(number);
  if (found != types.end()) return &found->second;
  return base == nullptr ? nullptr : base->find(number);
}

std::shared_ptr<const Btf> read_btf(std::string_view bytes, const std::string& file, std::shared_ptr<const Btf> base) {
  if (is_binary_btf(bytes)) return read_binary_btf(bytes, file, std::move(base));
  if (is_btf_text(bytes)) return read_btf_text(bytes, file, std::move(base));
  throw ReadError(fmt::format("{}: has no BTF: neither as a file of the kernel's nor as bpftool prints it", file));
}

Listing structures_of(const Btf& btf) {
  Listing listing{.origin = "BTF"};
  TypeMaker maker(btf);
  for (const auto& [number, type] : btf.types) {
    const bool is_alias = type.kind == BtfKind::type_definition;
    const BtfType* const of = is_alias ? btf.find(type.type) : &type;
    if (of == nullptr || !of->is_aggregate() || type.name.empty() || (is_alias && !of->name.empty())) continue;
    try {
      listing.structures.push_back(maker.make(number));
    } catch (const Unreadable& error) {
      listing.unread.push_back({type.name, error.what()});
    }
  }
  return listing;
}

ListingForm btf_form() {
  return {
      .name = "btf",
      .what = "BTF types: the file, or bpftool btf dump ... format raw",
      .marks = "[7] STRUCT 'NAME' size=64 vlen=3, and 'MEMBER' type_id=1 bits_offset=0; or the same as JSON, from bpftool -j",
      .because = "its lines are numbered types",
      .is_like = [](std::string_view excerpt) { return is_binary_btf(excerpt) || is_btf_text(excerpt); },
      .read = read_btf_listing};
}

}  // namespace linebounce::types
