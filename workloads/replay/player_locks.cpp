// Locks in a replay. What a try found then, and whether a reader had to read again, depended on time: now it may be otherwise,
// and the operations that follow are those of then.
#include <algorithm>

#include "workloads/replay/player.hpp"

namespace linebounce::workloads {
namespace {

using trace::Kind;

bool reads_again_with(const MeteredLock& lock) {
  return lock.traits().readers == Readers::read_again;
}

bool is_shared(Kind kind) {
  return kind == Kind::acquire_shared || kind == Kind::try_acquire_shared || kind == Kind::release_shared;
}

auto held_alone(ReplayThread& thread, const trace::Operation& operation) {
  return std::ranges::find_if(thread.held_alone, [&](const ReplayThread::HeldAlone& it) { return it.lock == operation.id; });
}

}  // namespace

bool ReplayCpu::use_lock(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation) {
  const bool gives = operation.kind == Kind::release || operation.kind == Kind::release_shared;
  if (gives) {
    give(cpu, thread, operation);
  } else if (!take(cpu, thread, operation)) {
    return false;
  }
  if (thread.reads_again_with && *thread.reads_again_with != operation.id) thread.section.push_back(operation);
  return true;
}

// A try that got the lock then and does not now goes on without it: it must not wait where it holds others. No lock has a try
// for readers: they have it alone. Where a lock has none at all, a try that got it then waits for it, and others are left out.
bool ReplayCpu::take(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation) {
  MeteredLock& lock = context_.places.lock(operation.id);
  const bool tried = operation.kind == Kind::try_acquire || operation.kind == Kind::try_acquire_shared;
  const bool tries = tried && lock.traits().tries;
  if (tried && !tries && (operation.flags & trace::kFailed) != 0) return true;
  std::int64_t& differences = context_.differences[number_].tries;
  if (is_shared(operation.kind) && (operation.flags & trace::kFailed) == 0) {
    if (const auto alone = held_alone(thread, operation); alone != thread.held_alone.end()) {
      ++alone->again;
      return true;
    }
  }
  if (folded_ && is_kept_by_another(lock, operation)) {
    if (!tries) return false;
    if ((operation.flags & trace::kFailed) != 0) return true;
    ++differences;
    thread.not_had.push_back(operation.id);
    return true;
  }
  delay(cpu);
  if (tries) {
    const bool had_then = (operation.flags & trace::kFailed) == 0;
    const bool has = lock.try_acquire(cpu);
    if (has != had_then) ++differences;
    if (!has && had_then) thread.not_had.push_back(operation.id);
    if (has && !had_then) lock.release(cpu);
    if (has && had_then && folded_) held_here_[operation.id].alone = true;
    if (has && had_then && is_shared(operation.kind)) thread.held_alone.push_back({.lock = operation.id, .as_writer = true});
    return true;
  }
  if (is_shared(operation.kind)) {
    lock.acquire_shared(cpu);
    if (folded_) ++held_here_[operation.id].readers;
    if (lock.traits().readers == Readers::one_by_one || !lock.traits().readers_nest)
      thread.held_alone.push_back({.lock = operation.id});
    if (reads_again_with(lock) && !thread.reads_again_with) {
      thread.reads_again_with = operation.id;
      thread.section.clear();
    }
    return true;
  }
  lock.acquire(cpu);
  if (folded_) held_here_[operation.id].alone = true;
  return true;
}

// Little against any section, and enough for another CPU to come first. A faster or slower memory would do the same, but not on
// a machine whose bus rounds it up to a cycle of its own.
void ReplayCpu::delay(Cpu& cpu) {
  if (context_.order == 0) return;
  constexpr std::uint64_t kBelowCycles = 16;
  cpu.compute(static_cast<std::int64_t>(delays_.below(kBelowCycles)));
}

// Whether it must wait for what threads of this CPU hold: while it does, they can go on.
bool ReplayCpu::is_kept_by_another(const MeteredLock& lock, const trace::Operation& operation) const {
  const auto held = held_here_.find(operation.id);
  if (held == held_here_.end()) return false;
  const Readers readers = lock.traits().readers;
  const bool is_reader = operation.kind == Kind::acquire_shared;
  const bool readers_keep_it_out = is_reader ? readers == Readers::one_by_one : readers != Readers::read_again;
  return held->second.alone || (held->second.readers > 0 && readers_keep_it_out);
}

void ReplayCpu::give(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation) {
  const auto not_had = std::ranges::find(thread.not_had, operation.id);
  if (not_had != thread.not_had.end()) {
    thread.not_had.erase(not_had);
    return;
  }
  MeteredLock& lock = context_.places.lock(operation.id);
  bool as_writer = !is_shared(operation.kind);
  if (const auto alone = held_alone(thread, operation); alone != thread.held_alone.end()) {
    if (alone->again-- > 0) return;
    as_writer = alone->as_writer;
    thread.held_alone.erase(alone);
  }
  if (as_writer) {
    lock.release(cpu);
    held_here_.erase(operation.id);
    return;
  }
  const bool had_to_then = (operation.flags & trace::kFailed) != 0;
  if (const auto held = held_here_.find(operation.id); held != held_here_.end() && --held->second.readers == 0)
    held_here_.erase(held);
  const bool outermost = thread.reads_again_with == operation.id;
  if (!lock.release_shared(cpu) && !had_to_then) {
    read_again(cpu, thread, lock, outermost);
  }
  if (outermost) thread.reads_again_with.reset();
}

// The section once more, until no writer comes between.
void ReplayCpu::read_again(Cpu& cpu, ReplayThread& thread, MeteredLock& lock, bool outermost) {
  const std::vector<trace::Operation> section = std::move(thread.section);
  thread.reads_again_with.reset();
  do {
    ++context_.differences[number_].reads_again;
    lock.acquire_shared(cpu);
    if (!outermost) continue;
    for (const trace::Operation& operation : section) step(cpu, thread, operation);
  } while (!lock.release_shared(cpu));
}

}  // namespace linebounce::workloads
