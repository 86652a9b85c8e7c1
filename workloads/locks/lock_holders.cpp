#include "workloads/locks/lock_holders.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/locks/metered_lock.hpp"

namespace linebounce::workloads {
namespace {

// True if the acquisition `wanted` can't succeed before the hold `held` ends.
bool blocks(const LockHolders::Use& held, const LockHolders::Use& wanted) {
  if (held.lock != wanted.lock || !held.lock->traits().excludes) return false;
  switch (held.lock->traits().readers) {
    case Readers::one_by_one: return true;
    case Readers::together: return !held.shared || !wanted.shared;
    case Readers::read_again: return !held.shared;
    case Readers::never_wait: return !held.shared && !wanted.shared;
  }
  return true;
}

}  // namespace

void LockHolders::begins_to_wait(const Cpu& cpu, const Use& wanted) {
  for (const Use& own : held_[index(cpu)]) {
    if (!blocks(own, wanted)) continue;
    throw LockMisuse(fmt::format("recursive acquire: a CPU takes a lock that it holds\n{}{}",
                                 text(cpu.id().value, "wants", "in", wanted), text(cpu.id().value, "holds", "taken in", own)));
  }
  awaited_[index(cpu)].push_back(wanted);
  if (held_[index(cpu)].empty()) return;  // this CPU holds nothing that others could wait for
  std::vector<int> path;
  if (!find_cycle(cpu.id().value, cpu.id().value, path)) return;
  if (std::ranges::any_of(path, [this](int member) { return awaited(member).back().by_tries; })) return;
  std::string cycle = "deadlock: CPUs wait for each other's locks\n";
  for (const int member : path) {
    cycle += text(member, "awaits", "in", awaited(member).back());
    for (const Use& use : held(member)) cycle += text(member, "holds", "taken in", use);
  }
  throw LockMisuse(cycle);
}

bool LockHolders::is_stuck(const Cpu& cpu) const {
  const Use& wanted = awaited(cpu.id().value).back();
  const std::vector<Use>& own = held(cpu.id().value);
  if (std::ranges::any_of(own, [&wanted](const Use& use) { return blocks(use, wanted); })) return true;
  std::vector<int> path;
  if (own.empty() || !find_cycle(cpu.id().value, cpu.id().value, path)) return false;
  // The host may have run a CPU ahead, to a wait that begins later in simulated time than now.
  const auto waits_now = [&](int member) { return awaited(member).back().since <= cpu.local_time(); };
  return std::ranges::all_of(path, waits_now);
}

// True if a chain of waits leads from `cpu` to a lock that `begin` holds; `path` then contains the CPUs of the chain. Only a
// CPU's latest wait counts. That may be a wait of its interrupt handler.
bool LockHolders::find_cycle(int cpu, int begin, std::vector<int>& path) const {
  if (awaited(cpu).empty() || std::find(path.begin(), path.end(), cpu) != path.end()) return false;
  path.push_back(cpu);
  const Use& wanted = awaited(cpu).back();
  for (int other = 0; other < cpus(); ++other) {
    if (other == cpu) continue;
    // A lock that a CPU took after its latest wait began belongs to an interrupt handler, which releases it before that wait
    // ends.
    const auto stuck = [&](const Use& use) { return awaited(other).empty() || use.since <= awaited(other).back().since; };
    const std::vector<Use>& uses = held(other);
    if (std::none_of(uses.begin(), uses.end(), [&](const Use& use) { return blocks(use, wanted) && stuck(use); })) continue;
    if (other == begin || find_cycle(other, begin, path)) return true;
  }
  path.pop_back();
  return false;
}

void LockHolders::acquired(const Cpu& cpu, const Use& taken) {
  held_[index(cpu)].push_back(taken);
}

LockHolders::Use LockHolders::released(const Cpu& cpu, const MeteredLock& lock, bool shared) {
  std::vector<Use>& held = held_[index(cpu)];
  const auto latest = std::find_if(held.rbegin(), held.rend(), [&](const Use& use) { return use.lock == &lock; });
  if (latest == held.rend() || latest->shared != shared) {
    throw LockMisuse(fmt::format("release of a lock that is not held: CPU {} releases {}{} in {}; {}\n{}", cpu.id().value,
                                 lock.name(), shared ? " as a reader" : "", name_of(cpu.function()), holder_text(lock),
                                 describe()));
  }
  const Use use = *latest;
  held.erase(std::next(latest).base());
  return use;
}

// The lock cannot be at fault: its own functions have not been called yet.
std::string LockHolders::holder_text(const MeteredLock& lock) const {
  std::string holders;
  for (int cpu = 0; cpu < cpus(); ++cpu) {
    for (const Use& use : held(cpu)) {
      if (use.lock == &lock)
        holders += fmt::format("{}CPU {}{}", holders.empty() ? "" : " and ", cpu, use.shared ? " as a reader" : "");
    }
  }
  return fmt::format("held by {}. The program is wrong, not the lock", holders.empty() ? "nobody" : holders);
}

bool LockHolders::holds(const Cpu& cpu, const MeteredLock& lock) const {
  const std::vector<Use>& uses = held_[index(cpu)];
  return std::any_of(uses.begin(), uses.end(), [&lock](const Use& use) { return use.lock == &lock; });
}

bool LockHolders::is_kept_waiting(int cpu, const Use& wanted) const {
  const auto in_the_way = [&wanted](const Use& use) { return blocks(use, wanted); };
  for (const bool shared : {false, true}) {
    const Use last{wanted.lock, wanted.call_site, wanted.lock->last_release(shared), shared};
    if (last.since > wanted.since && in_the_way(last)) return true;
  }
  for (int other = 0; other < cpus(); ++other) {
    if (other != cpu && std::any_of(held(other).begin(), held(other).end(), in_the_way)) return true;
  }
  return false;
}

std::string LockHolders::describe() const {
  std::string all;
  for (int cpu = 0; cpu < cpus(); ++cpu) {
    for (const Use& use : held(cpu)) all += text(cpu, "holds", "taken in", use);
    for (const Use& use : awaited(cpu)) all += text(cpu, "awaits", "in", use);
  }
  return all;
}

std::string LockHolders::text(int cpu, const char* does, const char* where, const Use& use) const {
  return fmt::format("  CPU {} {} {}{}, {} {}\n", cpu, does, use.lock->name(), use.shared ? " as a reader" : "", where,
                     name_of(use.call_site));
}

}  // namespace linebounce::workloads
