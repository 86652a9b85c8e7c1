// A type's fields for a trace or a layout, and the names of its parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/symbols.hpp"
#include "types/type.hpp"

namespace linebounce::types {

// Whether the type is a structure that has data: not a union, and not only empty members.
bool has_members(const Type& type);

// The members with bytes, by offset and without overlap. Nested structures and short arrays are expanded ("list.next",
// "lock[3]") unless there are too many. What shares bytes is one field, "a|b": bit-fields, and the members of a union without a
// name. A union with a name, or a type with variants, is one field. Bytes of an expanded member that none of its parts has,
// such as padding, follow as "list+12", so that the fields of a member cover all of it.
// A scalar or a long array of scalars has no fields, and a union has none in a trace. In a layout, an array of bytes is one
// field.
enum class FieldsFor : std::uint8_t { trace, layout };
std::vector<trace::Field> fields_of(const Type& type, FieldsFor use);

// The structure with its fields and its unexplained bytes.
trace::Structure structure_of(const Type& type, FieldsFor use = FieldsFor::trace);

// The name in source syntax of the part at this offset: "[33]", ".locks[3].mutex"; "+5" if the type has no name for it. Does
// not name the internals of C and C++ library types. REQUIRES: offset >= 0.
std::string path_in(const Type& type, std::int64_t offset);

}  // namespace linebounce::types
