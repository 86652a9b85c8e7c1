#include "workloads/replay/recorder.hpp"

#include <cmath>
#include <utility>

namespace linebounce::workloads {
namespace {

using trace::Kind;

Kind kind_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::load: return Kind::load;
    case OperationKind::store: return Kind::store;
    case OperationKind::exchange: return Kind::exchange;
    case OperationKind::fetch_add: return Kind::fetch_add;
    case OperationKind::compare_exchange: return Kind::compare_exchange;
  }
  return Kind::load;
}

Kind kind_of(Composite::What what) {
  switch (what) {
    case Composite::What::acquire: return Kind::acquire;
    case Composite::What::try_acquire: return Kind::try_acquire;
    case Composite::What::release: return Kind::release;
    case Composite::What::acquire_shared: return Kind::acquire_shared;
    case Composite::What::release_shared: return Kind::release_shared;
    case Composite::What::barrier: return Kind::barrier;
    case Composite::What::sleep: return Kind::sleep;
  }
  return Kind::barrier;
}

bool takes(Composite::What what) {
  return what == Composite::What::acquire || what == Composite::What::try_acquire || what == Composite::What::acquire_shared;
}

}  // namespace

Recorder::Recorder(const AddressSpace& memory, const LockSet& locks, const Timebase& timebase, int cpus)
    : memory_(memory), locks_(locks), timebase_(timebase), contexts_(cpus), programs_(cpus) {
  for (const LockSet::Created& created : locks.created())
    lock_numbers_.emplace(created.lock, static_cast<std::uint32_t>(lock_numbers_.size()));
  for (std::size_t cpu = 0; cpu < contexts_.size(); ++cpu) contexts_[cpu].emplace_back(programs_[cpu]);
}

std::uint64_t Recorder::operations() const {
  std::uint64_t count = 0;
  for (const Operations& program : programs_) count += program.size();
  for (const auto& [key, handlers] : handlers_) {
    for (const Operations& handler : handlers) count += handler.size();
  }
  return count;
}

trace::Operation Recorder::at(Kind kind, Address address, int bytes) const {
  const AddressSpace::Place place = memory_.find_byte(address);
  return {.kind = kind, .bytes = static_cast<std::uint8_t>(bytes), .id = place.object, .argument = place.offset};
}

void Recorder::called(const Cpu& cpu, const ProgramCall& call) {
  Context& context = top(cpu);
  if (call.what == ProgramCall::What::memory && call.operation.writes()) note_own_write(cpu, call.operation);
  if (call.what == ProgramCall::What::sleep) context.slept_until = cpu.wakes();
  if (!records(context)) return;
  const auto which = static_cast<std::uint32_t>(call.which);
  const auto amount = static_cast<std::uint64_t>(call.amount);
  const auto picoseconds = [&] {  // rounded to ps; a replay gets the same tick from this
    return static_cast<std::uint64_t>(std::llround(timebase_.to_ns(timebase_.from_ns(call.ns)) * 1000));
  };
  Operations& to = *context.to;
  switch (call.what) {
    case ProgramCall::What::memory: return append_memory(context, call);
    case ProgramCall::What::pair: context.paired = true; return;
    case ProgramCall::What::prefetch: {
      trace::Operation operation = at(Kind::prefetch, call.operation.address, 1);
      if (call.operation.writes()) operation.flags = trace::kForWrite;
      to.push_back(operation);
      return;
    }
    case ProgramCall::What::fence: to.push_back({.kind = Kind::fence}); return;
    case ProgramCall::What::execute: to.push_back({.kind = Kind::execute, .argument = amount}); return;
    case ProgramCall::What::compute: to.push_back({.kind = Kind::compute, .argument = amount}); return;
    case ProgramCall::What::clock: to.push_back({.kind = Kind::clock}); return;
    case ProgramCall::What::enter: to.push_back({.kind = Kind::enter, .id = which}); return;
    case ProgramCall::What::leave: to.push_back({.kind = Kind::leave}); return;
    case ProgramCall::What::sleep:
      to.push_back({.kind = Kind::sleep, .argument = static_cast<std::uint64_t>(cpu.wakes())});
      return;
    case ProgramCall::What::wake: to.push_back({.kind = Kind::wake, .id = which}); return;
    case ProgramCall::What::timer: to.push_back({.kind = Kind::timer, .id = which, .argument = picoseconds()}); return;
    case ProgramCall::What::interrupt: {
      const auto target = which << 16U | static_cast<std::uint32_t>(call.vector);
      to.push_back({.kind = Kind::interrupt, .id = target, .argument = picoseconds()});
      return;
    }
    case ProgramCall::What::interrupts_off: to.push_back({.kind = Kind::interrupts_off}); return;
    case ProgramCall::What::interrupts_on: to.push_back({.kind = Kind::interrupts_on}); return;
    case ProgramCall::What::tally: to.push_back({.kind = Kind::tally, .id = which, .argument = amount}); return;
  }
}

void Recorder::append_memory(Context& context, const ProgramCall& call) {
  trace::Operation operation = at(kind_of(call.operation.kind), call.operation.address, call.operation.bytes);
  if (call.release) operation.flags |= trace::kRelease;
  if (std::exchange(context.paired, false)) operation.flags |= trace::kPaired;
  context.to->push_back(operation);
  if (!call.operation.writes()) return;
  for (const Held& held : context.held) {
    if (held.shared) readers_write_.insert(held.lock);
  }
}

void Recorder::applied(const Cpu& cpu, const Operation& operation, Value old) {
  Context& context = top(cpu);
  if (!operation.writes()) {
    if (!context.spins || context.inside > 0) return;
    for (Looked& word : context.spin.words) {
      if (word.address != operation.address) continue;
      word.now = written_.times(word.address, context.spin.bytes);
      word.now_forwarded = false;
      word.own_now = word.own;
    }
    return;
  }
  const bool failed = operation.kind == OperationKind::compare_exchange && old != operation.expected;
  if (!failed) {
    written_.written(operation.address, operation.bytes);
  } else if (records(context)) {
    context.to->back().flags |= trace::kFailed;
  }
}

void Recorder::forwarded(const Cpu& cpu, Address address) {
  Context& context = top(cpu);
  if (!context.spins || context.inside > 0) return;
  for (Looked& word : context.spin.words) {
    if (word.address != address) continue;
    word.now_forwarded = true;
    word.own_now = word.own;
  }
}

void Recorder::note_own_write(const Cpu& cpu, const Operation& operation) {
  for (Context& context : contexts_[cpu.id().value]) {
    if (!context.spins) continue;
    for (Looked& word : context.spin.words) {
      if (WrittenWords::covers(operation.address, operation.bytes, word.address, context.spin.bytes)) ++word.own;
    }
  }
}

void Recorder::spin_begins(const Cpu& cpu, std::span<const Address> words, int bytes) {
  Context& context = top(cpu);
  if (!records(context)) return;
  context.spins = true;
  context.spin = {.words = {}, .bytes = bytes};
  for (const Address word : words) context.spin.words.push_back({.address = word});
}

void Recorder::spin_polled(const Cpu& cpu) {
  Context& context = top(cpu);
  if (!context.spins || context.inside > 0) return;
  for (Looked& word : context.spin.words) {
    word.before = word.now;
    word.own_before = word.own_now;
  }
}

void Recorder::spin_ends(const Cpu& cpu) {
  Context& context = top(cpu);
  if (!context.spins || context.inside > 0) return;
  context.spins = false;
  if (holds_any(cpu)) {
    // In a section, the writer of the word may want this lock, if another lock algorithm grants it in another order.
    ++looks_in_sections_;
    append_looks(context, context.spin);
  } else {
    append_awaits(context);
  }
}

bool Recorder::holds_any(const Cpu& cpu) const {
  const auto& contexts = contexts_[cpu.id().value];
  return std::any_of(contexts.begin(), contexts.end(), [](const Context& context) { return !context.held.empty(); });
}

// Of the words that the spin looks at, the one that has changed since the previous look ended the spin.
void Recorder::append_awaits(Context& context) {
  const Spin& spin = context.spin;
  const auto changed = std::ranges::find_if(spin.words, [](const Looked& word) { return word.has_changed(); });
  const auto ends = changed == spin.words.end() ? spin.words.begin() : changed;
  for (auto word = spin.words.begin(); word != spin.words.end(); ++word) {
    const auto number =
        words_.try_emplace({word->address, spin.bytes}, static_cast<std::uint32_t>(words_.size())).first->second;
    trace::Operation operation{.kind = Kind::await, .id = number};
    if (word + 1 != spin.words.end()) operation.flags |= trace::kPaired;
    if (word == ends && word->now_forwarded) {
      operation.flags |= trace::kCounted;
      operation.bytes = static_cast<std::uint8_t>(std::min(word->own_now, 255));
    } else if (word == ends) {
      operation.argument = word->now;
    }
    context.to->push_back(operation);
  }
}

void Recorder::append_looks(Context& context, const Spin& spin) {
  for (const Looked& word : spin.words) context.to->push_back(at(Kind::load, word.address, spin.bytes));
}

void Recorder::composite_begins(const Cpu& cpu, const Composite& composite) {
  Context& context = top(cpu);
  if (context.inside++ > 0) return;
  context.composite = composite.what;
  if (composite.what == Composite::What::sleep) return;  // appended when the sleep is over
  std::uint32_t subject = 0;
  if (composite.what == Composite::What::barrier) {
    subject =
        barrier_numbers_.try_emplace(composite.barrier, static_cast<std::uint32_t>(barrier_numbers_.size())).first->second;
    parties_[composite.barrier] = composite.parties;
  } else {
    subject = lock_numbers_.at(composite.lock);
    if (contexts_[cpu.id().value].size() > 1) in_handlers_.insert(subject);
  }
  context.to->push_back({.kind = kind_of(composite.what), .id = subject});
  if (composite.what == Composite::What::release || composite.what == Composite::What::release_shared) {
    const bool shared = composite.what == Composite::What::release_shared;
    const auto held = std::find_if(context.held.rbegin(), context.held.rend(),
                                   [&](const Held& use) { return use.lock == subject && use.shared == shared; });
    if (held != context.held.rend()) context.held.erase(std::next(held).base());
  }
}

void Recorder::composite_ends(const Cpu& cpu, bool failed) {
  Context& context = top(cpu);
  if (--context.inside > 0) return;
  if (context.composite == Composite::What::sleep) {
    context.to->push_back(
        {.kind = Kind::sleep, .flags = trace::kCounted, .argument = static_cast<std::uint64_t>(context.slept_until)});
    return;
  }
  if (failed) context.to->back().flags |= trace::kFailed;
  if (!failed && takes(context.composite))
    context.held.push_back({context.to->back().id, context.composite == Composite::What::acquire_shared});
}

void Recorder::handler_begins(const Cpu& cpu, int vector) {
  const int number = cpu.id().value;
  Operations& to = handlers_[{number, vector}].emplace_back();
  to.push_back({.kind = Kind::handler});
  contexts_[number].emplace_back(to);
}

void Recorder::handler_ends(const Cpu& cpu) {
  top(cpu).to->push_back({.kind = Kind::handler_end});
  contexts_[cpu.id().value].pop_back();
}

}  // namespace linebounce::workloads
