// A table in which people say who touches what of a structure, as Documentation/networking/net_cachelines in Linux has it: a
// row for each field, with its type and, for each code path, how the path uses it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

enum class FieldUse : std::uint8_t { none, read, read_write, write };

// How one path uses a field: `use` in one of `once_in` passes.
struct PathUse {
  FieldUse use = FieldUse::none;
  int once_in = 1;
};

struct AccessRow {
  std::string type, name;     // "u32", "rcv_nxt"; without the number of elements and of bits
  int elements = 1;           // of an array
  int bits = 0;               // of a bit field; 0: none
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
  std::map<std::string, int> threads;  // CPUs of each path, as far as stated
  int objects = 1;                     // objects of the structure that are in use at the same time
};

// Errors: trace::TraceError with the line.
AccessTable read_access_table(const std::filesystem::path& file);

// Sizes of types by name, in bytes: for types that are not known otherwise.
using TypeSizes = std::map<std::string, int>;

// The structure as its types alone lay it out on a 64-bit machine. `left_out` receives the types of untouched fields whose size
// is not known. Errors: trace::TraceError for a touched one.
workloads::Layout layout_of_types(const AccessTable& table, const TypeSizes& sizes, std::vector<std::string>& left_out);

// The field of the layout with this name, alone or as one of a union's or a word's bit fields; null: there is none.
const workloads::Field* field_called(const workloads::Layout& layout, const std::string& name);

// Whether values of this type change by atomic operations: counts and locks.
bool is_atomic_type(std::string_view type);

}  // namespace linebounce::sim
