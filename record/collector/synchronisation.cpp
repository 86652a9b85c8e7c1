// The part of Recording for locks, conditions, semaphores and barriers.
#include <algorithm>
#include <functional>

#include "record/collector/recording.hpp"

namespace linebounce::record {
namespace {

using trace::Kind;
using trace::Operation;
using State = TraceOutput::State;

const char* algorithm_of(unsigned type) {
  if ((type & kOneWord) != 0) return "openmp_lock";
  switch (type & kLockTypeMask) {
    case kSpinLock: return "pthread_spin";
    case kReadWriteLock: return "pthread_rwlock";
    case kAdaptiveMutex: return "pthread_adaptive_mutex";
    default: return "pthread_mutex";
  }
}

// The part of a lock's memory that another lock may use for its word.
std::uint64_t bytes_of(unsigned type) {
  constexpr std::uint64_t kSpinLockBytes = 4;
  return (type & kLockTypeMask) == kSpinLock || (type & kOneWord) != 0 ? kSpinLockBytes : MemoryMap::kWord;
}

HeldLock* held_lock(Thread& thread, std::uint32_t lock) {
  const auto held = std::ranges::find_if(thread.held, [&](const HeldLock& one) { return one.lock == lock; });
  return held == thread.held.end() ? nullptr : &*held;
}

// Converts a number counted over the whole run to one counted from the window's beginning; 0 if it lies before the window.
std::uint64_t in_window(std::uint64_t number, std::uint64_t skipped) {
  return number > skipped ? number - skipped : 0;
}

}  // namespace

std::uint32_t Recording::lock(std::uint64_t address, unsigned type) {
  const MemoryMap::Place place = memory_.at(address);
  const auto [entry, is_new] = locks_.try_emplace({place.object, place.offset}, 0);
  if (!is_new) return entry->second;
  return entry->second = memory_.is_in_stack(place) ? stack_lock(address, place, type) : new_lock(address, place, type);
}

// A lock in a local variable is forgotten when its function returns, because another variable may then use the place. In the
// next call of the function its variable counts as the same lock again.
std::uint32_t Recording::stack_lock(std::uint64_t address, const MemoryMap::Place& place, unsigned type) {
  Thread* const thread = thread_with_stack(address);
  const std::size_t frame = thread == nullptr ? 0 : frame_with(address, thread->frames, *image_);
  if (frame == 0) return new_lock(address, place, type);
  thread->stack_locks.push_back({.place = {place.object, place.offset}, .frame = frame});
  const std::uint64_t code = thread->frames[frame - 1].code;
  const auto [known, is_new] = locks_of_functions_.try_emplace({place.object, place.offset, code}, 0);
  if (is_new) known->second = new_lock(address, place, type);
  return known->second;
}

void Recording::forget_locks(Thread& thread) {
  std::erase_if(thread.stack_locks, [&](const StackLock& lock) {
    const bool is_over = lock.frame > thread.frames.size();
    if (is_over) locks_.erase(lock.place);
    return is_over;
  });
}

std::uint32_t Recording::new_lock(std::uint64_t address, const MemoryMap::Place& place, unsigned type) {
  const trace::Symbols& symbols = writer_->symbols();
  const trace::Object& object = symbols.objects[place.object];
  trace::Lock lock;
  lock.name = place_name(address, place);
  lock.algorithm = algorithm_of(type);
  lock.sleeps = (type & kLockTypeMask) != kSpinLock;
  lock.object = place.object;
  lock.offset = place.offset;
  // A program may place a lock in memory that it has declared as smaller objects, such as an array of structures of one byte.
  lock.word_bytes = static_cast<int>(MemoryMap::word_at(address, place, bytes_of(type)));
  if (memory_.is_one_of_many(place) && object.structure != trace::kNone) {
    lock.figures = symbols.structures[object.structure].name + lock.name.substr(object.name.size());
  }
  return writer_->define(lock);
}

void Recording::lock_event(Thread& thread, const Event& event) {
  if (event.kind == kAcquire) return acquire(thread, event.value, event.detail);
  if (event.kind == kRelease) return release(thread, event.value, event.detail);
  const bool is_shared = (event.detail & kSharedLock) != 0;
  output_.append(thread, {.kind = is_shared ? Kind::try_acquire_shared : Kind::try_acquire,
                          .flags = trace::kFailed,
                          .id = lock(event.value, event.detail)});
}

void Recording::acquire(Thread& thread, std::uint64_t address, unsigned type) {
  const std::uint32_t id = lock(address, type);
  if (HeldLock* held = held_lock(thread, id); held != nullptr) {
    ++held->depth;
    return;
  }
  const bool is_shared = (type & kSharedLock) != 0;
  const bool tried = (type & kTriedLock) != 0;
  const Kind shared = tried ? Kind::try_acquire_shared : Kind::acquire_shared;
  output_.append(thread, {.kind = is_shared ? shared : tried ? Kind::try_acquire : Kind::acquire, .id = id});
  if (is_shared) reader_safety_.shared(id);
  const bool has_readers = (type & kLockTypeMask) == kReadWriteLock;
  thread.held.push_back({.lock = id, .is_shared = is_shared, .depth = 1, .has_readers = has_readers});
}

void Recording::release(Thread& thread, std::uint64_t address, unsigned type) {
  const std::uint32_t id = lock(address, type);
  HeldLock* held = held_lock(thread, id);
  if (held == nullptr) {
    ++foreign_releases_;
    return;
  }
  if (--held->depth > 0) return;
  held->depth = 1;
  output_.append(thread, {.kind = held->is_shared ? Kind::release_shared : Kind::release, .id = id});
  thread.held.erase(thread.held.begin() + (held - thread.held.data()));
}

// Notes that a lock's readers write. Such a lock cannot be replaced by one whose readers retry, such as a seqlock.
void Recording::written(const Thread& thread) {
  for (const HeldLock& held : thread.held) {
    if (!held.is_shared || writer_->symbols().locks[held.lock].readers_write) continue;
    trace::Lock facts = writer_->symbols().locks[held.lock];
    facts.readers_write = true;
    writer_->redefine(held.lock, facts);
  }
}

// Ignores the thread's own stack, which is private.
void Recording::written_at(const Thread& thread, std::uint64_t address, std::uint64_t bytes) {
  if (thread.held.empty() || (address >= thread.lowest_stack && address < thread.stack_end)) return;
  written(thread);
  if (output_.threads_run()) reader_safety_.written(thread, address, bytes);
}

void Recording::read_at(const Thread& thread, const MemoryMap::Place& place, std::uint64_t address, unsigned detail) {
  if (std::ranges::none_of(thread.held, &HeldLock::is_shared)) return;
  if (address >= thread.lowest_stack && address < thread.stack_end) return;
  const auto name = [&] { return memory_.place_name(place); };
  reader_safety_.read(thread, address, (detail & kPointerAccess) != 0, memory_.is_in_heap(place), name);
}

void Recording::condition_event(Thread& thread, const Event& event) {
  Condition& condition = conditions_[event.value];
  if (condition.event == trace::kNone) condition.event = new_event(event.value);
  if (event.kind == kConditionSignal) {
    const std::uint64_t number = condition.counts.signalled(event.detail != 0);
    output_.append(thread, {.kind = Kind::signal, .id = condition.event});
    written(thread);
    if (output_.state() == State::before) condition.skipped = number;
  } else if (event.kind == kConditionWait) {
    condition.counts.wait_begins(&thread);
    release(thread, event.more[0], kMutex);
  } else {
    const std::uint64_t number = condition.counts.woken(&thread, event.detail != 0).value_or(0);
    const std::uint64_t count = in_window(number, condition.skipped);
    if (count > 0) output_.append(thread, {.kind = Kind::wait, .id = condition.event, .argument = count});
    acquire(thread, event.more[0], kMutex);
  }
}

void Recording::semaphore_event(Thread& thread, const Event& event) {
  if (event.kind == kSemaphoreInit) {
    semaphores_.erase(event.value);
    semaphores_[event.value].counts = SemaphoreCounts(event.more[0]);
    return;
  }
  Semaphore& semaphore = semaphores_[event.value];
  if (semaphore.event == trace::kNone) semaphore.event = new_event(event.value);
  if (event.kind == kSemaphorePost) {
    const std::uint64_t number = semaphore.counts.posted();
    output_.append(thread, {.kind = Kind::signal, .id = semaphore.event});
    written(thread);
    if (output_.state() == State::before) semaphore.skipped = number;
  } else {
    const std::uint64_t count = in_window(semaphore.counts.taken(), semaphore.skipped);
    if (count > 0) output_.append(thread, {.kind = Kind::wait, .id = semaphore.event, .argument = count});
  }
}

trace::Operation Recording::barrier_operation(std::uint64_t address, Barrier& state) {
  if (state.barrier == trace::kNone) {
    const std::string name = place_name(address, memory_.at(address));
    state.barrier = writer_->define(trace::Barrier{.name = name, .parties = static_cast<int>(state.parties)});
  }
  return {.kind = Kind::barrier, .id = state.barrier};
}

void Recording::barrier_event(Thread& thread, const Event& event) {
  Barrier& state = barriers_[event.value];
  if (event.kind == kBarrierInit) {
    state = {.parties = event.more[0]};
  } else if (state.parties > 0) {
    event.kind == kBarrier ? come_to_barrier(thread, event.value, state) : pass_team_barrier(thread, event.value, state);
  }
}

// No thread goes on before the last one of its round has come, so a round is written as a whole, and one that is never complete
// is not written.
void Recording::come_to_barrier(Thread& thread, std::uint64_t address, Barrier& state) {
  if (std::ranges::find(state.round, &thread) != state.round.end()) {
    ++foreign_rounds_;
    state.round.clear();
  }
  state.round.push_back(&thread);
  if (state.round.size() < state.parties) return;
  output_.append_to_all(state.round, barrier_operation(address, state));
  state.round.clear();
}

// Threads pass one at a time, so a window may begin within a round. Only rounds that begin inside the window are written.
void Recording::pass_team_barrier(Thread& thread, std::uint64_t address, Barrier& state) {
  thread.is_in_team = true;
  const std::uint64_t round = state.passed++ / state.parties;
  if (output_.state() == State::before) {
    state.first_round = round + 1;
    return;
  }
  if (round < state.first_round) return;
  const Operation operation = barrier_operation(address, state);
  if (!output_.append(thread, operation)) {
    if (state.round.empty()) return;
    output_.append_after_all(thread, operation);
  }
  state.round.push_back(&thread);
  if (state.round.size() == state.parties) state.round.clear();
}

// If the program ends while a team passes its barrier, the other threads come there at their ends. Otherwise those that have
// passed would wait for ever in a replay. The other threads have been in this team before, or were created for it.
void Recording::complete_round(Barrier& state) {
  if (state.barrier == trace::kNone || state.round.empty() || state.round.size() == state.parties) return;
  std::vector<Thread*> others;
  for (std::size_t number = output_.threads(); number-- > 0;) {
    Thread& thread = output_.thread(number);
    const bool is_missing = std::ranges::find(state.round, &thread) == state.round.end();
    if (is_missing && thread.ended == 0 && thread.stream != trace::kNone) others.push_back(&thread);
  }
  std::stable_partition(others.begin(), others.end(), std::mem_fn(&Thread::is_in_team));
  others.resize(std::min<std::size_t>(others.size(), state.parties - state.round.size()));
  for (Thread* other : others) output_.append_after_all(*other, {.kind = Kind::barrier, .id = state.barrier});
}

}  // namespace linebounce::record
