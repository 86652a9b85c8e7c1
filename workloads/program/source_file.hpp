// The text of a program or lock that a user has written. Who opens files hands it in.
#pragma once

#include <string>

namespace linebounce::workloads {

struct SourceFile {
  std::string path;
  std::string text;

  // For messages: "my_lock.lua".
  [[nodiscard]] std::string name() const { return path.substr(path.rfind('/') + 1); }
};

}  // namespace linebounce::workloads
