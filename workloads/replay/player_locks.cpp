// Locks in a replay. The outcome of a try, and whether a reader had to read again, depended on the recording's timing. The
// replay's timing differs, but the operations that follow are the recorded ones.
#include <algorithm>
#include <utility>

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

bool is_try(Kind kind) {
  return kind == Kind::try_acquire || kind == Kind::try_acquire_shared;
}

bool takes(Kind kind) {
  return is_try(kind) || kind == Kind::acquire || kind == Kind::acquire_shared;
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

bool ReplayCpu::take(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation) {
  if (is_try(operation.kind)) return take_by_tries(cpu, thread, operation);
  MeteredLock& lock = context_.places.lock(operation.id);
  if (is_shared(operation.kind)) {
    if (const auto alone = held_alone(thread, operation); alone != thread.held_alone.end()) {
      ++alone->again;
      return true;
    }
  }
  if (folded_ && is_kept_by_another(lock, operation)) return false;
  delay(cpu);
  if (is_shared(operation.kind)) {
    lock.acquire_shared(cpu);
    took_shared(thread, operation);
  } else {
    lock.acquire(cpu);
    if (folded_) held_here_[operation.id].alone = true;
  }
  return true;
}

void ReplayCpu::took_shared(ReplayThread& thread, const trace::Operation& operation) {
  const MeteredLock& lock = context_.places.lock(operation.id);
  if (folded_) ++held_here_[operation.id].readers;
  if (lock.traits().readers == Readers::one_by_one || !lock.traits().readers_nest)
    thread.held_alone.push_back({.lock = operation.id});
  if (reads_again_with(lock) && !thread.reads_again_with) {
    thread.reads_again_with = operation.id;
    thread.section.clear();
  }
}

// Replays a try. A try that got the lock in the recording repeats until it gets the lock here. It gives up only if no thread
// could ever release the lock; the thread then continues without it. A try that failed in the recording, with another path
// after it, fails.
bool ReplayCpu::take_by_tries(Cpu& cpu, ReplayThread& thread, trace::Operation operation) {
  const std::optional<std::uint64_t> end =
      thread.operations ? context_.tries().end_of_wait(thread.stream, thread.operations->number()) : std::nullopt;
  if (!end && (operation.flags & trace::kFailed) != 0) {
    fail_again(cpu, operation);
    return true;
  }
  MeteredLock& lock = context_.places.lock(operation.id);
  const bool shared = is_shared(operation.kind);
  if (shared) {
    if (const auto alone = held_alone(thread, operation); alone != thread.held_alone.end()) {
      ++alone->again;
      if (end) skip_to(cpu, thread, *end);
      return true;
    }
  }
  thread.tries = folded_ && is_kept_by_another(lock, operation);
  const bool gives_up = std::exchange(thread.gives_up, false);
  if (thread.tries && !gives_up) return false;
  thread.tries = false;
  const TryHabit& habit = context_.tries().habit(context_.trace.symbols().locks[operation.id]);
  delay(cpu);
  bool failed = false;
  const auto again = [&] {
    failed = true;
    const bool tries_on = play_gap(cpu, thread, lock, habit, end);
    if (tries_on) delay(cpu);
    return tries_on;
  };
  const bool has = !gives_up && lock.acquire_by_tries(cpu, shared, again);
  if (end) skip_to(cpu, thread, *end);
  if (!has) {
    thread.not_had.push_back(operation.id);
  } else if (shared) {
    took_shared(thread, operation);
  } else if (folded_) {
    held_here_[operation.id].alone = true;
  }
  ReplayContext::Differences& differences = context_.differences[number_];
  ++differences.tries;
  if (!has || (failed && habit.decides())) ++differences.tries_otherwise;
  return true;
}

// The thread takes the recorded path of a failed try, whether it gets the lock now or not.
void ReplayCpu::fail_again(Cpu& cpu, const trace::Operation& operation) {
  MeteredLock& lock = context_.places.lock(operation.id);
  ReplayContext::Differences& differences = context_.differences[number_];
  ++differences.tries;
  if (!lock.traits().tries || (folded_ && is_kept_by_another(lock, operation))) return;
  delay(cpu);
  if (!lock.try_acquire(cpu)) return;
  lock.release(cpu);
  ++differences.tries_otherwise;
}

// Replays what follows a failed try: the recorded gap or, after more failures than recorded, the usual gap. Returns false if
// the program then waited for the lock. If the gap is not known, the lock's own waiting replaces the loop, because tries
// without a gap would cost more than any program's loop. A thread that holds other locks keeps trying, because it must be
// able to give up.
bool ReplayCpu::play_gap(Cpu& cpu, ReplayThread& thread, const MeteredLock& lock, const TryHabit& habit,
                         std::optional<std::uint64_t> end) {
  constexpr std::int64_t kUnknownGapCycles = 200;
  if (!habit.gap_known && lock.is_nested(cpu)) {
    cpu.compute(kUnknownGapCycles);
    return true;
  }
  if (!habit.gap_known) return false;
  if (!end || thread.operations->number() == *end) {
    if (habit.gap_instructions > 0) cpu.execute(static_cast<std::int64_t>(habit.gap_instructions));
    if (habit.gap_cycles > 0) cpu.compute(static_cast<std::int64_t>(habit.gap_cycles));
    return end || !habit.waits_in_the_end;
  }
  const trace::Operation* next = nullptr;
  do {
    thread.operations->advance();
    count(cpu, 1);
    next = thread.operations->peek();
    if (takes(next->kind)) continue;
    const trace::Operation operation = *next;  // a copy, because another frame may replace this one
    step(cpu, thread, operation);
  } while (!takes(next->kind));
  return is_try(next->kind);
}

// Skips the rest of a wait by tries, which is over now.
void ReplayCpu::skip_to(Cpu& cpu, ReplayThread& thread, std::uint64_t end) {
  while (thread.operations->number() < end) {
    thread.operations->advance();
    count(cpu, 1);
    thread.operations->peek();
  }
}

// Short compared to any section, but long enough for another CPU to come first. A faster or slower memory would do the same,
// except on a machine whose bus rounds the difference up to a cycle of its own.
void ReplayCpu::delay(Cpu& cpu) {
  if (context_.order == 0) return;
  constexpr std::uint64_t kBelowCycles = 16;
  cpu.compute(static_cast<std::int64_t>(delays_.below(kBelowCycles)));
}

// Whether the operation must wait because other threads of this CPU hold the lock. These threads can run meanwhile.
bool ReplayCpu::is_kept_by_another(const MeteredLock& lock, const trace::Operation& operation) const {
  const auto held = held_here_.find(operation.id);
  if (held == held_here_.end()) return false;
  const Readers readers = lock.traits().readers;
  const bool is_reader = is_shared(operation.kind);
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
  if (const auto alone = held_alone(thread, operation); alone != thread.held_alone.end()) {
    if (alone->again-- > 0) return;
    thread.held_alone.erase(alone);
  }
  if (!is_shared(operation.kind)) {
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

// Repeats the section until no writer intervenes.
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
