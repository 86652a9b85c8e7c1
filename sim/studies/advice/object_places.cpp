#include "sim/studies/advice/object_places.hpp"

#include "models/machine_layout.hpp"
#include "models/memory/homes.hpp"
#include "models/memory/line_store.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/replay/homes_text.hpp"
#include "workloads/replay/places.hpp"
#include "workloads/replay/replay.hpp"

namespace linebounce::sim {

using namespace workloads;

ObjectPlaces object_places(const trace::Reader& reader, const SimulationInput& input) {
  LineStore store(input.machine.caches.back().line_bytes);
  const MachineLayout layout = lay_out(input.machine);
  Homes homes(input.machine, layout, store.line_bytes());
  AddressSpace memory(store, &homes, input.placement);
  LockSet locks(memory, input.machine.cpus, layout.cpus);
  const ReplayPlaces::Choices choices{.algorithm_of = recorded_algorithm,
                                      .home_of = [](const trace::Object& object) { return home_of(object.home); },
                                      .heap_shift = heap_shift_of(input.parameters)};
  const WorkloadSetup setting{memory, locks, input.machine, layout, input.seed, nullptr, &reader};
  const ReplayPlaces places(reader.symbols(), setting, choices);
  ObjectPlaces out{store.line_bytes(), {}};
  for (std::uint32_t object = 0; object < reader.symbols().objects.size(); ++object)
    out.begin.push_back(places.at(object, 0, 0));
  return out;
}

}  // namespace linebounce::sim
