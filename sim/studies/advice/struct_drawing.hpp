// A structure as a C programmer would write it with a proposal's changes.
#pragma once

#include <string>
#include <vector>

#include "trace/symbols.hpp"

namespace linebounce::sim {

struct StructDrawing {
  struct Array {
    std::string name;  // empty: the object itself is the array
    std::int64_t elements = 0, element_bytes = 0;
  };
  std::string name;
  int line_bytes = 64;
  std::vector<Array> arrays;                    // spread
  std::vector<std::vector<std::string>> split;  // a line each
  const trace::Structure* structure = nullptr;  // none: bytes without fields
};

// Lines of text, each with its end. Types are not known: fields are drawn as bytes.
std::string struct_drawing(const StructDrawing& drawing);

}  // namespace linebounce::sim
