// The event scheduler of a machine. Its parts that act by themselves (buses, cores, the network) ask for turns; one SystemC
// process gives them out in the order of time, and at equal times in the order in which the parts were added. Thousands of
// turns cost one activation by the kernel, and the time of the next turn is known without asking it.
//
// The scheduler's time may run ahead of the kernel's inside the time that the kernel was asked to simulate. The two agree at
// its end and, after keep_kernel_time(), at every turn.
#pragma once

#include <algorithm>
#include <systemc>
#include <vector>

#include "models/units.hpp"

namespace linebounce {

class EventScheduler final : public sc_core::sc_module {
 public:
  // A turn's key is its time and, in the low bits, the rank of its part: the smaller key comes first.
  static constexpr int kRankBits = 10;
  static constexpr std::size_t kMostParts = std::size_t{1} << kRankBits;
  static constexpr Tick kLatest = kNever >> kRankBits;

  class Part {
   public:
    virtual ~Part() = default;
    // Takes the turn that is due. There is no further one unless the part asks for it.
    virtual void turn() = 0;

   protected:
    // The scheduler's time. REQUIRES: some part has its turn.
    [[nodiscard]] Tick now() const { return scheduler_->now_; }
    // The time of the next turn of any part; kNever: none is asked for.
    [[nodiscard]] Tick next_turn() {
      scheduler_->settle();
      return scheduler_->next();
    }
    // Asks for a turn at `at` or earlier. REQUIRES: not before now, not after kLatest. Only cores can ask for a time beyond it,
    // for a timer or a long computation; they call require_in_range() first.
    void act_at(Tick at) {
      const Tick key = at << kRankBits | rank_;
      if (key < scheduler_->keys_[leaf_]) scheduler_->set(leaf_, key);
    }

    // Errors: ModelFailure beyond kLatest.
    static void require_in_range(Tick at) {
      if (at > kLatest) [[unlikely]]
        refuse(at);
    }

   private:
    friend class EventScheduler;
    [[noreturn]] static void refuse(Tick at);

    EventScheduler* scheduler_ = nullptr;
    std::size_t leaf_ = 0;
    Tick rank_ = 0;
  };

  explicit EventScheduler(sc_core::sc_module_name name);

  // REQUIRES: the simulation has not started. Errors: std::length_error beyond kMostParts.
  void add(Part& part);
  // Keeps the kernel's time at that of the turn, for parts that read it.
  void keep_kernel_time() { keeps_kernel_time_ = true; }

  // Gives all turns of the next `duration`, its end excluded.
  void run_for(Tick duration);
  // Gives no more turns, not even of the present time.
  void stop() { stopped_ = true; }

  [[nodiscard]] Tick now() const { return now_; }
  // The time of the next turn; kNever: no part asks for one.
  [[nodiscard]] Tick next() const { return keys_[kRoot] == kNever ? kNever : keys_[kRoot] >> kRankBits; }

 private:
  static constexpr std::size_t kNobody = ~std::size_t{0};

  void give_turns();
  void set(std::size_t leaf, Tick key) {
    keys_[leaf] = key;
    if (unsettled_ == leaf) unsettled_ = kNobody;
    for (std::size_t node = leaf; node > kRoot; node /= 2) {
      key = std::min(key, keys_[node ^ 1]);
      keys_[node / 2] = key;
    }
  }
  // A part whose turn it is keeps its old place in the tournament until it asks for another turn, or somebody asks for the
  // next.
  void settle() {
    if (unsettled_ != kNobody) set(unsettled_, kNever);
  }

  sc_core::sc_event event_;
  std::vector<Part*> parts_;  // by rank
  // A tournament, by node: each holds the smallest key below it. The children of node n are 2n and 2n + 1. The part that was
  // added last plays at the root alone: where there are nodes that is the network, which has most turns.
  static constexpr std::size_t kRoot = 1;
  static constexpr std::size_t kLastLeaf = 3;
  std::vector<Tick> keys_;  // kNever: no turn is asked for
  std::size_t unsettled_ = kNobody;
  Tick now_ = 0;
  Tick until_ = 0;
  bool keeps_kernel_time_ = false;
  bool stopped_ = false;
};

}  // namespace linebounce
