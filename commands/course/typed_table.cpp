#include "commands/course/typed_table.hpp"

#include <set>
#include <vector>

#include "commands/course/typed_accesses.hpp"

namespace linebounce::sim {

StateTableRun typed_table(const TraceOptions& options, const std::string& accesses, const Protocol& protocol,
                          std::size_t most) {
  refuse_settings(options, protocol, SeedOf::nothing);
  const AtomicCacheSpec spec = caches_of(options, options.overrides.machine);
  const std::vector<NamedAccess> typed = typed_accesses(accesses, spec.line_bytes);
  std::set<int> cpus;
  for (const NamedAccess& access : typed) cpus.insert(access.cpu);
  StateTableRun run{.table = std::make_unique<StateTable>(protocol, std::vector<int>{cpus.begin(), cpus.end()}, spec)};
  for (const NamedAccess& access : typed) {
    run.cut = run.table->rows() == most;
    if (run.cut) break;
    run.table->add(access);
  }
  return run;
}

}  // namespace linebounce::sim
