// MemoryMap: what variables and allocated blocks are called and made of.
#include <dwarf.h>
#include <fmt/format.h>

#include <utility>

#include "record/collector/memory_map.hpp"

namespace linebounce::record {

namespace {

// Blocks of as many sizes are buffers: their size says nothing of what is in them.
constexpr int kMostSizesOfSite = 8;
// Of the C library's blocks.
constexpr int kBlockAlignment = 16;

// An array of structures: each is an object. An array of scalars is one object.
const Type* element_of_array(const Type& type) {
  const bool is_array_of_structures = type.element != nullptr && type.element->has_members() && type.elements > 0;
  return is_array_of_structures ? type.element : nullptr;
}

bool address_of(Dwarf_Die& variable, Dwarf_Addr& address) {
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  if (dwarf_attr(&variable, DW_AT_location, &attribute) == nullptr) return false;
  if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1) return false;
  address = operations[0].number;
  return operations[0].atom == DW_OP_addr;
}

}  // namespace

// Gives the block its structure, and elements if it has more than one.
void MemoryMap::shape(Block& block, const Type& type, const std::string& structure_name) {
  std::vector<trace::Field> fields = fields_of(type);
  if (fields.empty()) return;
  const std::string& name = type.name.empty() ? structure_name : type.name;
  block.structure = structure(name, type.bytes, std::max(type.alignment, 1), std::move(fields));
}

void MemoryMap::add_variables() {
  image_->for_new_units([this](Dwarf_Die& unit, std::uint64_t bias) {
    types_.note_types_of(unit);
    add_variables_in(unit, bias, "");
  });
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
  } while (dwarf_siblingof(&child, &child) == 0);
}

void MemoryMap::add_variable(Dwarf_Die& variable, std::uint64_t bias, const std::string& prefix) {
  Dwarf_Addr address = 0;
  if (!address_of(variable, address)) return;
  const Type* type = types_.of(variable);
  const std::string name = prefix + name_of(variable);
  if (type == nullptr || type->bytes <= 0 || name.empty() || variables_.contains(address + bias)) return;
  Block block{.address = address + bias, .bytes = static_cast<std::uint64_t>(type->bytes), .name = name};
  const Type* element = element_of_array(*type);
  block.element_bytes = element == nullptr ? block.bytes : static_cast<std::uint64_t>(element->bytes);
  block.is_numbered = element != nullptr;
  shape(block, element == nullptr ? *type : *element, name);
  variables_[block.address] = add_block(std::move(block));
}

void MemoryMap::allocated(std::uint64_t address, std::uint64_t bytes, std::uint64_t element_bytes,
                          std::span<const std::uint64_t> frames) {
  if (bytes == 0) return;
  const AllocationSite& site = sites_.at(frames);
  const auto [known, is_new] = known_blocks_.try_emplace({address, bytes, &site}, trace::kNone);
  if (is_new) {
    known->second = add_block(heap_block(address, bytes, element_bytes, site));
  } else {
    cover(known->second);
  }
}

MemoryMap::Block MemoryMap::heap_block(std::uint64_t address, std::uint64_t bytes, std::uint64_t element_bytes,
                                       const AllocationSite& site) {
  Block block{.address = address, .bytes = bytes, .element_bytes = bytes, .name = site.name, .is_numbered = true,
              .is_heap = true};
  const Type* type = site.type;
  const auto size = type == nullptr ? 0 : static_cast<std::uint64_t>(type->bytes);
  const bool fits = size > 0 && bytes % size == 0 && (element_bytes <= 1 || element_bytes % size == 0);
  if (fits && type->has_members()) {
    block.element_bytes = size;
    if (!type->name.empty()) block.name = type->name;
    shape(block, *type, site.name);
  } else if (fits && bytes > size) {
    shape(block, {.bytes = static_cast<std::int64_t>(bytes),
                  .alignment = type->alignment,
                  .element = type,
                  .elements = static_cast<std::int64_t>(bytes / size)},
          site.name);
  } else if (site.more_behind && size > 0 && bytes > size && type->has_members()) {
    block.name = type->name.empty() ? site.name : type->name;
    block.structure = structure(block.name, static_cast<std::int64_t>(bytes), type->alignment, fields_of(*type));
  } else if (structures_.contains({site.name, static_cast<std::int64_t>(bytes)}) || ++sizes_[site.name] <= kMostSizesOfSite) {
    block.structure = structure(site.name, static_cast<std::int64_t>(bytes), kBlockAlignment, {});
  }
  std::uint64_t& number = numbers_[block.name];
  block.first_number = number;
  number += (bytes + block.element_bytes - 1) / block.element_bytes;
  return block;
}

}  // namespace linebounce::record
