// Reads a table with named entries that a program passes to a function, and refuses entries with unknown names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "workloads/lua/interpreter.hpp"

namespace linebounce::workloads {

class LuaTable {
 public:
  // Reads the table at `index` of Lua's stack, counted from its bottom. `what` is the table's name in messages, `legal` the
  // names of entries that it may have. Errors: LuaError, here and below.
  LuaTable(Interpreter& lua, int index, std::string what, std::initializer_list<std::string_view> legal);

  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] std::string text(const char* name) const;
  [[nodiscard]] std::string text(const char* name, const std::string& otherwise) const;
  [[nodiscard]] bool is_text(const char* name, std::string_view text) const;
  [[nodiscard]] std::int64_t integer(const char* name, std::int64_t otherwise, std::int64_t least, std::int64_t most) const;
  [[nodiscard]] double number(const char* name, double otherwise) const;
  [[nodiscard]] bool flag(const char* name, bool otherwise) const;
  // Returns the first entry without a name, which must be a text. Errors: LuaError if it is none.
  [[nodiscard]] std::string first_text() const;
  // Pushes an entry, or nil if there is no such entry. Returns the pushed value's type.
  int push(const char* name) const;

 private:
  [[noreturn]] void refuse(const char* name, std::string_view expected) const;

  Interpreter& lua_;
  int index_;
  std::string what_;
};

}  // namespace linebounce::workloads
