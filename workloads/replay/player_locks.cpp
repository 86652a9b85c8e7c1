// Locks in a replay. What a try found then, and whether a reader had to read again, depended on time: now it may be otherwise,
// and the operations that follow are those of then.
#include <algorithm>

#include "workloads/replay/player.hpp"

namespace linebounce {

namespace {

using trace::Kind;

bool reads_again_with(const MeteredLock& lock) {
  return lock.traits().readers == Readers::read_again;
}

bool is_shared(Kind kind) {
  return kind == Kind::acquire_shared || kind == Kind::try_acquire_shared || kind == Kind::release_shared;
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
// for readers: they have it alone.
bool ReplayCpu::take(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation) {
  MeteredLock& lock = context_.places.lock(operation.id);
  const bool tries = operation.kind == Kind::try_acquire || operation.kind == Kind::try_acquire_shared;
  std::int64_t& differences = context_.differences[static_cast<std::size_t>(number_)].tries;
  if (folded_ && held_here_.contains(operation.id)) {
    if (!tries) return false;  // another thread of this CPU has it
    if ((operation.flags & trace::kFailed) != 0) return true;
    ++differences;
    thread.not_had.push_back(operation.id);
    return true;
  }
  if (tries) {
    const bool had_then = (operation.flags & trace::kFailed) == 0;
    const bool has = lock.try_acquire(cpu);
    if (has != had_then) ++differences;
    if (!has && had_then) thread.not_had.push_back(operation.id);
    if (has && !had_then) lock.release(cpu);
    if (has && had_then && folded_) held_here_[operation.id] = &thread;
    if (has && had_then && is_shared(operation.kind)) thread.had_alone.push_back(operation.id);
    return true;
  }
  if (is_shared(operation.kind)) {
    lock.acquire_shared(cpu);
    if (reads_again_with(lock) && !thread.reads_again_with) {
      thread.reads_again_with = operation.id;
      thread.section.clear();
    }
    return true;
  }
  lock.acquire(cpu);
  if (folded_) held_here_[operation.id] = &thread;
  return true;
}

void ReplayCpu::give(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation) {
  const auto not_had = std::find(thread.not_had.begin(), thread.not_had.end(), operation.id);
  if (not_had != thread.not_had.end()) {
    thread.not_had.erase(not_had);
    return;
  }
  MeteredLock& lock = context_.places.lock(operation.id);
  const auto had_alone = std::find(thread.had_alone.begin(), thread.had_alone.end(), operation.id);
  if (!is_shared(operation.kind) || had_alone != thread.had_alone.end()) {
    if (had_alone != thread.had_alone.end()) thread.had_alone.erase(had_alone);
    lock.release(cpu);
    held_here_.erase(operation.id);
    return;
  }
  const bool had_to_then = (operation.flags & trace::kFailed) != 0;
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
    ++context_.differences[static_cast<std::size_t>(number_)].reads_again;
    lock.acquire_shared(cpu);
    if (!outermost) continue;
    for (const trace::Operation& operation : section) step(cpu, thread, operation);
  } while (!lock.release_shared(cpu));
}

}  // namespace linebounce
