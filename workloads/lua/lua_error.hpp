// An error in a Lua program, lock or counter. The message is for the author, and names the file and line.
#pragma once

#include <stdexcept>

namespace linebounce::workloads {

class LuaError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace linebounce::workloads
