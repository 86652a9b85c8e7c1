// The source file of a Lua program, lock or counter. Its text is read by sim/, since workloads open no files.
#pragma once

#include <string>

namespace linebounce::workloads {

struct SourceFile {
  std::string path;
  std::string text;
  bool is_ours = false;  // true if the file ships with Linebounce, so that tests have shown that its loops end

  // The file's name without its folders, for messages: "my_lock.lua".
  [[nodiscard]] std::string name() const { return path.substr(path.rfind('/') + 1); }
};

}  // namespace linebounce::workloads
