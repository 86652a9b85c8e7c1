// Makes descriptions of types for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "types/type.hpp"

namespace linebounce::types {

inline TypePtr scalar(std::int64_t bytes) {
  return std::make_shared<Type>(Type{.size = bytes, .alignment = scalar_alignment(bytes)});
}

inline TypePtr array(const TypePtr& element, std::int64_t elements) {
  return std::make_shared<Type>(Type{.kind = TypeKind::array,
                                     .size = element->size * elements,
                                     .alignment = element->alignment,
                                     .element = element,
                                     .elements = elements});
}

inline Member member(std::string name, std::int64_t offset, const TypePtr& type, MemberKind kind = MemberKind::member) {
  const bool has_bytes = kind != MemberKind::empty && kind != MemberKind::flexible_array;
  const std::int64_t bytes = kind == MemberKind::base_class || kind == MemberKind::virtual_base ? base_size(*type) : type->size;
  return {.name = std::move(name), .kind = kind, .bit_offset = offset * 8, .bits = has_bytes ? bytes * 8 : 0, .type = type};
}

inline Member bits(std::string name, std::int64_t bit, std::int64_t count, TypePtr type) {
  return {.name = std::move(name), .kind = MemberKind::bit_field, .bit_offset = bit, .bits = count, .type = std::move(type)};
}

inline TypePtr structure(std::string name, std::int64_t size, std::vector<Member> members,
                         TypeKind kind = TypeKind::structure) {
  auto type = std::make_shared<Type>(Type{.name = std::move(name), .kind = kind, .size = size, .members = std::move(members)});
  type->alignment = alignment_by_members(*type);
  return type;
}

}  // namespace linebounce::types
