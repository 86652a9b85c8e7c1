// A pipelined snooping bus with split transactions: arbitration, address phase, snoop result, data or response.
//
//   request stamped before edge E -- arbitration --> address phase A -- snoop --> result R -- data phase --> pins of the
//   requester
//
// Snoop results keep the order of the address phases. The caches are touched once, at the result: the order step of the
// protocol's table. A snoop whose line is busy is sampled again every `snoop_stall_clocks`; the line is taken the moment it is
// free (an atomic operation ends, a new owner has finished its one access), so that nobody gets in between.
#pragma once

#include <systemc>
#include <vector>

#include "models/bus/announcements.hpp"
#include "models/bus/bus_client.hpp"
#include "models/bus/bus_places.hpp"
#include "models/bus/memory_side.hpp"
#include "models/coherence/bus_order.hpp"
#include "models/coherence/transition_log.hpp"
#include "models/event_scheduler.hpp"
#include "models/failure.hpp"
#include "models/machine_context.hpp"
#include "models/timebase.hpp"
#include "models/timeline.hpp"

namespace linebounce {

struct BusTiming {
  BusTiming(const BusSpec& spec, const Timebase& timebase, int line_bytes);
  // K: arbitration to snoop result.
  [[nodiscard]] Tick lookahead() const { return arbitration + snoop; }

  Tick clock, arbitration, address, snoop, snoop_stall, response, intervention, turnaround, latch, data, word;
};

struct BusStatistics {
  std::int64_t transactions = 0;
  Tick address_busy = 0;
  Tick data_busy = 0;
};

class SnoopingBus final : public sc_core::sc_module, public Bus, public EventScheduler::Part {
 public:
  // Its clients have the numbers from `first_client` on. `protocol`'s memory table is that of what stands behind the bus.
  // Errors: std::invalid_argument for a bus whose snoop result comes with the request.
  SnoopingBus(sc_core::sc_module_name name, const MachineContext& machine, const Protocol& protocol, int first_client);

  // In the order of their numbers.
  sc_core::sc_port<BusClient, 0, sc_core::SC_ZERO_OR_MORE_BOUND> clients;
  sc_core::sc_port<MemorySide> memory;

  void end_of_elaboration() override;

  // For whoever listens: its number in the machine, and what stands in memory's place.
  void set_names(int number, Endpoint::Kind memory_side) {
    number_ = number;
    memory_side_ = memory_side;
  }
  // REQUIRES: the simulation has not started.
  void set_timeline(Timeline& timeline) { timeline_ = &timeline; }

  // REQUIRES: the simulation has not started.
  void set_places(BusPlaces places) { places_ = std::move(places); }

  [[nodiscard]] const Announcements& announcements() const { return announcements_; }
  [[nodiscard]] const BusStatistics& statistics() const { return statistics_; }
  // How many turns it had.
  [[nodiscard]] std::int64_t activations() const { return activations_; }

  [[nodiscard]] const Protocol& protocol() const override { return protocol_; }
  void post(const BusRequest& request) override;
  bool data_step(int client, Copy& copy, Tick at) override;

  // Every transaction that is not over, a line of text each.
  [[nodiscard]] std::string describe_pending() const;

 private:
  struct Transaction {
    BusRequest request;
    Tick address_at = 0;
    Tick sampled_at = 0;     // first snoop result
    Tick touch_at = 0;       // the order step: sampled_at, or when the line is free
    std::uint32_t told = 0;  // its number at a StepListener
  };
  class SnoopedLine;

  void turn() override;
  struct Arbitration {
    Tick at = kNever;
    std::size_t request = 0;  // in requests_
  };
  void schedule();
  [[nodiscard]] Arbitration next_arbitration(Tick now) const;
  [[nodiscard]] Tick earliest_arbitration(Tick now) const;
  [[nodiscard]] Tick line_free(Slot slot) const;
  void grant(const Arbitration& arbitration);
  void set_snoop(Transaction& transaction, Tick earliest) const;
  [[nodiscard]] Tick busy_until(Slot slot) const { return slot < busy_.size() ? busy_[slot] : 0; }
  void hold(Slot slot, Tick until) {
    if (slot >= busy_.size()) busy_.resize(std::max<std::size_t>(slot + 1, busy_.size() * 2));
    busy_[slot] = std::max(busy_[slot], until);
  }
  void sample_front(Tick now);
  void order(const Transaction& transaction, Slot slot, Tick now, Tick result);
  void order_granted(const Transaction& transaction, Slot slot, Tick now, Tick result);
  void order_client(const Transaction& transaction, Slot slot, Tick now, Tick result);
  void order_recall(const Transaction& transaction, Slot slot, Tick now, Tick result);
  Tick find_holders(LineAddr line, Slot slot, Tick now);
  void forget_holders();
  [[nodiscard]] BusClient& client(int number) const { return *clients_[static_cast<std::size_t>(number - first_client_)]; }
  [[noreturn]] void touched_too_early(const Copy& copy, int holder, Tick now) const;
  void deliver(const Transaction& transaction, const OrderOutcome& outcome, Slot slot, Tick result);
  Tick deliver_operated(const Transaction& transaction, const OrderOutcome& outcome, Slot slot, Tick result);
  [[nodiscard]] Tick way_to(int taker, int giver) const;
  Tick reserve_data(const BusRequest& request, Tick ready, int sender, Tick duration);
  void tell(const BusRequest& request, BusPhase phase, Tick from, Tick duration) const;
  // To who hears of every step, if anybody does.
  void tell_request(Transaction& transaction) const;
  void tell_deferred(const BusRequest& request, Tick now, Tick result) const;
  void tell_snoop(const BusRequest& request, const OrderOutcome& outcome, Tick now, Tick result) const;
  void tell_data(const BusRequest& request, SentMessage::What what, int from, int to, Tick departs, Tick arrives) const {
    if (log_.listener() != nullptr) [[unlikely]]
      tell_sent_data(request, what, from, to, departs, arrives);
  }
  void tell_sent_data(const BusRequest& request, SentMessage::What what, int from, int to, Tick departs, Tick arrives) const;
  [[nodiscard]] Endpoint named(int client) const;
  [[noreturn]] void fail(const std::string& what, LineAddr line) const;
  [[nodiscard]] bool measured(Tick at) const { return at >= warmup_end_ && at < end_; }

  const BusSpec& spec_;
  const BusTiming timing_;
  const Protocol& protocol_;
  LineStore& store_;
  TransitionLog& log_;
  FailureSink& failures_;
  BusPlaces places_;
  int first_client_;
  Tick warmup_end_;
  Tick end_;
  Announcements announcements_;
  std::vector<BusClient*> clients_;  // what the port is bound to
  std::vector<CacheAgent*> agents_;  // theirs
  MemorySide* memory_ = nullptr;     // likewise

  std::vector<BusRequest> requests_;       // not granted yet, by (stamp, client)
  Arbitration next_;                       // among them
  std::vector<Transaction> transactions_;  // granted, not ordered yet, in the bus's order; at most `outstanding`
  std::vector<Tick> done_;                 // when the ordered ones leave the bus, only those that may still matter
  std::vector<Tick> busy_;                 // by slot: until when a delivered transaction holds the line
  std::vector<Copy*> found_;               // by client: its copy of the line whose rows run; null: has none, or none run
  std::vector<int> holders_;
  std::vector<int> everybody_;
  Tick last_address_;
  Tick last_result_ = 0;
  Tick data_free_ = 0;
  int last_sender_ = kNobody;
  BusStatistics statistics_;
  Timeline* timeline_ = nullptr;
  int number_ = 0;
  Endpoint::Kind memory_side_ = Endpoint::Kind::memory;
  std::int64_t activations_ = 0;
  bool plain_ = false;  // memory has no states and always grants
};

}  // namespace linebounce
