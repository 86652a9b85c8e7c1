// What a run looks like: its steps, its state, and the CPUs that wait.
#include <fmt/ranges.h>

#include "sim/interleavings/lock_run.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

std::int64_t signed_value(Value value, int bytes) {
  const int unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(value << unused) >> unused;
}

}  // namespace

std::string LockRun::waiting() const {
  std::vector<std::string> sentences;
  for (const CheckedCpu* cpu : all_) {
    if (cpu->has_ended()) continue;
    const Request& request = cpu->request();
    sentences.push_back(request.kind == StepKind::sleep
                            ? fmt::format("CPU {} sleeps", cpu->id().value)
                            : fmt::format("CPU {} waits for {}", cpu->id().value, place_name(request.address)));
  }
  return fmt::format("{}", fmt::join(sentences, ", "));
}

std::string LockRun::place_name(Address address) const {
  const AddressSpace::Place place = space_.find_byte(address);
  if (place.object == AddressSpace::kNoObject) return fmt::format("0x{:x}", address);
  const Symbol symbol = space_.symbol(space_.find(address));
  return symbol.field.empty() ? symbol.object : symbol.object + "." + symbol.field;
}

LockState LockRun::state() const {
  LockState now;
  if (views_) {
    for (const auto& [address, bytes, value] : views_->written()) {
      const bool is_ours = address >= ends_of_reading_ && address < end_of_reading(case_.cpus()).address;
      if (!is_ours) now.memory.emplace_back(place_name(address), value_name(value));
    }
  }
  for (const auto& [address, bytes] : memory_->written())
    now.memory.emplace_back(place_name(address), value_name(memory_->in_memory(address, bytes)));
  for (const CheckedCpu* cpu : all_) {
    std::vector<std::string>& buffer = now.buffers.emplace_back();
    for (const CheckedMemory::Store& store : memory_->buffer(cpu->id().value))
      buffer.push_back(fmt::format("{} = {}", place_name(store.address), value_name(store.value)));
    const Where where = where_[index(*cpu)];
    if (where == Where::writes || where == Where::reads || where == Where::reads_late) now.inside.push_back(cpu->id().value);
  }
  return now;
}

// Shows a pointer as "&" and the name of its target; any other value as a number.
std::string LockRun::value_name(Value value) const {
  const int object = object_of(value);
  return object < 0 ? fmt::format("{}", static_cast<std::int64_t>(value)) : "&" + space_.objects()[object].name;
}

// Says so if a step under c11 has chosen another possibility than the newest value.
std::string LockRun::weak_remark(const Request& request, const Choice& choice) const {
  if (!choice.is_old || request.kind >= StepKind::fence) return {};
  const ViewMemory::Word word = {request.address, request.bytes};
  const int newest = all_[choice.cpu]->places(choice.drawn != 0).front();
  const std::string value = value_name(views_->value_at(word, newest));
  if (request.kind == StepKind::load) return fmt::format(" (an old value; the newest is {})", value);
  return fmt::format(" (before the {} of another CPU)", value);
}

std::string LockRun::step_name(const Request& request, Value seen) const {
  const std::string place = request.address == 0 ? "" : place_name(request.address);
  switch (request.kind) {
    case StepKind::load: return fmt::format("load {}: {}", place, value_name(seen));
    case StepKind::store:
      return fmt::format("{} {} = {}", request.release ? "store_release" : "store", place, value_name(request.operand));
    case StepKind::exchange:
      return fmt::format("exchange {} = {}: was {}", place, value_name(request.operand), value_name(seen));
    case StepKind::fetch_add: {
      const std::int64_t addend = signed_value(request.operand, request.bytes);
      return fmt::format("fetch_add {} {} {}: was {}", place, addend < 0 ? "-" : "+", addend < 0 ? -addend : addend,
                         value_name(seen));
    }
    case StepKind::compare_exchange:
      return fmt::format("compare_exchange {} {} -> {}: {}", place, value_name(request.expected), value_name(request.operand),
                         seen == request.expected ? "done" : "was " + value_name(seen));
    case StepKind::fence: {
      if (request.order == MemoryOrder::acquire) return "load_fence";
      return request.order == MemoryOrder::release ? "store_fence" : "fence";
    }
    case StepKind::wait: return fmt::format("sees a change of {}", place);
    case StepKind::sleep: return "wakes up";
    case StepKind::draw: return fmt::format("draws {} of {}", seen, request.operand);
    case StepKind::clock: return fmt::format("looks at the clock: {} s", seen / 1'000'000'000);
    case StepKind::mark: return "[leaves]";
  }
  return {};
}

}  // namespace linebounce::sim
