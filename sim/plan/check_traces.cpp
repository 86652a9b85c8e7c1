#include "sim/plan/check_traces.hpp"

#include <fmt/format.h>

#include "trace/check.hpp"
#include "trace/recover.hpp"

namespace linebounce::sim {

void check_traces(const Plan& plan) {
  for (const auto& [file, sound] : plan.traces) {
    trace::Reader reader(file, {.recover = !sound});
    if (!sound) trace::keep_what_makes_sense(reader);
    if (reader.operations() == 0) throw trace::TraceError(fmt::format("{}: there is no operation to replay", file));
    if (sound) trace::check(reader);
  }
}

}  // namespace linebounce::sim
