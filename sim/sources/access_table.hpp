// A table that states which code paths use which fields of a structure, like Documentation/networking/net_cachelines in
// Linux: one row per field, with its type and how each path uses it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

enum class FieldUse : std::uint8_t { none, read, read_write, write };

// How a path uses a field: as `use` says, in one of every `once_in` passes.
struct PathUse {
  FieldUse use = FieldUse::none;
  int once_in = 1;
};

struct AccessRow {
  std::string type, name;     // "u32", "rcv_nxt"; without the number of elements and of bits
  int elements = 1;           // of an array
  int bits = 0;               // the width of a bit field; 0: not a bit field
  std::vector<PathUse> uses;  // by path
  std::string comment = {};
  std::int64_t line = 0;  // of the file

  [[nodiscard]] bool is_touched() const;
};

struct AccessTable {
  std::string file;
  std::string structure;               // empty: not stated
  std::vector<std::string> paths;      // "tx", "rx"
  std::vector<AccessRow> rows;         // in the file's order
  std::map<std::string, int> threads;  // the number of CPUs on each path, if the table states it
  int objects = 1;                     // how many objects of the structure are in use at the same time
};

// Errors: trace::TraceError with the line.
AccessTable read_access_table(const std::filesystem::path& file);

// Sizes in bytes of types that are not known otherwise, by name.
using TypeSizes = std::map<std::string, int>;

// The structure's layout as its types imply it on a 64-bit machine. Untouched fields of unknown size are left out; `left_out`
// receives their types. Errors: trace::TraceError for a touched field of unknown size.
workloads::Layout layout_of_types(const AccessTable& table, const TypeSizes& sizes, std::vector<std::string>& left_out);

// The layout's field with this name, which may also be that of one member of a union or of one bit field in a word; null if
// there is none.
const workloads::Field* field_called(const workloads::Layout& layout, const std::string& name);

// True if values of this type change by atomic operations, as counts and locks do.
bool is_atomic_type(std::string_view type);

}  // namespace linebounce::sim
