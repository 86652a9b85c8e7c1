#include "sim/config/trace_layouts.hpp"

#include "trace/reader.hpp"
#include "workloads/replay/places.hpp"

namespace linebounce {

LayoutFile load_trace_layouts(const std::string& trace, int line_bytes) {
  const trace::Reader reader(trace);
  LayoutFile file{trace, "", line_bytes, {}};
  for (const trace::Object& object : reader.symbols().objects) {
    if (object.structure == trace::kNone) file.layouts.add(bytes_layout(object));
  }
  for (const trace::Structure& structure : reader.symbols().structures) file.layouts.add(layout_of(structure));
  return file;
}

}  // namespace linebounce
