// The text of a program or lock that a user has written. Who opens files hands it in.
#pragma once

#include <string>

namespace linebounce::workloads {

struct SourceFile {
  std::string path;
  std::string text;
  bool is_ours = false;  // it ships with the program: tests have seen its loops end

  // For messages: "my_lock.lua".
  [[nodiscard]] std::string name() const { return path.substr(path.rfind('/') + 1); }
};

}  // namespace linebounce::workloads
