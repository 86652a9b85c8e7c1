// The source file of a program, lock or counter. Its text is read by sim/, since workloads open no files.
#pragma once

#include <map>
#include <string>

namespace linebounce::workloads {

struct SourceFile {
  std::string path;
  std::string text;
  bool is_ours = false;       // true if the file ships with Linebounce, so that tests have shown that its loops end
  std::string compiled = {};  // of a lock in C or C++: the path of its shared object (sim/native)

  std::string names = {};  // for a lock in C or C++: the names of its fields and variables (sim/native/lock_names.hpp)
  // For a lock in C or C++: memory orders that replace those of the code, by the number of the place (NativeOrder).
  std::map<int, int> orders = {};

  // The file's name without its folders, for messages: "my_lock.lua".
  [[nodiscard]] std::string name() const { return path.substr(path.rfind('/') + 1); }
};

}  // namespace linebounce::workloads
