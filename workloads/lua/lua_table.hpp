// Reads a table with named entries that a program hands over, and refuses those that nobody asked for.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "workloads/lua/interpreter.hpp"

namespace linebounce::workloads {

class LuaTable {
 public:
  // The table at `index` (absolute) of Lua's stack, which is called `what` in messages, and may have these named entries.
  // Errors of all: LuaError.
  LuaTable(Interpreter& lua, int index, std::string what, std::initializer_list<std::string_view> legal);

  [[nodiscard]] bool has(const char* name) const;
  [[nodiscard]] std::string text(const char* name) const;
  [[nodiscard]] std::string text(const char* name, const std::string& otherwise) const;
  [[nodiscard]] bool is_text(const char* name, std::string_view text) const;
  [[nodiscard]] std::int64_t integer(const char* name, std::int64_t otherwise, std::int64_t least, std::int64_t most) const;
  [[nodiscard]] double number(const char* name, double otherwise) const;
  [[nodiscard]] bool flag(const char* name, bool otherwise) const;
  // What stands first without a name.
  [[nodiscard]] std::string first_text() const;
  // Pushes an entry, nil if it is not there; returns its type.
  int push(const char* name) const;

 private:
  [[noreturn]] void refuse(const char* name, std::string_view expected) const;

  Interpreter& lua_;
  int index_;
  std::string what_;
};

}  // namespace linebounce::workloads
