// The part of MemoryMap that names variables and allocated blocks and finds their structures.
#include <dwarf.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

#include "record/collector/debug_entries.hpp"
#include "record/collector/memory_map.hpp"
#include "types/type_fields.hpp"

namespace linebounce::record {
namespace {

// From this size on (M_MMAP_THRESHOLD), malloc gives a block pages of its own, and the block lies at their beginning.
constexpr std::uint64_t kOwnPages = 128 * 1024;

// An allocation site with more sizes than this allocates buffers. A buffer's size says nothing about its content.
constexpr std::size_t kMostSizesOfSite = 8;
// Buffers, and blocks larger than the largest part, are not objects of their own. They are represented by parts of memory of
// these sizes.
constexpr std::uint64_t kSmallestPart = 4096, kLargestPart = std::uint64_t{1} << 30;
// Alignment of the C library's blocks.
constexpr int kBlockAlignment = 16;

// Returns the element type if the type is an array of structures or unions, such as pthread_mutex_t: each element is then an
// object. An array of scalars is one object; returns the type itself.
const Type* element_of_array(const Type& type) {
  const bool is_array_of_structures = type.element != nullptr && !type.element->members.empty() && type.elements > 0;
  return is_array_of_structures ? type.element.get() : nullptr;
}

// Whether the fields are those of std::mutex, std::atomic<int> or the like, whose internal members have no useful names.
bool is_wrapper(const std::vector<trace::Field>& fields) {
  return fields.size() == 1 && fields.front().name.starts_with("_M_");
}

// Returns the namespaces and classes ("app::") of a variable that is declared inside them but defined outside.
std::string prefix_of_declaration(Dwarf_Die& variable) {
  Dwarf_Attribute attribute;
  Dwarf_Die declaration;
  if (dwarf_formref_die(dwarf_attr(&variable, DW_AT_specification, &attribute), &declaration) == nullptr) return "";
  Dwarf_Die* scopes = nullptr;
  const int count = dwarf_getscopes_die(&declaration, &scopes);
  std::string prefix;
  for (int i = 1; i < count; ++i) {
    const bool is_unit = dwarf_tag(&scopes[i]) == DW_TAG_compile_unit;
    if (const std::string name = name_of(scopes[i]); !is_unit && !name.empty()) prefix.insert(0, name + "::");
  }
  std::free(scopes);
  return prefix;
}

bool address_of(Dwarf_Die& variable, Dwarf_Addr& address) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_attr(&variable, DW_AT_location, &attribute) == nullptr) return false;
  if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1) return false;
  Dwarf_Attribute result;
  if (operations[0].atom == DW_OP_addrx) {
    return dwarf_getlocation_attr(&attribute, operations, &result) == 0 && dwarf_formaddr(&result, &address) == 0;
  }
  address = operations[0].number;
  return operations[0].atom == DW_OP_addr;
}

// Chooses, among the types that the source names, the one that fits the block. Order of preference: the block is one object, or
// an array of calloc's element size; an array of structures; an array of scalars; one structure followed by more data. nullptr
// if none fits.
const Type* type_of_block(const AllocationSite& site, std::uint64_t bytes, std::uint64_t element_bytes) {
  const auto size = [](const Type* type) { return static_cast<std::uint64_t>(type->size); };
  const auto find = [&site](auto fits) {
    const auto found = std::ranges::find_if(site.types, fits);
    return found == site.types.end() ? nullptr : *found;
  };
  const Type* type =
      find([&](const Type* one) { return size(one) == bytes || (element_bytes > 1 && size(one) == element_bytes); });
  if (type == nullptr) type = find([&](const Type* one) { return types::has_members(*one) && bytes % size(one) == 0; });
  if (type == nullptr) type = find([&](const Type* one) { return bytes % size(one) == 0; });
  if (type != nullptr || !site.more_behind) return type;
  return find([&](const Type* one) { return types::has_members(*one) && size(one) < bytes; });
}

// Rounds a block's length up to one of a few lengths, so that blocks at one address become few objects. For each power of 2
// there are two lengths. An array gets a multiple of the element size; one element followed by other data gets a length that is
// not a multiple.
std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t type_bytes) {
  if (bytes % type_bytes == 0) return std::bit_ceil(bytes / type_bytes) * type_bytes;
  const std::uint64_t rounded = std::bit_ceil(bytes);
  return rounded % type_bytes == 0 ? rounded + 1 : rounded;
}

// If Shard has a destructor, `new Shard[64]` stores the number of elements before the first. Returns the bytes before the first
// element; 0 if there are none.
std::uint64_t bytes_before_elements(const AllocationSite& site, std::uint64_t bytes) {
  constexpr std::uint64_t kCountBytes = 8;
  for (const Type* type : site.types) {
    if (!site.is_new_array || !types::has_members(*type)) continue;
    const auto size = static_cast<std::uint64_t>(type->size);
    const std::uint64_t before = std::max(kCountBytes, static_cast<std::uint64_t>(type->alignment));
    const bool can_be = bytes > before && (bytes - before) % size == 0;
    if (can_be && (type->has_destructor || bytes % size != 0)) return before;
  }
  return 0;
}

}  // namespace

// Sets the description's structure, if the type has fields.
void MemoryMap::shape(Description& description, const Type& type, const std::string& structure_name) {
  trace::Structure made = types::structure_of(type);
  if (made.fields.empty() || is_wrapper(made.fields)) return;
  if (made.name.empty()) made.name = structure_name;
  description.structure = structure(std::move(made));
}

void MemoryMap::add_variables() {
  for (; units_read_ < image_->units().size(); ++units_read_) {
    ProgramImage::Unit unit = image_->units()[units_read_];
    Dwarf* information = dwarf_cu_getdwarf(unit.entry.cu);
    types_.note_types_of(information, dwarf_getelf(information));
    add_variables_in(unit.tree, unit.bias, "");
  }
}

void MemoryMap::add_variables_in(Dwarf_Die& scope, std::uint64_t bias, const std::string& prefix) {
  Dwarf_Die child;
  if (dwarf_child(&scope, &child) != 0) return;
  do {
    switch (dwarf_tag(&child)) {
      case DW_TAG_variable: add_variable(child, bias, prefix); break;
      case DW_TAG_namespace: {
        const std::string name = name_of(child);
        add_variables_in(child, bias, name.empty() ? prefix : prefix + name + "::");
        break;
      }
      case DW_TAG_subprogram:
      case DW_TAG_lexical_block: add_variables_in(child, bias, prefix); break;
      default: break;
    }
  } while (next_sibling(child));
}

void MemoryMap::add_variable(Dwarf_Die& variable, std::uint64_t bias, const std::string& prefix) {
  Dwarf_Addr address = 0;
  if (!address_of(variable, address)) return;
  const Type* type = types_.of(variable);
  const std::string name = prefix + prefix_of_declaration(variable) + name_of(variable);
  if (type == nullptr || type->size <= 0 || name.empty() || variables_.contains(address + bias)) return;
  Block block{.address = address + bias, .bytes = static_cast<std::uint64_t>(type->size)};
  const Type* element = element_of_array(*type);
  block.element_bytes = element == nullptr ? block.bytes : static_cast<std::uint64_t>(element->size);
  Description description{.name = name,
                          .is_numbered = element != nullptr,
                          .type = element == nullptr ? type : element,
                          .source = declared_at(variable)};
  shape(description, element == nullptr ? *type : *element, name);
  variables_[block.address] = add_block(block, std::move(description));
}

std::string MemoryMap::local_name(std::uint64_t address, std::span<const Frame> frames) {
  return local_variable(address, frames, *image_, types_);
}

void MemoryMap::allocated(std::uint64_t address, std::uint64_t bytes, std::uint64_t element_bytes, BlockKind kind,
                          std::span<const std::uint64_t> frames) {
  if (bytes == 0) return;
  const bool movable = !kind.aligned && bytes < kOwnPages;
  const AllocationSite& site = sites_.at(frames);
  const std::uint64_t before = bytes_before_elements(site, bytes);
  address += before;
  bytes -= before;
  std::uint64_t kept_bytes = bytes;
  const bool is_usual = is_usual_size(site, bytes);
  if (!is_usual || bytes > kLargestPart) {
    const Type* type = type_of_block(site, bytes, element_bytes);
    if (type == nullptr || !types::has_members(*type)) return cover_buffers(address, bytes, kind.is_shared, site);
    if (!is_usual) kept_bytes = rounded_up(bytes, static_cast<std::uint64_t>(type->size));
  }
  const std::uint32_t block = heap_block(address, kept_bytes, element_bytes, movable, site);
  if (kind.is_shared) note_shared(block);
  cover(block, address, address + bytes);
}

void MemoryMap::note_shared(std::uint32_t block) {
  if (std::ranges::find(shared_blocks_, block) == shared_blocks_.end()) shared_blocks_.push_back(block);
}

std::string MemoryMap::why_types_are_missing() const {
  if (!types_.missing_files().empty()) return types_.missing_files().front() + " can't be read";
  return types_.are_left_out() ? "the program was compiled with -g1, which leaves types out" : "";
}

std::vector<std::string> MemoryMap::shared_with_children() const {
  std::vector<std::string> names;
  for (const std::uint32_t number : std::span(shared_blocks_).first(inherited_)) {
    const Block& block = blocks_[number];
    const bool one = block.element_bytes >= block.bytes;
    const auto first = element_objects_.begin() + block.others;
    const auto last = one ? first : first + static_cast<std::ptrdiff_t>((block.bytes - 1) / block.element_bytes);
    const bool accessed =
        block.object != trace::kNone || std::any_of(first, last, [](std::uint32_t object) { return object != trace::kNone; });
    const std::string& name = descriptions_[number].name;
    if (accessed && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

bool MemoryMap::is_usual_size(const AllocationSite& site, std::uint64_t bytes) {
  std::vector<std::uint64_t>& sizes = sizes_[&site];
  if (std::ranges::find(sizes, bytes) != sizes.end()) return true;
  if (sizes.size() == kMostSizesOfSite) return false;
  sizes.push_back(bytes);
  return true;
}

std::uint32_t MemoryMap::heap_block(std::uint64_t address, std::uint64_t bytes, std::uint64_t element_bytes, bool movable,
                                    const AllocationSite& site) {
  const auto [known, is_new] = known_blocks_.try_emplace({address, bytes, &site}, trace::kNone);
  if (is_new) {
    known->second = new_heap_block({.address = address, .bytes = bytes, .element_bytes = bytes}, element_bytes, site);
    descriptions_[known->second].movable = movable;
  }
  return known->second;
}

// Maps the block to the aligned power-of-2 parts of memory that contain it, usually one or two. However often the program
// allocates, the number of parts is bounded by its memory.
void MemoryMap::cover_buffers(std::uint64_t address, std::uint64_t bytes, bool is_shared, const AllocationSite& site) {
  const std::uint64_t part_bytes = std::min(std::bit_ceil(std::max(bytes, kSmallestPart)), kLargestPart);
  const std::uint64_t end = address + bytes;
  while (address < end) {
    const std::uint64_t part = address / part_bytes * part_bytes;
    const std::uint64_t until = std::min(end, part + part_bytes);
    const auto [known, is_new] = known_blocks_.try_emplace({part, part_bytes, &site}, trace::kNone);
    if (is_new) {
      Description description{.name = site.name, .is_numbered = true, .is_heap = true};
      description.first_number = numbers_[site.name]++;
      known->second = new_block({.address = part, .bytes = part_bytes, .element_bytes = part_bytes}, std::move(description));
    }
    if (is_shared) note_shared(known->second);
    cover(known->second, address, until);
    address = until;
  }
}

std::uint32_t MemoryMap::new_heap_block(Block block, std::uint64_t element_bytes, const AllocationSite& site) {
  Description description{.name = site.name, .is_numbered = true, .is_heap = true, .source = site.source};
  const Type* type = type_of_block(site, block.bytes, element_bytes);
  const auto size = type == nullptr ? 0 : static_cast<std::uint64_t>(type->size);
  const auto bytes = static_cast<std::int64_t>(block.bytes);
  const bool fits = size > 0 && block.bytes % size == 0;
  description.type = type;
  if (fits && !type->members.empty()) {
    block.element_bytes = size;
    if (type->kind != types::TypeKind::union_type && !type->name.empty()) description.name = type->name;
    shape(description, *type, site.name);
  } else if (fits && block.bytes > size) {
    const Type array{.kind = types::TypeKind::array,
                     .size = bytes,
                     .alignment = type->alignment,
                     .element = TypePtr(TypePtr(), type),
                     .elements = static_cast<std::int64_t>(block.bytes / size)};
    shape(description, array, site.name);
  } else if (!fits && size > 0) {
    if (!type->name.empty()) description.name = type->name;
    trace::Structure made = types::structure_of(*type);
    made.name = description.name;
    made.size = bytes;
    description.structure = structure(std::move(made));
  } else {
    description.structure = structure({.name = site.name, .size = bytes, .alignment = kBlockAlignment});
  }
  std::uint64_t& number = numbers_[description.name];
  description.first_number = number;
  number += (block.bytes + block.element_bytes - 1) / block.element_bytes;
  return new_block(block, std::move(description));
}

}  // namespace linebounce::record
