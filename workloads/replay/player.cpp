#include "workloads/replay/player.hpp"

#include <algorithm>
#include <utility>

namespace linebounce::workloads {
namespace {

using trace::Kind;

double nanoseconds(std::uint64_t picoseconds) {
  return static_cast<double>(picoseconds) / 1000;
}

}  // namespace

ReplayCpu::ReplayCpu(ReplayContext& context, int number, std::vector<std::uint32_t> streams)
    : context_(context),
      number_(number),
      delays_(context.order, static_cast<std::uint64_t>(number), 0),
      threads_(streams.size()),
      folded_(streams.size() > 1) {
  for (std::size_t i = 0; i < streams.size(); ++i) {
    threads_[i].stream = streams[i];
    threads_[i].operations.emplace(context.trace, streams[i]);
  }
}

void ReplayCpu::add_handlers(int vector, std::uint32_t stream) {
  handlers_.emplace(vector, Handlers{OperationCursor(context_.trace, stream), stream});
}

void ReplayCpu::run(Cpu& cpu) {
  cpu.set_interrupt_handler([this](Cpu& on, int vector) { interrupted(on, vector); });
  if (folded_) {
    run_folded(cpu);
  } else if (!threads_.empty()) {
    run_on(cpu, threads_.front());
  }
  take_last_handlers(cpu);
}

// A CPU whose program slept or spun when the recording ended still took interrupts. Runs the handlers that are left.
void ReplayCpu::take_last_handlers(Cpu& cpu) {
  programs_are_over_ = true;
  if (has_handlers()) cpu.enable_interrupts();
  while (has_handlers()) cpu.sleep();
}

bool ReplayCpu::has_handlers() {
  return std::ranges::any_of(handlers_, [](auto& of_vector) { return of_vector.second.operations.peek() != nullptr; });
}

// Runs a thread until it must wait, then the next thread. Inside a lock's section, a thread is suspended only when the
// section itself must wait.
void ReplayCpu::run_folded(Cpu& cpu) {
  const FunctionId outside = cpu.function();
  for (ReplayThread& thread : threads_) thread.inside = outside;
  std::size_t left = threads_.size();
  while (left > 0) {
    bool moved = false;
    for (ReplayThread& thread : threads_) {
      if (thread.ended) continue;
      const std::int64_t before = context_.differences[number_].operations;
      cpu.enter_function(thread.inside);
      if (run_on(cpu, thread)) --left;
      thread.inside = cpu.function();
      cpu.leave_function(outside);
      moved = moved || thread.ended || context_.differences[number_].operations != before;
    }
    if (!moved) wait_for_any(cpu);
  }
}

bool ReplayCpu::run_on(Cpu& cpu, ReplayThread& thread) {
  if (!thread.begun && !begin(cpu, thread)) return false;
  ReplayPlaces& places = context_.places;
  OperationCursor& cursor = *thread.operations;
  const std::optional<RecordedPace>& pace = context_.pace;
  const bool plain = !places.has_other_counts();  // every access goes to the recorded word
  while (cursor.peek() != nullptr) {
    for (const trace::Operation& operation : cursor.rest()) {
      if (operation.flags == 0 && plain && !thread.reads_again_with && !thread.first_of_pair) [[likely]] {
        if (operation.kind == Kind::load) {
          if (pace) pace->accessed(thread.ahead, true);
          cpu.load(places.at(operation.id, operation.argument, number_), operation.bytes);
          cursor.advance();
          count(cpu, 1);
          continue;
        }
        if (operation.kind == Kind::store && !places.holds_lock(operation.id)) {
          if (pace) pace->accessed(thread.ahead, false);
          cpu.store(places.at(operation.id, operation.argument, number_), 0, operation.bytes);
          cursor.advance();
          count(cpu, 1);
          continue;
        }
      }
      const std::uint64_t number = cursor.number();
      const int operations = 1 + (operation.is_memory() ? operation.repeats() : 0);
      if (!step(cpu, thread, operation)) return false;
      const bool skipped = cursor.number() != number;  // skips to the end of a wait by tries
      cursor.advance();
      count(cpu, operations);
      if (skipped) break;
    }
  }
  end(cpu, thread);
  return true;
}

void ReplayCpu::count(const Cpu& cpu, std::int64_t operations) {
  ReplayContext::Differences& counts = context_.differences[number_];
  counts.operations += operations;
  if (cpu.measures(cpu.local_time())) counts.measured_operations += operations;
}

// Returns true if the thread has begun. A thread without operations need not be created, because a trace may define a thread
// whose beginning it lacks.
bool ReplayCpu::begin(Cpu& cpu, ReplayThread& thread) {
  const bool created = context_.trace.symbols().streams[thread.stream].created && thread.operations->peek() != nullptr;
  if (created && !wait_for(cpu, thread, {.address = context_.places.begun(thread.stream), .number = 1})) return false;
  thread.begun = true;
  delay(cpu);
  return true;
}

void ReplayCpu::end(Cpu& cpu, ReplayThread& thread) {
  if (const Address ended = context_.places.ended(thread.stream); ended != 0) cpu.store_release(ended, 1);
  thread.ended = true;
  thread.ended_at = cpu.local_time();
}

// Reads the whole handler before running it, because another interrupt may come while the handler runs.
void ReplayCpu::interrupted(Cpu& cpu, int vector) {
  const auto known = handlers_.find(vector);
  ReplayContext::Differences& differences = context_.differences[number_];
  if (known == handlers_.end() || known->second.operations.peek() == nullptr) {
    ++differences.handlers_missing;
    return;
  }
  OperationCursor& cursor = known->second.operations;
  std::vector<trace::Operation> handler;
  for (const trace::Operation* next = cursor.peek(); next != nullptr; next = cursor.peek()) {
    const trace::Operation operation = *next;
    cursor.advance();
    if (operation.kind == Kind::handler_end) break;
    handler.push_back(operation);
  }
  ReplayThread thread;
  thread.stream = known->second.stream;
  for (const trace::Operation& operation : handler) step(cpu, thread, operation);
  count(cpu, static_cast<std::int64_t>(handler.size()));
  if (programs_are_over_ && !has_handlers()) cpu.wake(cpu.id());
}

std::int64_t ReplayCpu::handlers_left() {
  std::int64_t left = 0;
  for (auto& [vector, handlers] : handlers_) {
    for (const trace::Operation* next = handlers.operations.peek(); next != nullptr; next = handlers.operations.peek()) {
      if (next->kind == Kind::handler) ++left;
      handlers.operations.advance();
    }
  }
  return left;
}

bool ReplayCpu::step(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation) {
  switch (operation.kind) {
    case Kind::load:
    case Kind::store:
    case Kind::exchange:
    case Kind::fetch_add:
    case Kind::compare_exchange:
    case Kind::prefetch: access(cpu, thread, operation); break;
    case Kind::fence: cpu.fence(); break;
    case Kind::execute: execute(cpu, thread, operation.argument); break;
    case Kind::compute: cpu.compute(static_cast<std::int64_t>(operation.argument)); break;
    case Kind::blocked: wait_outside(cpu, operation.argument); break;
    case Kind::clock: cpu.now(); break;
    case Kind::enter: thread.callers.push_back(cpu.enter_function(context_.places.function(operation.id))); break;
    case Kind::leave:
      if (thread.callers.empty()) break;  // the function that the thread was in when the recording began
      cpu.leave_function(thread.callers.back());
      thread.callers.pop_back();
      break;
    case Kind::acquire:
    case Kind::try_acquire:
    case Kind::release:
    case Kind::acquire_shared:
    case Kind::try_acquire_shared:
    case Kind::release_shared: return use_lock(cpu, thread, operation);
    case Kind::barrier: return meet(cpu, thread, operation);
    case Kind::await: return await(cpu, thread, operation);
    case Kind::signal: cpu.fetch_add(context_.places.event(operation.id), 1); break;
    case Kind::wait:
      return wait_for(cpu, thread, {.address = context_.places.event(operation.id), .number = operation.argument});
    case Kind::create: cpu.store_release(context_.places.begun(operation.id), 1); break;
    case Kind::join: return wait_for(cpu, thread, {.address = context_.places.ended(operation.id), .number = 1});
    case Kind::sleep:
    case Kind::wake:
    case Kind::timer:
    case Kind::interrupt:
    case Kind::interrupts_off:
    case Kind::interrupts_on:
    case Kind::tally: use_processor(cpu, operation); break;
    case Kind::handler:
    case Kind::handler_end: break;
  }
  if (thread.reads_again_with) thread.section.push_back(operation);
  return true;
}

void ReplayCpu::execute(Cpu& cpu, ReplayThread& thread, std::uint64_t instructions) const {
  const auto count = static_cast<std::int64_t>(instructions);
  cpu.execute(count);
  if (!context_.pace) return;
  if (const std::int64_t cycles = context_.pace->stall(thread.ahead, count); cycles > 0) cpu.compute(cycles);
}

void ReplayCpu::access(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation) {
  const int times = operation.kind == Kind::load || operation.kind == Kind::store ? 1 + operation.repeats() : 1;
  std::uint64_t offset = operation.argument;
  const bool counts = context_.places.has_other_counts() && operation.kind != Kind::prefetch;
  for (int i = 0; i < times; ++i, offset += operation.bytes) {
    if (context_.pace) context_.pace->accessed(thread.ahead, operation.kind == Kind::load);
    if (counts && use_count(cpu, operation, offset)) continue;
    const Address address = context_.places.at(operation.id, offset, number_);
    if (operation.kind == Kind::load) {
      load(cpu, thread, operation, address);
    } else if (operation.kind == Kind::prefetch) {
      cpu.prefetch(address, (operation.flags & trace::kForWrite) != 0 ? kWriteAccess : kReadAccess);
    } else {
      write(cpu, operation, address, offset);
    }
  }
}

void ReplayCpu::load(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation, Address address) {
  if (const auto first = std::exchange(thread.first_of_pair, std::nullopt)) {
    const Cpu::Word one = {context_.places.at(first->id, first->argument, number_), first->bytes};
    cpu.load_pair(one, {address, operation.bytes});
  } else if ((operation.flags & trace::kPaired) != 0) {
    thread.first_of_pair = operation;
  } else {
    cpu.load(address, operation.bytes);
  }
}

void ReplayCpu::write(Cpu& cpu, const trace::Operation& operation, Address address, std::uint64_t offset) {
  const int bytes = operation.bytes;
  const bool release = (operation.flags & trace::kRelease) != 0;
  if (operation.kind != Kind::store) delay(cpu);
  Value count = 0;
  if ((operation.flags & trace::kCounted) != 0) {
    count = context_.places.count_of(operation.id, offset, bytes);
    if (!own_writes_.empty()) count_own_write(operation.id, offset, bytes);
  }
  switch (operation.kind) {
    case Kind::exchange: return cpu.write_adding(OperationKind::exchange, address, count, bytes);
    case Kind::fetch_add: return cpu.write_adding(OperationKind::fetch_add, address, count, bytes);
    case Kind::compare_exchange: return cpu.write_adding(OperationKind::compare_exchange, address, count, bytes);
    default: break;
  }
  if (count != 0 || release || context_.places.holds_lock(operation.id)) {
    cpu.write_adding(OperationKind::store, address, count, bytes, release);
  } else {
    cpu.store(address, 0, bytes);
  }
}

void ReplayCpu::count_own_write(std::uint32_t object, std::uint64_t offset, int bytes) {
  for (OwnWrites* awaited : own_writes_) {
    const trace::Word& word = awaited->word;
    const auto begin = static_cast<std::uint64_t>(word.offset);
    const bool covers = word.object == object && offset <= begin &&
                        begin + static_cast<std::uint64_t>(word.bytes) <= offset + static_cast<std::uint64_t>(bytes);
    if (covers) ++awaited->count;
  }
}

void ReplayCpu::use_processor(Cpu& cpu, const trace::Operation& operation) {
  switch (operation.kind) {
    case Kind::sleep: return sleep(cpu, operation);
    case Kind::wake: return cpu.wake(CpuId(context_.cpu_of.at(operation.id)));
    case Kind::timer: return cpu.set_timer(nanoseconds(operation.argument), static_cast<int>(operation.id));
    case Kind::interrupt: {
      const CpuId target(context_.cpu_of.at(operation.id >> 16U));
      return cpu.interrupt_later(target, static_cast<int>(operation.id & 0xFFFFU), nanoseconds(operation.argument));
    }
    case Kind::interrupts_off: return cpu.disable_interrupts();
    case Kind::interrupts_on: return cpu.enable_interrupts();
    case Kind::tally:
      ++context_.differences[number_].tallies;
      return cpu.tally(static_cast<int>(operation.id), static_cast<std::int64_t>(operation.argument));
    default: return;
  }
}

}  // namespace linebounce::workloads
