#include "record/collector/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace linebounce::record {
namespace {

using trace::Kind;
using trace::Operation;

Kind kind_of(unsigned event) {
  switch (event) {
    case kLoad:
    case kLoadRange: return Kind::load;
    case kExchange: return Kind::exchange;
    case kFetchAdd:
    case kFetchAddAt: return Kind::fetch_add;
    case kCompareExchange: return Kind::compare_exchange;
    default: return Kind::store;
  }
}

// Whether the event tells how long the thread has computed or waited, and not what it has done.
bool tells_time(unsigned event) {
  return event == kInstructions || event == kWorked || event == kSampled || event == kBlocked;
}

}  // namespace

Recording::Recording(BackgroundWriter& writer, ProgramImage& image, Window window, TraceOutput::Instructions instructions)
    : writer_(&writer),
      image_(&image),
      result_use_(image),
      memory_(image, writer),
      output_(writer, std::move(window), instructions),
      thread_of_ring_(kChannelRings) {}

void Recording::event(unsigned ring, const Event& event) {
  if (event.kind == kThreadBegin) return thread_event(ring, event);
  Thread* thread = thread_of_ring_[ring];
  if (thread == nullptr) return;
  if (!tells_time(event.kind)) output_.executed(*thread, static_cast<std::uint64_t>(thread->instructions_of_event));
  switch (event.kind) {
    case kThreadEnd:
    case kCreate:
    case kJoin: return thread_event(ring, event);
    case kEnter: return enter(*thread, event);
    case kStackPointer: thread->stack_pointer = event.value; return;
    case kFramePointer: thread->frame_pointer = event.value; return;
    case kEnterAt: return enter_at(*thread, event);
    case kLeave: return leave(*thread);
    case kAcquire:
    case kTryFailed:
    case kRelease: return lock_event(*thread, event);
    case kConditionWait:
    case kConditionWoken:
    case kConditionSignal: return condition_event(*thread, event);
    case kSemaphoreInit:
    case kSemaphorePost:
    case kSemaphoreWait: return semaphore_event(*thread, event);
    case kBarrierInit:
    case kBarrier:
    case kTeamBarrier: return barrier_event(*thread, event);
    case kLibraryLoaded: return library_loaded();
    case kInstructions:
    case kWorked:
    case kSampled:
    case kBlocked: return time_event(*thread, event);
    case kFork: return memory_.forked();
    default: return memory_event(*thread, event);
  }
}

double Recording::instructions_of(double ticks) {
  return ticks * clock_.cycles_of_tick() / trace::kCyclesOfInstruction;
}

std::string Recording::disturbances() const {
  constexpr double kLeastShare = 0.01, kNsOfMs = 1e6;
  if (disturbed_ns_ <= kLeastShare * measured_ns_) return "";
  return fmt::format("{:.2g} ms, {:.0f} % of the time measured", disturbed_ns_ / kNsOfMs, 100 * disturbed_ns_ / measured_ns_);
}

// A sample stands for the events that follow: their mean is taken over the latest ones.
void Recording::sampled(Thread& thread, std::uint64_t way, std::uint64_t ticks) {
  constexpr double kWeight = 1.0 / 8;
  // Measured: samples without computation take 20 to 40 ns, one in a hundred up to 50; those with a computation of 80 ns, 90 to
  // 110.
  constexpr double kSampleNs = 20, kShortest = 50;
  const double ns = ways_.add(way, static_cast<double>(ticks) / clock_.ticks_of_ns());
  const double instructions = ns >= kShortest ? instructions_of((ns - kSampleNs) * clock_.ticks_of_ns()) : 0;
  thread.instructions_of_event += kWeight * (instructions - thread.instructions_of_event);
}

// Notes how long a thread has computed or waited. A function that takes less than kShortest did not wait: it computed.
void Recording::time_event(Thread& thread, const Event& event) {
  constexpr double kShortest = 1000;  // ns
  if (event.kind == kInstructions) return output_.executed(thread, event.value);
  if (event.kind == kSampled)
    return sampled(thread, event.value >> kTicksBits, event.value & ((std::uint64_t{1} << kTicksBits) - 1));
  auto ticks = static_cast<double>(event.value);
  double blocked = 0;  // ns
  if (event.kind == kWorked) {
    const auto away = static_cast<double>(event.more[0]);
    ticks -= away * clock_.ticks_of_ns();
    if ((event.detail & kGaveUp) != 0) blocked = away;
    const double ns = std::max(ticks, 0.0) / clock_.ticks_of_ns();
    measured_ns_ += ns;
    if ((event.detail & kOfHost) != 0) {
      disturbed_ns_ += ns;
      ticks = 0;
    }
  } else if (const double ns = ticks / clock_.ticks_of_ns(); event.detail != 0 || ns >= kShortest) {
    blocked = ns;
    ticks = 0;
  }
  if (ticks > 0) output_.executed(thread, static_cast<std::uint64_t>(instructions_of(ticks)));
  if (blocked >= 1)
    output_.append(thread,
                   {.kind = Kind::blocked, .argument = std::min(static_cast<std::uint64_t>(blocked), trace::kMostCount)});
}

void Recording::thread_event(unsigned ring, const Event& event) {
  Thread& thread = output_.thread(event.value);
  if (event.kind == kThreadBegin) {
    if (thread.name.empty()) thread.name = event.value == 0 ? "main" : thread_name(event.more[2]);
    thread.lowest_stack = event.more[0];
    thread.stack_end = event.more[1];
    memory_.add_stack(thread.name, event.more[0], event.more[1]);
    thread_of_ring_[ring] = &thread;
    output_.begin(thread);
  } else if (event.kind == kThreadEnd) {
    output_.end(thread);
    thread_of_ring_[ring] = nullptr;
  } else if (event.kind == kCreate) {
    thread.name = thread_name(event.more[0]);
    output_.create(*thread_of_ring_[ring], thread);
  } else {
    output_.join(*thread_of_ring_[ring], thread);
  }
}

// "worker[2]"
std::string Recording::thread_name(std::uint64_t runs) {
  std::string name = runs == 0 ? "thread" : image_->function(runs);
  // A thread that runs a lambda is named after the function around the lambda.
  const std::size_t lambda = std::min(name.find("::{lambda("), name.find("::$_"));
  if (lambda != std::string::npos) name = name.substr(0, std::min(lambda, name.find('(')));
  // Thread-start functions of the Rust and C++ libraries, and a lambda in main, say nothing about the thread's work.
  if (name.starts_with("std::sys::") || name.starts_with("std::thread::_State_impl<") ||
      (lambda != std::string::npos && name == "main"))
    name = "thread";
  return fmt::format("{}[{}]", name, threads_of_name_[name]++);
}

void Recording::memory_event(Thread& thread, const Event& event) {
  switch (event.kind) {
    case kLoad:
    case kStore:
    case kExchange:
    case kFetchAdd:
    case kFetchAddAt:
    case kCompareExchange: return access(thread, kind_of(event.kind), event);
    case kLoadRange:
    case kStoreRange: return range(thread, kind_of(event.kind), event);
    case kFence: output_.append(thread, {.kind = Kind::fence}); return;
    case kAllocate:
      return memory_.allocated(
          event.value, event.more[0], event.more[1],
          {.aligned = (event.detail & kAlignedBlock) != 0, .is_shared = (event.detail & kSharedBlock) != 0},
          {event.more.data() + 2, std::min<std::size_t>(event.detail & kReturnAddresses, kMostFrames)});
    case kPages: return memory_.set_pages(event.value, event.more[0], std::uint64_t{1} << event.detail);
    case kFree:
      memory_.forget_pages(event.value, event.more[0]);
      if (output_.threads_run()) reader_safety_.freed(thread, event.value, event.more[0]);
      return;
    default: return;
  }
}

// Flags for how an atomic operation changes its word, and whether the program uses the result.
std::uint16_t Recording::change(const Event& event) {
  std::uint16_t flags = 0;
  const unsigned sign = event.detail & (kAddsAccess | kSubtractsAccess);
  if (sign == kAddsAccess) flags |= trace::kAdds;
  if (sign == kSubtractsAccess) flags |= trace::kSubtracts;
  if (event.kind == kCompareExchange) return flags;
  if (sign == (kAddsAccess | kSubtractsAccess)) flags |= trace::kNoSum;
  const bool used = event.kind == kFetchAddAt ? result_use_.is_used(event.more[0]) : (event.detail & kResultUsedAccess) != 0;
  const bool unused = event.kind == kFetchAddAt ? !used : (event.detail & kResultUnusedAccess) != 0;
  if (used) flags |= trace::kResultUsed;
  if (unused) flags |= trace::kResultUnused;
  return flags;
}

// Splits an access that crosses a word, or has 16 bytes, into several operations. Only the first part of an atomic access is
// atomic.
void Recording::access(Thread& thread, Kind kind, const Event& event) {
  std::uint64_t address = event.value;
  std::uint64_t left = std::uint64_t{1} << (event.detail & kSizeMask);
  if ((event.detail & kAtomicAccess) != 0) had_atomics_ = true;
  const bool failed = (event.detail & kFailedAccess) != 0;
  while (left > 0) {
    const MemoryMap::Place place = memory_.at(address);
    const std::uint64_t bytes = MemoryMap::word_at(address, place, left);
    Operation operation{.kind = kind,
                        .bytes = static_cast<std::uint8_t>(bytes),
                        .id = place.object,
                        .argument = static_cast<std::uint64_t>(place.offset)};
    const bool is_store = kind == Kind::store || kind == Kind::exchange;  // with the release flag: an atomic store
    if ((event.detail & kReleaseAccess) != 0 && is_store) operation.flags |= trace::kRelease;
    if (failed && kind == Kind::compare_exchange) operation.flags |= trace::kFailed;
    if (kind == Kind::fetch_add || kind == Kind::compare_exchange) operation.flags |= change(event);
    output_.append(thread, operation);
    if (kind == Kind::load) {
      read_at(thread, place, address, event.detail);
    } else if (!failed) {
      written_at(thread, address, bytes);
    }
    address += bytes;
    left -= bytes;
    if (kind != Kind::load && kind != Kind::store) kind = failed ? Kind::load : Kind::store;
  }
}

void Recording::range(Thread& thread, Kind kind, const Event& event) {
  std::uint64_t address = event.value, bytes = event.more[0];
  while (bytes > 0) {
    const MemoryMap::Place place = memory_.at(address);
    const std::uint64_t word = MemoryMap::word_at(address, place, bytes);
    const std::uint64_t room = std::min(bytes, static_cast<std::uint64_t>(place.room));
    const std::uint64_t words =
        word == MemoryMap::kWord ? std::min<std::uint64_t>(room / MemoryMap::kWord, trace::kMostRepeats + 1) : 1;
    output_.append(thread, {.kind = kind,
                            .bytes = static_cast<std::uint8_t>(word),
                            .flags = static_cast<std::uint16_t>((words - 1) << trace::kRepeatShift),
                            .id = place.object,
                            .argument = static_cast<std::uint64_t>(place.offset)});
    if (kind == Kind::load) {
      for (std::uint64_t i = 0; i < words; ++i) read_at(thread, place, address + i * word, event.detail);
    } else {
      written_at(thread, address, words * word);
    }
    address += words * word;
    bytes -= words * word;
  }
}

void Recording::enter_function(Thread& thread, std::uint64_t address) {
  const std::uint32_t id = function(address);
  output_.entering(writer_->symbols().functions[id].name);
  output_.append(thread, {.kind = Kind::enter, .id = id});
  thread.functions.push_back(id);
}

void Recording::enter(Thread& thread, const Event& event) {
  enter_function(thread, event.value);
  if (event.detail > 0 && !thread.frames.empty()) {
    thread.stack_pointer = thread.frames.back().stack_pointer - std::uint64_t{event.detail} * kStackUnit;
  }
  thread.frames.push_back({.code = event.value,
                           .stack_pointer = thread.stack_pointer,
                           .frame_pointer = std::exchange(thread.frame_pointer, 0),
                           .lowest = thread.stack_pointer});
}

// At a function's entry the stack pointer points at the return address. A function with a frame pointer pushes its caller's
// frame pointer just below, and then points its own there.
void Recording::enter_at(Thread& thread, const Event& event) {
  constexpr std::uint64_t kReturnAddress = 8;
  const std::uint64_t stack = event.more[0];
  enter_function(thread, event.value);
  if (!thread.frames.empty()) thread.frames.back().lowest = stack + kReturnAddress;
  thread.frames.push_back(
      {.code = event.value + 1, .stack_pointer = stack, .frame_pointer = stack - kReturnAddress, .is_at_entry = true});
}

void Recording::leave(Thread& thread) {
  if (thread.functions.empty()) return;
  output_.append(thread, {.kind = Kind::leave});
  thread.functions.pop_back();
  thread.frames.pop_back();
  if (!thread.frames.empty() && thread.frames.back().is_at_entry) thread.frames.back().lowest = 0;
  if (!thread.stack_locks.empty()) forget_locks(thread);
}

std::uint32_t Recording::function(std::uint64_t address) {
  const auto [entry, is_new] = functions_.try_emplace(address, 0);
  if (!is_new) return entry->second;
  const std::string name = image_->function(address);
  const auto [named, is_new_name] = functions_by_name_.try_emplace(name, 0);
  if (is_new_name) named->second = writer_->define(trace::Function{.name = name, .user = true});
  return entry->second = named->second;
}

void Recording::library_loaded() {
  image_->look_again();
  memory_.add_variables();
}

Thread* Recording::thread_with_stack(std::uint64_t address) const {
  for (Thread* thread : thread_of_ring_) {
    if (thread != nullptr && address >= thread->lowest_stack && address < thread->stack_end) return thread;
  }
  return nullptr;
}

// "table.locks[3].mutex", "main::lock", "worker::lock of worker[1]"
std::string Recording::place_name(std::uint64_t address, const MemoryMap::Place& place) {
  const Thread* thread = memory_.is_in_stack(place) ? thread_with_stack(address) : nullptr;
  const std::string local = thread == nullptr ? "" : memory_.local_name(address, thread->frames);
  if (local.empty()) return memory_.place_name(place);
  return thread->name == "main" ? local : local + " of " + thread->name;
}

std::uint32_t Recording::new_event(std::uint64_t address) {
  return writer_->define(trace::Event{.name = place_name(address, memory_.at(address))});
}

void Recording::describe_readers() {
  for (const auto& [lock, follow] : reader_safety_.verdicts()) {
    trace::Lock facts = writer_->symbols().locks[lock];
    facts.readers_follow = follow;
    writer_->redefine(lock, facts);
  }
}

void Recording::finish() {
  output_.finish();
  for (auto& [address, barrier] : barriers_) complete_round(barrier);
}

}  // namespace linebounce::record
