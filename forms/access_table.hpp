// Reads tables of the code paths that use each field of a structure, like Documentation/networking/net_cachelines in Linux. A
// row has a field, its type, and how each path uses it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

enum class FieldUse : std::uint8_t { none, read, read_write, write };

// How a path uses a field. Only one of every `once_in` passes uses it.
struct PathUse {
  FieldUse use = FieldUse::none;
  int once_in = 1;
};

struct AccessRow {
  std::string type, name;     // "u32", "rcv_nxt"; without the number of elements and of bits
  int elements = 1;           // of an array
  int bits = 0;               // the width of a bit field in bits; 0 for any other field
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
  std::map<std::string, int> threads;  // by path: the number of its threads, if the table states it
  int objects = 1;                     // how many objects of the structure the threads share
};

// Errors: trace::TraceError with the line.
AccessTable read_access_table(const std::filesystem::path& file);

// Sizes in bytes, by type name, of types that plain C does not determine.
using TypeSizes = std::map<std::string, int>;

// Lays the structure out on a 64-bit machine, from the fields' types. Leaves out a field of unknown size that no path
// touches; `left_out` receives its type. Errors: trace::TraceError for a touched field of unknown size.
workloads::Layout layout_of_types(const AccessTable& table, const TypeSizes& sizes, std::vector<std::string>& left_out);

// Finds the field with this name. A union or a group of bit fields is one field, and is found by the name of any member. The
// name of a nested structure finds its first field. Null if there is no such field.
const workloads::Field* field_called(const workloads::Layout& layout, const std::string& name);

// True for types whose values programs change with atomic operations, such as counts and locks.
bool is_atomic_type(std::string_view type);

}  // namespace linebounce::sim
