// A program or lock in Lua is in error: a text for its author, with file and line.
#pragma once

#include <stdexcept>

namespace linebounce::workloads {

class LuaError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace linebounce::workloads
