#include "sim/config/trace_layouts.hpp"

#include "trace/reader.hpp"
#include "workloads/replay/places.hpp"

namespace linebounce::sim {

using namespace workloads;

LayoutFile load_trace_layouts(const std::string& trace, int line_bytes) {
  return {trace, "", line_bytes, layouts_of(trace::Reader(trace).symbols())};
}

}  // namespace linebounce::sim
