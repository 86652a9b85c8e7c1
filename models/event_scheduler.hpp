// Who acts when. The parts of a machine that act by themselves (buses, cores, the network) put the time of their next turn on
// one event scheduler, and one process of SystemC's gives them their turns: in the order of time, and at equal times in the
// order in which they were added. So many turns cost one activation by the kernel, and what comes next is known without asking
// it.
//
// The event scheduler's time may be ahead of the kernel's within the time that the kernel has been asked to simulate; it is the
// same at the end, and at every turn once keep_kernel_time() was called.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "models/units.hpp"

namespace linebounce {

class EventScheduler final : public sc_core::sc_module {
 public:
  // A turn's time and, in the low bits, who has it: of two turns the smaller key is first.
  static constexpr int kRankBits = 10;
  [[nodiscard]] static Tick time_of(Tick key) { return key == kNever ? kNever : key >> kRankBits; }

  class Part {
   public:
    virtual ~Part() = default;
    // Its time has come. It has no further turn unless it asks for one.
    virtual void turn() = 0;

   protected:
    // The time, while somebody has a turn.
    [[nodiscard]] Tick now() const { return scheduler_->now_; }
    // When anybody has the next turn; kNever: nobody asks for one.
    [[nodiscard]] Tick next_turn() {
      scheduler_->settle();
      return scheduler_->next();
    }
    // Asks for a turn at `at` or earlier. REQUIRES: not before now.
    void act_at(Tick at) {
      const Tick key = at << kRankBits | static_cast<Tick>(rank_);
      if (key < scheduler_->keys_[leaf_]) scheduler_->set(leaf_, key);
    }

   private:
    friend class EventScheduler;
    EventScheduler* scheduler_ = nullptr;
    std::uint32_t leaf_ = 0;
    std::uint32_t rank_ = 0;
  };

  explicit EventScheduler(sc_core::sc_module_name name);

  // REQUIRES: the simulation has not started.
  void add(Part& part);
  // Whoever looks at the kernel's time during a turn finds the turn's.
  void keep_kernel_time() { keeps_kernel_time_ = true; }

  // Gives all turns of the next `duration`, its end excluded.
  void run_for(Tick duration);
  // No more turns, not even of this time.
  void stop() { stopped_ = true; }

  [[nodiscard]] Tick now() const { return now_; }
  [[nodiscard]] Tick next() const { return time_of(keys_[kRoot]); }

 private:
  static constexpr std::size_t kNobody = ~std::size_t{0};

  void give_turns();
  void set(std::size_t leaf, Tick key) {
    keys_[leaf] = key;
    if (unsettled_ == leaf) unsettled_ = kNobody;
    Tick* const keys = keys_.data();
    for (std::size_t node = leaf; node > kRoot; node /= 2) {
      const Tick other = keys[node ^ 1];
      key = other < key ? other : key;
      keys[node / 2] = key;
    }
  }
  // Who has the turn stands in the tournament as before until it asks for another or somebody asks who is next.
  void settle() {
    if (unsettled_ != kNobody) set(unsettled_, kNever);
  }

  sc_core::sc_event event_;
  std::vector<Part*> parts_;
  // A tournament: of two neighbours the earlier wins, at equal times the left one. The children of node n are 2n and 2n + 1,
  // and the root's winner is next. The part that was added last meets nobody before the root: where there are nodes that is the
  // network, which has most turns.
  static constexpr std::size_t kRoot = 1;
  static constexpr std::size_t kLastLeaf = 3;
  std::vector<Part*> by_rank_;
  std::vector<Tick> keys_;  // by node: the first of its part of the tree; kNever: wants no turn
  std::vector<std::uint32_t> spare_;
  std::size_t unsettled_ = kNobody;
  Tick now_ = 0;
  Tick until_ = 0;
  bool keeps_kernel_time_ = false;
  bool stopped_ = false;
};

}  // namespace linebounce
