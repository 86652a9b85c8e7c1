#include "commands/steps/step_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/core/cpu.hpp"
#include "models/machine/machine.hpp"
#include "models/timebase.hpp"

namespace linebounce::sim {
namespace {

std::optional<StepOperation> step_operation(const ProgramCall& call) {
  using What = ProgramCall::What;
  switch (call.what) {
    case What::memory:
      switch (call.operation.kind) {
        case OperationKind::load: return StepOperation::load;
        case OperationKind::store: return call.release ? StepOperation::store_release : StepOperation::store;
        case OperationKind::exchange: return StepOperation::exchange;
        case OperationKind::fetch_add: return StepOperation::fetch_add;
        case OperationKind::compare_exchange: return StepOperation::compare_exchange;
      }
      return std::nullopt;
    case What::prefetch: return StepOperation::prefetch;
    case What::fence: return StepOperation::fence;
    case What::execute:
    case What::compute: return StepOperation::compute;
    case What::sleep: return StepOperation::sleep;
    case What::wake: return StepOperation::wake;
    case What::timer: return StepOperation::timer;
    case What::interrupt: return StepOperation::interrupt;
    // Not recorded: these operations have no visible effect, or another call reports them.
    case What::pair:
    case What::clock:
    case What::enter:
    case What::leave:
    case What::interrupts_off:
    case What::interrupts_on:
    case What::tally: return std::nullopt;
  }
  return std::nullopt;
}

Value stored_value(const Operation& operation) {
  return operation.adds ? operation.expected : operation.operand;
}

}  // namespace

ProgramTap& StepRecorder::begin(Machine& machine, const AddressSpace& memory, const LockSet&) {
  machine_ = &machine;
  memory_ = &memory;
  const Timebase& timebase = machine.timebase();
  constexpr Tick kManyTicks = 1'000'000;
  facts_.tick_ns = fmt::format("{}/{}", timebase.to_ns(kManyTicks), kManyTicks);
  facts_.cpus = machine.cpus();
  facts_.line_bytes = memory.line_bytes();
  facts_.frames = memory.frames();
  for (const Function& function : memory.functions()) facts_.functions.push_back(function.name);
  for (const AddressSpace::Object& object : memory.objects())
    facts_.objects.push_back({object.name, memory.layouts()[object.layout].name, object.begin, object.size});
  doing_.resize(machine.cpus());
  return *this;
}

// Stops the run once enough steps are final, that is, before the machine's time. Before a later step, another core may still
// report one.
void StepRecorder::add(const RunStep& step) {
  steps_.push_back(step);
  if (steps_.size() < next_look_ || stopped_at_ != kNever) return;
  const Tick now = machine_->now();
  const std::size_t certain = std::count_if(steps_.begin(), steps_.end(),
                                            [now](const RunStep& s) { return s.time < now && s.kind != RunStepKind::data; });
  if (certain < limit_) {
    next_look_ = steps_.size() + (limit_ - certain);
    return;
  }
  stopped_at_ = now;
  throw StepLimitReached();
}

bool StepRecorder::spins(CpuId cpu) const {
  const std::vector<Doing>& doing = doing_[cpu.value];
  return !doing.empty() && doing.back().spins;
}

// True if the load repeats what the spin has already seen. Such a hit is not a step, because the engine may skip it and only
// count it.
bool StepRecorder::seen_before(CpuId cpu, Address address, Value value, bool may_repeat) {
  if (!spins(cpu)) return false;
  auto& seen = doing_[cpu.value].back().seen;
  const auto [found, first] = seen.emplace(address, value);
  if (!first && may_repeat && found->second == value) return true;
  found->second = value;
  return false;
}

void StepRecorder::row_ran(Tick time, Controller controller, int agent, LineAddr line, StateId state, EventId event,
                           StateId next) {
  add({.time = time,
       .kind = RunStepKind::row,
       .what = static_cast<std::uint8_t>(controller),
       .state = state,
       .event = event,
       .next = next,
       .agent = agent,
       .where = line.value});
}

void StepRecorder::directory_changed(Tick time, int directory, LineAddr line, int owner, std::uint64_t sharers) {
  add({.time = time, .kind = RunStepKind::directory, .agent = directory, .cpu = owner, .where = line.value, .fresh = sharers});
}

void StepRecorder::access_ran(Tick time, int agent, CpuId cpu, const Operation& operation, Value old, Value fresh,
                              Served served) {
  if (!operation.writes() && seen_before(cpu, operation.address, old, served == Served::hit)) return;
  name_word(operation.address, operation.bytes);
  add({.time = time,
       .kind = RunStepKind::access,
       .what = static_cast<std::uint8_t>(operation.access_kind()),
       .bytes = operation.bytes,
       .flag = served == Served::hit,
       .ordered = served == Served::order || served == Served::memory,
       .far = served == Served::memory,
       .agent = agent,
       .cpu = cpu.value,
       .where = operation.address,
       .old = old,
       .fresh = fresh});
}

void StepRecorder::data_taken(Tick time, Endpoint keeper, LineAddr line, std::span<const std::byte> bytes) {
  add({.time = time, .kind = RunStepKind::data, .from = keeper, .where = line.value, .fresh = taken_.size()});
  taken_.insert(taken_.end(), bytes.begin(), bytes.end());
}

std::uint32_t StepRecorder::sent(const SentMessage& message) {
  const auto number = static_cast<std::uint32_t>(steps_.size());
  add({.time = message.departs,
       .kind = RunStepKind::message,
       .what = static_cast<std::uint8_t>(message.what),
       .flag = message.carries_data,
       .message = message.message,
       .from = message.from,
       .to = message.to,
       .where = message.line.value,
       .arrives = message.arrives});
  return number;
}

void StepRecorder::store_buffered(Tick time, CpuId cpu, const Operation& operation) {
  add_buffer(time, cpu, operation, BufferMove::in, stored_value(operation));
}

void StepRecorder::store_drained(Tick time, CpuId cpu, const Operation& operation) {
  add_buffer(time, cpu, operation, BufferMove::out, stored_value(operation));
}

void StepRecorder::load_forwarded(Tick time, CpuId cpu, const Operation& operation, Value value) {
  if (seen_before(cpu, operation.address, value, true)) return;
  add_buffer(time, cpu, operation, BufferMove::read, value);
}

void StepRecorder::add_buffer(Tick time, CpuId cpu, const Operation& operation, BufferMove move, Value value) {
  name_word(operation.address, operation.bytes);
  add({.time = time,
       .kind = RunStepKind::buffer,
       .what = static_cast<std::uint8_t>(move),
       .bytes = operation.bytes,
       .cpu = cpu.value,
       .where = operation.address,
       .fresh = value});
}

void StepRecorder::called(const Cpu& cpu, const ProgramCall& call) {
  const std::optional<StepOperation> operation = step_operation(call);
  if (!operation || (call.what == ProgramCall::What::memory && spins(cpu.id()))) return;
  if (call.what == ProgramCall::What::memory) {
    const Value expected = call.operation.kind == OperationKind::compare_exchange ? call.operation.expected : 0;
    return add_operation(cpu, *operation, call.operation.address, call.operation.bytes, stored_value(call.operation), expected);
  }
  const auto amount =
      call.what == ProgramCall::What::compute || call.what == ProgramCall::What::execute ? call.amount : call.which;
  add_operation(cpu, *operation, call.operation.address, 0, static_cast<Value>(amount));
}

void StepRecorder::spin_begins(const Cpu& cpu, std::span<const Address> words, int bytes) {
  add_operation(cpu, StepOperation::spin, words.empty() ? 0 : words.front(), bytes, 0);
  doing_[cpu.id().value].push_back({.spins = true});
}

void StepRecorder::handler_begins(const Cpu& cpu, int vector) {
  add_operation(cpu, StepOperation::handler, 0, 0, static_cast<Value>(vector));
  doing_[cpu.id().value].push_back({.spins = false});
}

void StepRecorder::add_operation(const Cpu& cpu, StepOperation operation, Address address, int bytes, Value value,
                                 Value expected) {
  if (bytes > 0) name_word(address, bytes);
  add({.time = cpu.local_time(),
       .kind = RunStepKind::operation,
       .what = static_cast<std::uint8_t>(operation),
       .bytes = static_cast<std::uint8_t>(bytes),
       .function = cpu.function(),
       .cpu = cpu.id().value,
       .source_line = workload_->source_line(cpu.id()),
       .where = address,
       .old = expected,
       .fresh = value});
}

// Looks the name up now: after a failure, the run's memory is gone.
void StepRecorder::name_word(Address address, int bytes) {
  const auto [word, fresh] = facts_.words.try_emplace({address, bytes});
  if (!fresh) return;
  const AddressSpace::Place place = memory_->find_byte(address);
  if (place.object == AddressSpace::kNoObject) return;
  const AddressSpace::Object& object = memory_->objects()[place.object];
  if (object.array) {
    const bool one = object.size <= bytes;
    word->second = one ? object.name : fmt::format("{}[{}]", object.name, place.offset / static_cast<std::uint32_t>(bytes));
    return;
  }
  const Symbol symbol = memory_->symbol(place);
  word->second = symbol.object + (symbol.field.empty() ? "" : "." + symbol.field);
}

}  // namespace linebounce::sim
