// The text of a user's program or lock. sim/ opens the file and hands its text in.
#pragma once

#include <string>

namespace linebounce::workloads {

struct SourceFile {
  std::string path;
  std::string text;

  // The file's name without folders, for messages: "my_lock.lua".
  [[nodiscard]] std::string name() const { return path.substr(path.rfind('/') + 1); }
};

}  // namespace linebounce::workloads
