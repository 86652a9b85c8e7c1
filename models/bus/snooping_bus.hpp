// A pipelined snooping bus with split transactions: arbitration, address phase, snoop result, data or response.
//
//   request stamped before edge E -- arbitration --> address phase A -- snoop --> result R -- data phase --> pins of the
//   requester
//
// Snoop results keep the order of the address phases. The bus touches the caches once per transaction: at the time of the snoop
// result, in the order step of the protocol's table. If the line is busy then (an atomic operation locks it, or a new owner has
// yet to complete its access), the snoop is sampled again every `snoop_stall_clocks`. The order step takes the line the moment
// it is free, so that no other access comes between.
//
// With `one_per_line`, a request is granted only when its line is free. If its snoop waits at the line (`snoop_waits_ns`), it
// is granted early enough for the snoop to meet the line the moment it is free: the owner completes one operation, not more.
#pragma once

#include <algorithm>
#include <deque>
#include <span>
#include <vector>

#include "models/bus/announcements.hpp"
#include "models/bus/bus_client.hpp"
#include "models/bus/bus_places.hpp"
#include "models/bus/memory_side.hpp"
#include "models/busy_time.hpp"
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
  // K of docs/engine.md: the time from arbitration to snoop result.
  [[nodiscard]] Tick lookahead() const { return arbitration + snoop; }

  Tick clock, arbitration, address, snoop, snoop_stall, response, intervention, invalidation, turnaround, latch, data, word;
  Tick next_limit;
  Tick snoop_waits;  // kNever: no snoop waits at its line
  Tick overlap;
};

// Of the measured time.
struct BusStatistics {
  std::int64_t transactions = 0;
  Tick address_busy = 0;
  Tick data_busy = 0;
};

class SnoopingBus final : public Bus, public EventScheduler::Part {
 public:
  // The bus's clients are numbered from `first_client` on. `protocol.memory` is the table of the memory side. Errors:
  // std::invalid_argument if arbitration and snoop together take no time, because the lookahead must be positive.
  SnoopingBus(const MachineContext& machine, const Protocol& protocol, int first_client);

  // `clients`: the caches on the bus, in the order of client numbers. REQUIRES: called once, before the simulation starts; all
  // of them outlive the bus.
  void connect(std::vector<BusClient*> clients, MemorySide& memory);

  // Sets the names that reports to listeners use: the bus's number in the machine, and the kind of its memory side.
  void set_names(int number, Endpoint::Kind memory_side) {
    number_ = number;
    memory_side_ = memory_side;
  }
  // REQUIRES: the simulation has not started.
  void set_timeline(Timeline& timeline) { timeline_ = &timeline; }

  // REQUIRES: the simulation has not started.
  void set_places(BusPlaces places) { places_ = std::move(places); }

  [[nodiscard]] const Announcements& announcements() const { return announcements_; }
  // `end`: when the measured time ended.
  [[nodiscard]] BusStatistics statistics(Tick end) const { return {measured_grants_, address_.until(end), data_.until(end)}; }
  // How often the scheduler has resumed the bus, for the `bench` command.
  [[nodiscard]] std::int64_t activations() const { return activations_; }

  [[nodiscard]] const Protocol& protocol() const override { return protocol_; }
  void post(const BusRequest& request) override;
  bool data_step(int client, Copy& copy, Tick at, StageId stage, const Waits& waits) override;

  // Requests that wait for arbitration.
  [[nodiscard]] std::size_t waiting() const { return requests_.size(); }
  // One line of text for each transaction under way, and for each request that waits for arbitration.
  [[nodiscard]] std::string describe_pending() const;

 private:
  // A request, which waits for arbitration until it is granted.
  struct Transaction {
    BusRequest request;
    Tick address_at = 0;
    Tick sampled_at = 0;     // the time of the first snoop result
    Tick touch_at = 0;       // when the order step runs: at sampled_at, or when a busy line becomes free
    Tick for_line = 0;       // how long the grant was delayed because the line was busy
    Tick overlap = 0;        // the part of the transfer that passed while the request waited for the line
    bool at_line = false;    // granted by admit_waiting(), without arbitration
    std::uint32_t told = 0;  // the request's number in the StepListener's reports
  };
  class SnoopedLine;

  void turn() override;
  struct Arbitration {
    Tick at = kNever;
    std::size_t request = 0;  // index into requests_
  };
  [[nodiscard]] Transaction& make_transaction();
  void schedule();
  [[nodiscard]] Arbitration next_arbitration(Tick now) const;
  [[nodiscard]] Tick earliest_arbitration(Tick now) const;
  [[nodiscard]] std::size_t choose_among_waiting(const Arbitration& first) const;
  [[nodiscard]] Tick distance_from_line(const BusRequest& request) const;
  void note_taker(Slot slot, int taker);
  [[nodiscard]] Tick line_free(Slot slot) const;
  [[nodiscard]] Tick earliest_for_line(const BusRequest& request, Tick free) const;
  [[nodiscard]] Tick edge_behind(const BusRequest& request) const {
    return (request.stamp / timing_.clock + 1) * timing_.clock;
  }
  void grant(const Arbitration& arbitration);
  void set_snoop(Transaction& transaction, Tick earliest) const;
  [[nodiscard]] Tick busy_until(Slot slot) const { return slot < busy_until_.size() ? busy_until_[slot] : 0; }
  // Keeps the line busy: no other transaction on the line is ordered before `until`.
  void hold(Slot slot, Tick until) {
    if (slot >= busy_until_.size()) busy_until_.resize(std::max<std::size_t>(slot + 1, busy_until_.size() * 2));
    busy_until_[slot] = std::max(busy_until_[slot], until);
  }
  void sample_front(Tick now);
  void admit_waiting(Slot slot, Tick now);
  void add_waits(Transaction& transaction, Tick now) const;
  void order(const Transaction& transaction, Slot slot, Tick now, Tick result);
  void order_granted(const Transaction& transaction, Slot slot, Tick now, Tick result);
  void order_client(const Transaction& transaction, Slot slot, Tick now, Tick result);
  void order_recall(const Transaction& transaction, Slot slot, Tick now, Tick result);
  Tick find_copies(LineAddr line, Slot slot, Tick now);
  void forget_copies();
  [[nodiscard]] Copy** latest_copies(Slot slot) { return latest_copies_.data() + slot % kLatestLines * clients_.size(); }
  [[nodiscard]] std::span<const int> holders() const { return {holders_.data(), holder_count_}; }
  [[nodiscard]] Copy*& found(int client) { return found_.data()[client - first_client_]; }
  void wake_watchers(LineAddr line, Tick now);
  [[nodiscard]] BusClient& client(int number) const { return *clients_.data()[number - first_client_]; }
  [[nodiscard]] CacheAgent& agent(int number) const { return *agents_.data()[number - first_client_]; }
  [[noreturn]] void touched_too_early(Tick now) const;
  void deliver(const Transaction& transaction, const OrderOutcome& outcome, Slot slot, Tick result);
  Tick deliver_operated(const Transaction& transaction, const OrderOutcome& outcome, Slot slot, Tick result);
  [[nodiscard]] Tick way_to(int taker, int giver) const;
  [[nodiscard]] std::uint64_t held(Slot slot) const {
    return clients_.empty() ? 0 : store_.holders(slot, first_client_, static_cast<int>(clients_.size()));
  }
  [[nodiscard]] Tick all_given_up(Slot slot, int taker, const Transaction& transaction, Tick result) const;
  [[nodiscard]] Tick read_wait(Tick result, Tick ready) const;
  Tick reserve_data(const BusRequest& request, Tick ready, int sender, Tick duration, Waits& waits);
  void tell(const BusRequest& request, BusPhase phase, Tick from, Tick duration) const;
  // These functions report to the StepListener, if one is attached.
  [[gnu::cold]] void tell_request(Transaction& transaction) const;
  void tell_deferred(const BusRequest& request, Tick now, Tick result) const;
  [[gnu::cold]] void tell_snoop(const BusRequest& request, const OrderOutcome& outcome, Tick now, Tick result) const;
  [[gnu::cold]] void tell_sent_data(const BusRequest& request, SentMessage::What what, int from, int to, Tick departs,
                                    Tick arrives) const;
  [[nodiscard]] Endpoint named(int client) const;
  // These functions report stages of transactions, and return the latest. REQUIRES: there is a listener.
  struct Supplied {
    const BusRequest& request;
    StageId stage;
    int supplier;
    // from: the snoop result, when the fetch begins; ready: the supplier has the data; start: the transfer on the data bus
    // begins.
    Tick from, ready, start;
    Tick duration;  // duration of the transfer on the data bus
    Tick there;     // when the receiver has the data
  };
  [[gnu::cold]] void tell_grant(Transaction& transaction, Tick edge) const;
  [[gnu::cold]] void tell_sampled(Transaction& transaction, Tick now) const;
  [[gnu::cold]] void tell_line_held(const Transaction& transaction, Tick now) const;
  [[gnu::cold]] StageId tell_result(const Transaction& transaction, Tick result) const;
  [[gnu::cold]] StageId tell_response(const Transaction& transaction, Tick result, Tick done) const;
  [[gnu::cold]] StageId tell_supplied(const Supplied& it) const;
  [[gnu::cold]] StageId tell_way(StageId after, Stage::What what, const BusRequest& request, Tick from, Tick to) const;
  [[noreturn]] void fail(const std::string& what, LineAddr line) const;

  const BusSpec& spec_;
  const BusTiming timing_;
  const Protocol& protocol_;
  LineStore& store_;
  TransitionLog& log_;
  BusPlaces places_;
  int first_client_;
  Tick end_;
  Announcements announcements_;
  std::vector<BusClient*> clients_;
  std::vector<CacheAgent*> agents_;  // the clients' caches
  MemorySide* memory_ = nullptr;

  std::deque<Transaction> made_;            // all transactions, in a deque, because pointers to them must stay valid
  std::vector<Transaction*> free_;          // those not in use
  std::vector<Transaction*> requests_;      // those that wait for arbitration, sorted by (stamp, since, client)
  Arbitration next_;                        // the next grant from requests_
  std::vector<Transaction*> transactions_;  // those granted but not yet ordered, in bus order; at most `outstanding`
  std::vector<Tick> done_;                  // ascending end times of transactions that may still be in the in-order queue
  std::vector<Tick> busy_until_;            // indexed by slot: the time until which a delivered transaction keeps the line busy
  std::vector<int> got_last_;  // used with next = nearest, indexed by slot: the client that got the line last, or kMemory
  // Indexed by the low bits of a line's slot and by client: the copy that the client requested last, or that the bus found
  // last; null at first. This finds the copies of a contended line without the caches' tags.
  std::vector<Copy*> latest_copies_;
  static constexpr Slot kLatestLines = 64;
  std::vector<Copy*> found_;  // indexed by client: its copy of the line being ordered, or null
  std::vector<int> holders_;  // the first holder_count_: the clients that have a copy of the line being ordered
  std::size_t holder_count_ = 0;
  std::uint64_t held_ = 0;  // the clients with a copy before the order step: bit n is client first_client_ + n
  Tick last_touch_ = -1;    // the latest Copy::last_touch of these copies
  bool watched_ = false;    // true if a parked spin watches one of them
  std::vector<int> everybody_;
  Tick last_address_;
  Tick last_result_ = 0;
  Tick data_free_ = 0;
  int last_sender_ = kNobody;
  std::uint64_t grants_ = 0;  // the number of requests granted so far
  std::int64_t measured_grants_ = 0;
  BusyTime<1> address_;  // a grant reserves the address phase that begins with it
  BusyTime<16> data_;
  Timeline* timeline_ = nullptr;
  int number_ = 0;
  Endpoint::Kind memory_side_ = Endpoint::Kind::memory;
  std::int64_t activations_ = 0;
  bool plain_memory_ = false;
};

}  // namespace linebounce
