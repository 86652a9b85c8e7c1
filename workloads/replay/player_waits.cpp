// Waiting in a replay: words in memory, barriers, wake-ups. If a CPU has several threads, one that waits lets the others run.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/failure.hpp"
#include "workloads/program/composite_operation.hpp"
#include "workloads/replay/player.hpp"

namespace linebounce::workloads {

// Returns true if the awaited value is there.
bool ReplayCpu::wait_for(Cpu& cpu, ReplayThread& thread, const WantedWord& word) {
  if (folded_) return await_folded(cpu, thread, {word});
  if (word.address == 0) return true;
  cpu.spin_until_acquire(
      word.address, [&word](Value value) { return word.has_come(value); }, word.bytes);
  return true;
}

bool ReplayCpu::await_folded(Cpu& cpu, ReplayThread& thread, const std::vector<WantedWord>& words) {
  thread.wanted.clear();
  for (const WantedWord& word : words) {
    if (word.address == 0 || word.has_come(cpu.load_acquire(word.address, word.bytes))) return true;
  }
  thread.wanted = words;
  return false;
}

WantedWord ReplayCpu::word_of(const trace::Operation& await) const {
  const trace::Word& word = context_.trace.symbols().words[await.id];
  const Address address = context_.places.at(word.object, static_cast<std::uint64_t>(word.offset), number_);
  return {.address = address, .bytes = word.bytes, .number = await.argument};
}

bool ReplayCpu::await(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation) {
  const bool again = folded_ && !thread.wanted.empty();  // the whole group has been collected already
  if (!again) thread.awaited.push_back(operation);
  if ((operation.flags & trace::kPaired) != 0) return true;
  if (!folded_) {
    spin_for_any(cpu, thread.awaited);
  } else {
    std::vector<WantedWord> wanted;
    for (const trace::Operation& await : thread.awaited) {
      if (await.argument > 0) wanted.push_back(word_of(await));
    }
    if (!wanted.empty() && !await_folded(cpu, thread, wanted)) return false;
  }
  thread.awaited.clear();
  return true;
}

// Looks once, without waiting.
void ReplayCpu::spin_for_any(Cpu& cpu, const std::vector<trace::Operation>& awaited) {
  const auto is_own = [](const trace::Operation& await) { return (await.flags & trace::kCounted) != 0; };
  const bool waits =
      std::ranges::any_of(awaited, [&](const trace::Operation& await) { return await.argument > 0 || is_own(await); });
  std::vector<WantedWord> words;
  std::vector<Address> addresses;
  std::vector<OwnWrites> own(awaited.size());
  for (std::size_t i = 0; i < awaited.size(); ++i) {
    words.push_back(word_of(awaited[i]));
    addresses.push_back(words.back().address);
    own[i].word = context_.trace.symbols().words[awaited[i].id];
    own_writes_.push_back(&own[i]);
  }
  const auto has_come = [&](std::size_t i, Value now) {
    if (!is_own(awaited[i])) return awaited[i].argument > 0 && words[i].has_come(now);
    const bool sees_own = words[i].bytes < 8 || words[i].is_forwarded(now);
    return sees_own && own[i].count >= awaited[i].bytes;
  };
  const auto done = [&](std::span<const Value> now) {
    for (std::size_t i = 0; waits && i < now.size(); ++i) {
      if (has_come(i, now[i])) return true;
    }
    return !waits;
  };
  std::vector<Value> values(words.size());
  cpu.spin_until_any(addresses, values, done, words.front().bytes);
  own_writes_.resize(own_writes_.size() - words.size());
}

bool ReplayCpu::meet(Cpu& cpu, ReplayThread& thread, const trace::Operation& operation) {
  const Barrier& barrier = context_.places.barrier(operation.id);
  if (!folded_) {
    barrier.wait(cpu);
    return true;
  }
  if (!thread.generation) thread.generation = barrier.arrive(cpu);
  if (!thread.generation) return true;
  const bool open =
      await_folded(cpu, thread, {{.address = barrier.generation_word(), .number = *thread.generation, .other = true}});
  if (open) thread.generation.reset();
  return open;
}

// Makes one of several threads that wait by tries give up. One is enough, because the others may then continue.
bool ReplayCpu::give_up_a_try() {
  const auto first = std::ranges::find_if(threads_, &ReplayThread::tries);
  if (first == threads_.end()) return false;
  return first->gives_up = true;
}

// Called when all threads of the CPU wait, for words or for a lock that one of them holds.
void ReplayCpu::wait_for_any(Cpu& cpu) {
  std::vector<WantedWord> wanted;
  for (const ReplayThread& thread : threads_) {
    if (!thread.ended) wanted.insert(wanted.end(), thread.wanted.begin(), thread.wanted.end());
  }
  if (wanted.empty()) {
    if (give_up_a_try()) return;
    throw ModelFailure(fmt::format("replay: all threads of CPU {} wait for locks that another of them holds", number_));
  }
  // Watches words of all sizes at once, by the 8 bytes that contain each.
  std::vector<Address> around;
  for (const WantedWord& word : wanted) around.push_back(word.address / 8 * 8);
  std::vector<Value> values(around.size());
  cpu.spin_until_any(around, values, [&](std::span<const Value> now) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const Value shifted = now[i] >> (8 * (wanted[i].address - around[i]));
      const Value mask = wanted[i].bytes == 8 ? ~Value{0} : (Value{1} << (8 * wanted[i].bytes)) - 1;
      if (wanted[i].has_come(shifted & mask)) return true;
    }
    return false;
  });
}

// A wait for something outside the program takes as long on every machine. A tap sees a sleep.
void ReplayCpu::wait_outside(Cpu& cpu, std::uint64_t nanoseconds) const {
  const CompositeOperation waits(cpu, {.what = Composite::What::sleep});
  cpu.compute(std::llround(static_cast<double>(nanoseconds) * context_.cycles_of_ns));
}

// Each of several simultaneous wake-ups counts, as in the recording.
void ReplayCpu::sleep(Cpu& cpu, const trace::Operation& operation) const {
  const auto wakes = static_cast<std::int64_t>(operation.argument);
  const auto once = [&] {
    if ((operation.flags & trace::kCounted) != 0) {
      context_.locks.sleep(cpu);
    } else {
      cpu.sleep();
    }
  };
  cpu.now();  // first lets earlier wake-ups arrive
  if (cpu.wake_pending() || cpu.wakes() < wakes) once();
  while (cpu.wakes() < wakes) once();
}

}  // namespace linebounce::workloads
