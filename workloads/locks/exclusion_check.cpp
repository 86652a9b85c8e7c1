#include "workloads/locks/exclusion_check.hpp"

#include <fmt/format.h>

#include "workloads/locks/metered_lock.hpp"

namespace linebounce::workloads {

std::string time_text(const Cpu& cpu, Tick at) {
  return fmt::format("{:.3f} µs", cpu.to_ns(at) / 1000);
}

template <class Overlaps>
void ExclusionCheck::fail_if_held(const Cpu& cpu, const LockHolders::Use& use, Overlaps overlaps) const {
  for (int other = 0; other < holders_->cpus(); ++other) {
    for (const LockHolders::Use& held : holders_->held(other)) {
      const bool is_this_one = other == cpu.id().value && held.since == use.since && held.shared == use.shared;
      if (held.lock != use.lock || is_this_one || !apart(use.shared, held.shared)) continue;
      if (overlaps(held)) fail(cpu, {CpuId(other), held}, {cpu.id(), use});
    }
  }
}

// now() lets the host run all that other CPUs do before this time. After that, it is known which locks are held at this time.
// It takes no simulated time.
void ExclusionCheck::look_for_holder(Cpu& cpu, const LockHolders::Use& use) const {
  cpu.now();
  fail_if_held(cpu, use, [&use](const LockHolders::Use& held) { return held.since <= use.since; });
  for (const Hold& ended : ended_) {
    if (ended.until > use.since && ended.use.since <= use.since && apart(use.shared, ended.use.shared))
      fail(cpu, ended, {cpu.id(), use});
  }
}

// An overlap with a hold that began earlier and has not ended yet will be found when that hold ends.
void ExclusionCheck::look_for_overlap(const Cpu& cpu, const LockHolders::Use& use, Tick until) const {
  fail_if_held(cpu, use, [&](const LockHolders::Use& held) { return held.since >= use.since && held.since < until; });
  for (const Hold& ended : ended_) {
    if (ended.until > use.since && ended.use.since < until && apart(use.shared, ended.use.shared))
      fail(cpu, ended, {cpu.id(), use});
  }
}

void ExclusionCheck::fail(const Cpu& cpu, Hold first, Hold second) const {
  if (second.use.since < first.use.since) std::swap(first, second);
  const auto as_reader = [](const Hold& hold) { return hold.use.shared ? " as a reader" : ""; };
  const std::string taken = time_text(cpu, second.use.since), held = time_text(cpu, first.use.since);
  throw LockDoesNotExclude(
      algorithm_, fmt::format("CPU {} takes {}{} in {} at {}, while CPU {} holds it{}, taken in {} at {}", second.cpu.value,
                              second.use.lock->name(), as_reader(second), holders_->name_of(second.use.call_site), taken,
                              first.cpu.value, as_reader(first), holders_->name_of(first.use.call_site), held));
}

void ExclusionCheck::fail_reader(const Cpu& cpu, const LockHolders::Use& use, Tick until) const {
  const Hold& writer = settled_.release;
  const std::string from = time_text(cpu, use.since), to = time_text(cpu, until), written = time_text(cpu, writer.until);
  throw LockDoesNotExclude(
      algorithm_, fmt::format("CPU {} reads under {} in {} from {} to {}, and is not told to read again, though CPU {} has "
                              "written meanwhile, in {} until {}",
                              cpu.id().value, use.lock->name(), holders_->name_of(use.call_site), from, to, writer.cpu.value,
                              holders_->name_of(writer.use.call_site), written));
}

}  // namespace linebounce::workloads
