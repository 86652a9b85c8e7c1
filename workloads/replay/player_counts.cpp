// ReplayCpu's accesses to counts that the replay keeps in another form.
#include "workloads/replay/player.hpp"

namespace linebounce::workloads {

using trace::Kind;

// Returns false if the access goes to the recorded word. Each form delays the thread before an add as the recorded operation
// would, so that other orders (workload.order) are no cheaper with it.
bool ReplayCpu::use_count(Cpu& cpu, const trace::Operation& operation, std::uint64_t offset) {
  const ReplayPlaces::OtherCount* count = context_.places.other_count(operation.id, offset);
  if (count == nullptr) return false;
  const CountForm form = count->form;
  const bool summed = form == CountForm::per_thread || form == CountForm::striped;
  if (operation.kind == Kind::load) {
    if (!summed) return false;
    for (const Address copy : count->copies) cpu.load(copy, operation.bytes);
    return true;
  }
  // A store sets the count, as an initialisation does. A failed compare-exchange adds nothing, because its attempt is
  // repeated.
  if (operation.kind == Kind::store) return false;
  if ((operation.flags & trace::kFailed) != 0) return true;
  delay(cpu);
  if (form == CountForm::removed) return true;
  const Address own = count->copies[number_ % count->copies.size()];
  if (form == CountForm::striped) {
    cpu.fetch_add(own, 1, operation.bytes);
    return true;
  }
  cpu.load(own, operation.bytes);
  cpu.store(own, 0, operation.bytes);
  if (form == CountForm::batched && ++batched_[{operation.id, offset}] % kBatch == 0)
    cpu.fetch_add(context_.places.at(operation.id, offset, number_), kBatch, operation.bytes);
  return true;
}

}  // namespace linebounce::workloads
