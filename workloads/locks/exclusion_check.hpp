// Stops a run when two CPUs hold a lock at the same time although the lock should keep them apart.
//
// The host runs programs in an order that is not the order of simulated time. A correct lock makes the two orders agree for its
// holds: an acquisition sees the previous release through simulated memory, so the host has already run that release, and the
// release is not later in simulated time. An acquisition for which this does not hold is examined more closely: if its hold
// overlaps another one in simulated time, the run ends. For a correct lock, the check costs a few comparisons and no simulated
// time.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "models/core/cpu.hpp"
#include "models/failure.hpp"
#include "workloads/locks/lock_holders.hpp"
#include "workloads/locks/lock_traits.hpp"

namespace linebounce::workloads {

// Part of the message of LockDoesNotExclude; follows the name of the lock's algorithm.
inline constexpr std::string_view kDoesNotExclude = " does not exclude: ";

// The message names the algorithm, both CPUs, both functions and the times.
class LockDoesNotExclude : public ModelFailure {
 public:
  LockDoesNotExclude(const std::string& algorithm, const std::string& what)
      : ModelFailure(algorithm + std::string(kDoesNotExclude) + what) {}
};

// Returns a simulated time as messages have it: "12.345 µs".
std::string time_text(const Cpu& cpu, Tick at);

class ExclusionCheck {
 public:
  // `algorithm`: the lock's name in `list locks`, or its file's path.
  ExclusionCheck(std::string algorithm, const LockTraits& traits, const LockHolders& holders)
      : algorithm_(std::move(algorithm)),
        holders_(&holders),
        watches_{traits.excludes, traits.excludes && keep_writers_out(traits.readers)},
        apart_from_readers_{keep_writers_out(traits.readers), traits.readers == Readers::one_by_one},
        reads_again_(traits.excludes && traits.readers == Readers::read_again) {}

  // All throw LockDoesNotExclude. REQUIRES: `holders` has already recorded the acquisition, or has already removed the hold
  // that has ended.
  void entered(Cpu& cpu, const LockHolders::Use& use) {
    if (!watches_[use.shared]) return;
    if (may_overlap(use)) [[unlikely]]
      look_for_holder(cpu, use);
    ++inside_[use.shared];
    if (reads_again_ && !use.shared) settled_ = {ended_[0], use.since};
  }
  void left(const Cpu& cpu, const LockHolders::Use& use, Tick until) {
    if (watches_[use.shared]) {
      --inside_[use.shared];
      if (may_overlap(use)) [[unlikely]]
        look_for_overlap(cpu, use, until);
    }
    Hold& last = ended_[use.shared];
    if (until >= last.until) last = {cpu.id(), use, until};
  }
  // Call when a reader's section has ended at `until` and the lock does not tell the reader to read again.
  void accepted(const Cpu& cpu, const LockHolders::Use& use, Tick until) const {
    if (settled_.release.until > use.since && settled_.seen_at <= until) [[unlikely]]
      fail_reader(cpu, use, until);
  }

  // When the latest hold of a reader (`shared`) or a writer ended; -1: none has.
  [[nodiscard]] Tick last_release(bool shared) const { return ended_[shared].until; }
  // The CPU of that hold. REQUIRES: last_release(shared) is not -1.
  [[nodiscard]] CpuId last_holder(bool shared) const { return ended_[shared].cpu; }

 private:
  struct Hold {
    CpuId cpu{};
    LockHolders::Use use{};
    Tick until = -1;
  };

  // Returns true if holds of these two kinds must not overlap. REQUIRES: watches_ is true for both.
  [[nodiscard]] bool apart(bool shared, bool other_shared) const {
    return other_shared ? apart_from_readers_[shared] : !shared || apart_from_readers_[0];
  }
  // True if this hold should have waited for a release that the host has not run yet, or that is later in simulated time.
  [[nodiscard]] bool may_overlap(const LockHolders::Use& use) const {
    return inside_[0] > 0 || ended_[0].until > use.since ||
           (apart_from_readers_[use.shared] && (inside_[1] > 0 || ended_[1].until > use.since));
  }
  void look_for_holder(Cpu& cpu, const LockHolders::Use& use) const;
  void look_for_overlap(const Cpu& cpu, const LockHolders::Use& use, Tick until) const;
  template <class Overlaps>
  void fail_if_held(const Cpu& cpu, const LockHolders::Use& use, Overlaps overlaps) const;
  [[noreturn]] void fail(const Cpu& cpu, Hold first, Hold second) const;
  [[noreturn]] void fail_reader(const Cpu& cpu, const LockHolders::Use& use, Tick until) const;

  std::string algorithm_;
  const LockHolders* holders_;
  // The index of these four is the kind of hold: 0 a writer's, 1 a reader's.
  std::array<bool, 2> watches_;             // true if holds of this kind must be kept apart from any others
  std::array<bool, 2> apart_from_readers_;  // true if holds of this kind must be kept apart from readers'
  std::array<int, 2> inside_ = {0, 0};      // number of holds whose end the host has not run yet
  std::array<Hold, 2> ended_;               // of the holds that have ended: the one that ended last in simulated time
  bool reads_again_;                        // true if readers must be told when a writer was inside during their section
  struct {
    Hold release;
    Tick seen_at = -1;
  } settled_;  // the latest release that a later writer has seen. Readers must have seen it, too
};

}  // namespace linebounce::workloads
