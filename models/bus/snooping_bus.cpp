#include "models/bus/snooping_bus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <tuple>

#include "models/failure.hpp"
#include "models/splitmix64.hpp"

namespace linebounce {
namespace {

constexpr int kWordBytes = 8;  // a word occupies the data bus as 8 bytes, even if a store wrote fewer

}  // namespace

BusTiming::BusTiming(const BusSpec& spec, const Timebase& timebase, int line_bytes)
    : clock(timebase.period(spec.clock)),
      arbitration(spec.arbitration_clocks * clock),
      address(spec.address_clocks * clock),
      snoop(spec.snoop_clocks * clock),
      snoop_stall(spec.snoop_stall_clocks * clock),
      response(spec.response_clocks * clock),
      intervention(spec.intervention_clocks * clock),
      invalidation((spec.invalidation_clocks < 0 ? spec.intervention_clocks + spec.latch_clocks : spec.invalidation_clocks) *
                   clock),
      turnaround(spec.turnaround_clocks * clock),
      latch(spec.latch_clocks * clock),
      data((line_bytes + spec.width_bytes - 1) / spec.width_bytes * clock),
      word((kWordBytes + spec.width_bytes - 1) / spec.width_bytes * clock),
      next_limit(timebase.from_ns(spec.next_limit_ns)),
      snoop_waits(spec.snoop_waits_ns < 0 ? kNever : timebase.from_ns(spec.snoop_waits_ns)),
      overlap(std::min(timebase.from_ns(spec.overlap_ns), intervention)) {}

// The copies of one line, on which bus_order.hpp runs the protocol's rows.
class SnoopingBus::SnoopedLine {
 public:
  // `request`: the request whose order step runs.
  SnoopedLine(SnoopingBus& bus, const BusRequest* request, LineAddr line, Slot slot, Tick at)
      : bus_(bus),
        request_(request),
        line_(line),
        copies_(bus.found_.data()),
        hits_(bus.protocol_.cache.hits.data()),
        first_client_(bus.first_client_),
        slot_(slot),
        at_(at) {}

  [[nodiscard]] std::span<const int> snoopers(MessageId message) const {
    return bus_.protocol_.messages[message].absent_ignores ? bus_.holders() : bus_.everybody_;
  }
  [[nodiscard]] StateId state(int client) const {
    const Copy* copy = found(client);
    return copy == nullptr ? StateId{0} : copy->state;
  }
  void set_state(int client, StateId state) {
    if (Copy* copy = found(client)) CacheAgent::set_state(*copy, state, hits_);
  }
  [[nodiscard]] StateId memory_state() const { return bus_.plain_memory_ ? StateId{0} : bus_.memory_->state(slot_); }
  void set_memory_state(StateId state) {
    if (!bus_.plain_memory_) bus_.memory_->set_state(slot_, state);
  }
  void copy_to_bus(int client) {
    Copy& copy = *found(client);
    data_ = {agent(client).data(copy), copy.version};
  }
  void memory_to_bus() { data_ = bus_.memory_->data(slot_); }
  void bus_to_copy(int client) {  // the bytes were copied by hand_off(); this only reports to the listener
    tell_taken(client);
  }
  void bus_to_memory() {
    bus_.memory_->take(slot_, data_);
    tell_taken(kMemory, data_.bytes);
  }
  void node_action(Action action) { bus_.memory_->act(slot_, action, *request_, data_, at_); }
  // Does nothing: the access runs when its data or response arrives; the bus keeps the line busy until then.
  void complete(int) {}
  void send_word(int client) {
    word_ = bus_.client(client).write_in_order(*found(client), at_);
    writer_ = client;
  }
  // Writes the word that writer_ sent into another copy, which must be one version behind: one word can't repair an older copy.
  void apply_word(int client) {
    Copy& copy = *found(client);
    Copy& written = *found(writer_);
    if (copy.version + 1 != written.version) {
      bus_.fail(fmt::format("stale value: cache {} takes the word that makes version {}, into version {}", client,
                            written.version, copy.version),
                line_);
    }
    std::memcpy(agent(client).data(copy) + word_.offset, agent(writer_).data(written) + word_.offset, word_.bytes);
    copy.version = written.version;
    tell_taken(client);
  }
  void operate(int client) {
    Copy& copy = *found(client);
    bus_.client(client).operate(copy, bus_.memory_->data(slot_), at_);
    bus_.memory_->take(slot_, {agent(client).data(copy), copy.version});
    tell_taken(kMemory, agent(client).data(copy));
  }
  void issue(int, MessageId) {}
  void free(int client) { agent(client).drop(*found(client)); }
  void on_transition(Controller controller, int client, StateId state, EventId event, StateId next) {
    if (controller == Controller::cache) {
      bus_.log_.record(at_, controller, client, line_, state, event, next);
    } else if (bus_.plain_memory_) {
      bus_.log_.record(at_, Controller::memory, 0, line_, state, event, next);
    } else {
      bus_.memory_->on_transition(slot_, state, event, next, at_);
    }
  }

  // Copies the data on the bus into the requester's copy. The requester may not use the data before the data step.
  void hand_off(int client) {
    Copy& copy = *found(client);
    copy_line(agent(client).data(copy), data_.bytes, bus_.store_.line_bytes());
    copy.version = data_.version;
  }
  [[nodiscard]] const LineData& on_bus() const { return data_; }

 private:
  void tell_taken(int keeper) {
    if (bus_.log_.listener() != nullptr) [[unlikely]]
      tell_taken(keeper, agent(keeper).data(*found(keeper)));
  }
  void tell_taken(int keeper, const std::byte* bytes) {
    if (bus_.log_.listener() == nullptr) return;
    bus_.log_.listener()->data_taken(at_, bus_.named(keeper), line_,
                                     {bytes, static_cast<std::size_t>(bus_.store_.line_bytes())});
  }
  [[nodiscard]] Copy* found(int client) const { return copies_[client - first_client_]; }
  [[nodiscard]] CacheAgent& agent(int client) const { return *bus_.agents_[client - bus_.first_client_]; }

  SnoopingBus& bus_;
  const BusRequest* request_;
  LineAddr line_;
  Copy* const* copies_;  // indexed by client - first_client_
  const std::uint8_t* hits_;
  int first_client_;
  Slot slot_;
  Tick at_;
  LineData data_;
  WrittenWord word_;  // the word that was written last, to writer_'s copy
  int writer_ = kNobody;
};

SnoopingBus::SnoopingBus(const MachineContext& machine, const Protocol& protocol, int first_client)
    : spec_(machine.spec.bus),
      timing_(spec_, machine.timebase, machine.store.line_bytes()),
      protocol_(protocol),
      store_(machine.store),
      log_(machine.log),
      first_client_(first_client),
      end_(machine.end),
      announcements_(timing_.lookahead()),
      last_address_(-timing_.address),
      address_(machine.warmup_end, machine.end),
      data_(machine.warmup_end, machine.end) {
  if (timing_.lookahead() < 1) throw std::invalid_argument("machine.bus: arbitration_clocks + snoop_clocks must be at least 1");
}

void SnoopingBus::connect(std::vector<BusClient*> clients, MemorySide& memory) {
  clients_ = std::move(clients);
  for (BusClient* client : clients_) agents_.push_back(&client->caches());
  memory_ = &memory;
  plain_memory_ = memory.is_plain();
  latest_copies_.resize(kLatestLines * clients_.size());
  found_.resize(clients_.size());
  holders_.resize(clients_.size());
  everybody_.resize(clients_.size());
  std::iota(everybody_.begin(), everybody_.end(), first_client_);
}

void SnoopingBus::post(const BusRequest& request) {
  // Decides which request goes first if a client posts two with the same stamp: one from its core, and one that an order step
  // reissued. The order of the two posts must not decide, because it depends on how far the core has run ahead.
  const Tick since = request.since == 0 ? request.stamp : request.since;
  Transaction& fresh = make_transaction();
  fresh.request = request;
  fresh.request.since = since;
  if (request.copy != nullptr) latest_copies(request.slot)[request.client - first_client_] = request.copy;
  const auto precedes = [](const BusRequest& a, const BusRequest& b) {
    return std::tie(a.stamp, a.since, a.client, a.line, a.message) < std::tie(b.stamp, b.since, b.client, b.line, b.message);
  };
  auto place = requests_.end();  // searches from the end, because most new requests have the latest stamp
  while (place != requests_.begin() && precedes(fresh.request, (*std::prev(place))->request)) --place;
  const bool first = place == requests_.begin();
  requests_.insert(place, &fresh);
  if (!first && !spec_.one_per_line) return;  // the first request stays the same, so next_ need not change
  next_ = next_arbitration(now());
  schedule();
}

SnoopingBus::Transaction& SnoopingBus::make_transaction() {
  if (free_.empty()) return made_.emplace_back();
  Transaction& unused = *free_.back();
  free_.pop_back();
  unused.at_line = false;
  return unused;
}

void SnoopingBus::schedule() {
  const Tick touch = transactions_.empty() ? kNever : transactions_.front()->touch_at;
  if (const Tick next = std::min(touch, next_.at); next != kNever) act_at(next);
}

// Finds the request to grant next, and when: at the first clock edge after its stamp at which a grant is possible. With
// one_per_line, later requests can overtake a request whose line is in use.
SnoopingBus::Arbitration SnoopingBus::next_arbitration(Tick now) const {
  Arbitration next;
  if (requests_.empty()) return next;
  const Tick earliest = earliest_arbitration(now);
  if (earliest == kNever) return next;
  if (!spec_.one_per_line) return {std::max(edge_behind(requests_.front()->request), earliest), 0};
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const Tick stamped = edge_behind(requests_[i]->request);
    const Tick free = line_free(requests_[i]->request.slot);
    if (free != kNever) {
      const Tick edge = std::max({stamped, earliest, earliest_for_line(requests_[i]->request, free)});
      if (edge < next.at) next = {edge, i};
    }
    if (next.at <= stamped) break;  // requests with later stamps can't be granted earlier
  }
  if (spec_.next != NextRequest::first && next.at != kNever) next.request = choose_among_waiting(next);
  return next;
}

// `first` is the grant in the order of stamps. Returns the index of the request that goes first among those that wait for the
// same line and could be granted at the same edge.
std::size_t SnoopingBus::choose_among_waiting(const Arbitration& first) const {
  const Slot slot = requests_[first.request]->request.slot;
  const auto precedence = [&](const BusRequest& request) -> std::tuple<int, std::uint64_t> {
    if (request.kind == BusRequest::Kind::run) return {0, 0};
    if (request.kind == BusRequest::Kind::recall) return {1, 0};
    if (spec_.next == NextRequest::chance) {
      const auto client = static_cast<std::uint64_t>(request.client);
      return {3, mix_bits(mix_bits((grants_ + 1) * kSplitmixStep + client) + static_cast<std::uint64_t>(request.stamp))};
    }
    if (first.at - request.since >= timing_.next_limit) return {2, static_cast<std::uint64_t>(request.since)};
    return {3, static_cast<std::uint64_t>(distance_from_line(request))};
  };
  std::size_t chosen = first.request;
  auto least = precedence(requests_[chosen]->request);
  for (std::size_t i = first.request + 1; i < requests_.size() && requests_[i]->request.stamp < first.at; ++i) {
    if (requests_[i]->request.slot != slot) continue;
    if (const auto other = precedence(requests_[i]->request); other < least) {
      least = other;
      chosen = i;
    }
  }
  return chosen;
}

// How far the line travels to the requester's core from the client that got it last. got_last_ records that client, because
// the present copies do not show which one it is: cores that wait for the line have copies, too, and a core that runs ahead
// allocates its copy early.
Tick SnoopingBus::distance_from_line(const BusRequest& request) const {
  const auto slot = static_cast<std::size_t>(request.slot);
  return way_to(request.client, slot < got_last_.size() ? got_last_[slot] : kMemory);
}

void SnoopingBus::note_taker(Slot slot, int taker) {
  if (spec_.next != NextRequest::nearest) return;
  if (slot >= got_last_.size()) got_last_.resize(std::max<std::size_t>(slot + 1, got_last_.size() * 2), kMemory);
  got_last_[slot] = taker;
}

// When the last transaction on this line ends; kNever while a transaction on the line waits for its order step.
Tick SnoopingBus::line_free(Slot slot) const {
  for (const Transaction* transaction : transactions_) {
    if (transaction->request.slot == slot) return kNever;
  }
  return busy_until(slot);
}

// The first clock edge at which a request may be granted for the sake of its line, which is free from `free` on. A snoop that
// waits at the line leaves so early that its result comes no later than `free`: set_snoop() postpones the touch until then. If
// it finds the line in use, it is there only when the request has covered `overlap` of its way; add_waits() takes as much off
// the transfer.
Tick SnoopingBus::earliest_for_line(const BusRequest& request, Tick free) const {
  if (timing_.snoop_waits == kNever || free - request.since < timing_.snoop_waits) return align_up(free, timing_.clock);
  const Tick unhindered = edge_behind(request);
  if (free <= unhindered + timing_.lookahead()) return unhindered;
  return std::max((free - timing_.lookahead()) / timing_.clock * timing_.clock,
                  align_up(unhindered + timing_.overlap, timing_.clock));
}

// The first clock edge at which the bus can grant a request: far enough from the last address phase, with room in the queue.
Tick SnoopingBus::earliest_arbitration(Tick now) const {
  Tick edge = std::max(last_address_ + timing_.address - timing_.arbitration, align_up(now, timing_.clock));
  const auto room =
      static_cast<std::size_t>(spec_.outstanding) - std::min(transactions_.size(), static_cast<std::size_t>(spec_.outstanding));
  if (room == 0) return kNever;  // only an order step can make room in the queue
  if (done_.size() >= room) {
    // done_ is sorted. At the clock edge, at most `room - 1` of its transactions may still be under way.
    edge = std::max(edge, align_up(done_[done_.size() - room], timing_.clock));
  }
  return edge;
}

void SnoopingBus::turn() {
  ++activations_;
  const Tick now = this->now();
  if (now >= end_) return;  // the run is over: the cores have stopped
  if (!transactions_.empty() && transactions_.front()->touch_at == now) {
    sample_front(now);
    next_ = next_arbitration(now);
  }
  if (next_.at <= now) {
    grant(next_);
    next_ = next_arbitration(now);
  }
  schedule();
}

void SnoopingBus::grant(const Arbitration& arbitration) {
  const Tick edge = arbitration.at;
  const auto granted = requests_.begin() + static_cast<std::ptrdiff_t>(arbitration.request);
  const bool alone = transactions_.empty();
  const Tick earliest = alone ? last_result_ + timing_.address : transactions_.back()->touch_at + timing_.address;
  Transaction& transaction = **granted;
  requests_.erase(granted);
  transactions_.push_back(&transaction);
  transaction.address_at = edge + timing_.arbitration;
  ++grants_;
  last_address_ = transaction.address_at;
  if (spec_.one_per_line) {
    const Tick asked = edge_behind(transaction.request);
    transaction.for_line =
        std::clamp<Tick>(align_up(busy_until(transaction.request.slot), timing_.clock) - asked, 0, edge - asked);
  }
  std::erase_if(done_, [edge](Tick done) { return done <= edge; });
  set_snoop(transaction, earliest);
  if (alone) announcements_.announce(transaction.touch_at, edge);
  if (log_.listener() != nullptr) [[unlikely]]
    tell_grant(transaction, edge);
  tell(transaction.request, BusPhase::address, transaction.address_at, timing_.address);
  if (address_.add(edge, timing_.address, measured_end())) ++measured_grants_;
}

// Sets the earliest times of the transaction's snoop result and order step. sample_front() postpones both if the line is busy
// then. `earliest`: no snoop result comes before it, because results keep the order of the address phases.
void SnoopingBus::set_snoop(Transaction& transaction, Tick earliest) const {
  transaction.sampled_at = align_up(std::max(transaction.address_at + timing_.snoop, earliest), timing_.clock);
  transaction.touch_at = std::max(transaction.sampled_at, busy_until(transaction.request.slot));
}

// Orders the first granted transaction now, or postpones it if a holder or a delivery still keeps its line busy.
void SnoopingBus::sample_front(Tick now) {
  Transaction& front = *transactions_.front();
  const Slot slot = front.request.slot;
  const Tick free_at = std::max(busy_until(slot), find_copies(front.request.line, slot, now));
  if (free_at > now) {
    forget_copies();
    front.touch_at = free_at;
    announcements_.announce(free_at, now);
    return;
  }
  const Tick result = front.sampled_at + (now == front.sampled_at ? 0 : align_up(now - front.sampled_at, timing_.snoop_stall));
  last_result_ = std::max(last_result_, result);
  if (log_.listener() != nullptr) [[unlikely]]
    tell_sampled(front, now);
  add_waits(front, now);
  order(front, slot, now, last_result_);
  if (log_.listener() != nullptr) [[unlikely]]
    tell_line_held(front, now);
  forget_copies();
  transactions_.erase(transactions_.begin());
  free_.push_back(&front);
  if (timing_.snoop_waits != kNever) admit_waiting(slot, now);
  if (!transactions_.empty()) {
    Transaction& next = *transactions_.front();
    set_snoop(next, last_result_ + timing_.address);
    if (next.at_line) next.sampled_at = next.touch_at = std::max(busy_until(next.request.slot), now + 1);
  }
  announcements_.perform(now, transactions_.empty() ? kNever : transactions_.front()->touch_at);
}

// Grants a request whose snoop waits at the line, although arbitration could not bring it there in time: the order step at
// `now` has given a core a line that was already at its node, and frees it soon. The request has waited at the node's
// controller, which has put it on the bus in this order step. All cores are still held back to `now`, so the touch needs no
// lookahead.
void SnoopingBus::admit_waiting(Slot slot, Tick now) {
  const Tick free = busy_until(slot);
  if (free <= now || free - timing_.lookahead() >= now + timing_.clock || line_free(slot) == kNever) return;
  const Tick least_wait = std::max(timing_.snoop_waits, timing_.lookahead() + timing_.overlap);
  const auto waits = [&](const Transaction* transaction) {
    const BusRequest& request = transaction->request;
    return request.slot == slot && request.stamp <= now && free - request.since >= least_wait;
  };
  const auto first = std::find_if(requests_.begin(), requests_.end(), waits);
  if (first == requests_.end()) return;
  auto chosen = static_cast<std::size_t>(first - requests_.begin());
  if (spec_.next != NextRequest::first) chosen = choose_among_waiting({.at = now + 1, .request = chosen});
  Transaction& admitted = *requests_[chosen];
  requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(chosen));
  admitted.at_line = true;
  admitted.address_at = now;
  transactions_.push_back(&admitted);
  ++grants_;
  if (log_.listener() != nullptr) [[unlikely]]
    tell_request(admitted);
  if (address_.add(now, 0, measured_end())) ++measured_grants_;
}

// Adds the transaction's waits up to its order step, which runs now, divided into waits for the bus and for the line. A
// request that waits for neither has its snoop result one lookahead after the first clock edge that follows its stamp.
void SnoopingBus::add_waits(Transaction& transaction, Tick now) const {
  BusRequest& request = transaction.request;
  if (transaction.at_line) {
    request.waits[Resource::line] += now - request.stamp;
    transaction.overlap = std::min(timing_.overlap, now - request.since);
    return;
  }
  const Tick unhindered = edge_behind(request) + timing_.lookahead();
  const Tick for_line = now - transaction.sampled_at + transaction.for_line;
  request.waits[Resource::bus] += transaction.sampled_at - unhindered - transaction.for_line;
  request.waits[Resource::line] += for_line;
  transaction.overlap = std::min(timing_.overlap, for_line);
}

// Fills found_, and the members that describe the copies in it. Returns the time until which a holder keeps the line.
Tick SnoopingBus::find_copies(LineAddr line, Slot slot, Tick now) {
  Copy** const latest = latest_copies(slot);
  Tick kept_until = 0;
  Tick last_touch = -1;
  bool watched = false;
  std::size_t count = 0;
  held_ = held(slot);
  for (std::uint64_t rest = held_; rest != 0; rest &= rest - 1) {
    const int index = std::countr_zero(rest);
    Copy* copy = latest[index];
    if (copy == nullptr || copy->slot != slot) copy = latest[index] = agents_[index]->find(line);
    found_[index] = copy;
    holders_[count++] = first_client_ + index;
    last_touch = std::max(last_touch, copy->last_touch);
    watched |= copy->watched;
    if (!copy->may_be_kept) continue;
    const Tick until = clients_[index]->kept_until(line);
    copy->may_be_kept = until > now;
    kept_until = std::max(kept_until, until);
  }
  holder_count_ = count;
  last_touch_ = last_touch;
  watched_ = watched;
  return kept_until;
}

void SnoopingBus::forget_copies() {
  for (const int holder : holders()) found(holder) = nullptr;
}

// REQUIRES: find_copies() was called for this line.
void SnoopingBus::order(const Transaction& transaction, Slot slot, Tick now, Tick result) {
  const BusRequest& request = transaction.request;
  try {
    if (!plain_memory_ && request.kind == BusRequest::Kind::ask && !memory_->grants(request, slot, now))
      return tell_deferred(request, now, result);
    order_granted(transaction, slot, now, result);
  } catch (const ProtocolFault& fault) {
    fail(fault.what(), request.line);
  }
}

void SnoopingBus::order_granted(const Transaction& transaction, Slot slot, Tick now, Tick result) {
  const BusRequest& request = transaction.request;
  if (last_touch_ >= now) [[unlikely]]
    touched_too_early(now);
  if (watched_) wake_watchers(request.line, now);
  if (request.kind == BusRequest::Kind::recall) {
    order_recall(transaction, slot, now, result);
  } else {
    order_client(transaction, slot, now, result);
  }
  if (!plain_memory_) memory_->order_over(slot, now);
}

void SnoopingBus::wake_watchers(LineAddr line, Tick now) {
  for (const int holder : holders()) {
    if (found(holder)->watched) client(holder).watched_copy_changed(line, now);
  }
}

void SnoopingBus::order_client(const Transaction& transaction, Slot slot, Tick now, Tick result) {
  const BusRequest& request = transaction.request;
  SnoopedLine line(*this, &request, request.line, slot, now);
  const OrderOutcome outcome = order_step(protocol_, line, request.message, request.client);
  if (outcome.deferred) return tell_deferred(request, now, result);
  if (log_.listener() != nullptr) [[unlikely]]
    tell_snoop(request, outcome, now, result);
  if (outcome.needs_data_step) line.hand_off(request.client);
  deliver(transaction, outcome, slot, result);
  note_taker(slot, protocol_.messages[request.message].carries_data ? kMemory : request.client);
  if (outcome.reissued) {
    post({.stamp = result,
          .client = request.client,
          .stage = log_.listener() == nullptr ? kNoStage : tell_result(transaction, result),
          .line = request.line,
          .slot = request.slot,
          .message = *outcome.reissued,
          .waits = request.waits});
  }
  if (protocol_.messages[request.message].carries_data) client(request.client).written_back(now);
}

void SnoopingBus::order_recall(const Transaction& transaction, Slot slot, Tick now, Tick result) {
  const BusRequest& request = transaction.request;
  SnoopedLine line(*this, &request, request.line, slot, now);
  const OrderOutcome outcome = recall_step(protocol_, line, request.message);
  note_taker(slot, kMemory);
  const bool data = outcome.supplier != kNobody || outcome.data_to_memory();
  Tick done = result + timing_.response;
  StageId stage = log_.listener() == nullptr ? kNoStage : tell_result(transaction, result);
  Waits waits = request.waits;
  if (data) {
    const Tick ready = result + timing_.intervention - transaction.overlap;
    const Tick start = reserve_data(request, ready, outcome.supplier, timing_.data, waits);
    done = start + timing_.data;
    if (outcome.supplier != kNobody) done += places_.to_edge(outcome.supplier - first_client_);
    if (log_.listener() != nullptr) [[unlikely]] {
      stage = tell_supplied({request, stage, outcome.supplier, result, ready, start, timing_.data, done});
      tell_sent_data(request, SentMessage::What::data, outcome.supplier, kMemory, start, done);
    }
  }
  const Tick answered = done;
  done = std::max(done, all_given_up(slot, kMemory, transaction, result));
  if (log_.listener() != nullptr) [[unlikely]] {
    if (!data) stage = tell_way(stage, Stage::What::response, request, result, answered);
    stage = tell_way(stage, Stage::What::given_up, request, answered, done);
  }
  done_.push_back(done_.empty() ? done : std::max(done, done_.back()));
  memory_->recalled(slot, request.message, outcome.lines.owned, line.on_bus(), now, done, stage, waits);
}

void SnoopingBus::touched_too_early(Tick now) const {
  const auto used = [this, now](int holder) { return found_[holder - first_client_]->last_touch >= now; };
  const int holder = *std::ranges::find_if(holders(), used);
  const Copy& copy = *found_[holder - first_client_];
  fail(fmt::format("invariant I2: cache {} used the line at tick {}, but it is touched from outside at tick {}", holder,
                   copy.last_touch, now),
       copy.line);
}

// Computes when the outcome of an order step takes effect, and reserves the data bus. The outcome is data from memory or
// another cache, a response without data or with a word, or a write-back.
void SnoopingBus::deliver(const Transaction& transaction, const OrderOutcome& outcome, Slot slot, Tick result) {
  const BusRequest& request = transaction.request;
  BusClient& requester = client(request.client);
  Copy* const copy = found(request.client);
  StageId stage = kNoStage;
  Waits waits = request.waits;
  Tick done = result;
  if (outcome.operated) {
    done = deliver_operated(transaction, outcome, slot, result);
  } else if (outcome.needs_data_step) {
    MemorySide::Supply supply{result + timing_.intervention - transaction.overlap, Source::local_c2c};
    if (outcome.supplier == kMemory) {
      supply = memory_->read(slot, transaction.address_at);
      waits[Resource::memory] += read_wait(result, supply.ready);
    }
    const Tick start = reserve_data(request, std::max(result, supply.ready), outcome.supplier, timing_.data, waits);
    if (outcome.data_to_memory()) memory_->write(slot, start + timing_.data);
    const Tick there = start + timing_.latch + way_to(request.client, outcome.supplier);
    const Tick arrival = std::max(there, all_given_up(slot, request.client, transaction, result));
    if (log_.listener() != nullptr) [[unlikely]] {
      stage = tell_result(transaction, result);
      stage = tell_supplied({request, stage, outcome.supplier, result, supply.ready, start, timing_.data, there});
      stage = tell_way(stage, Stage::What::given_up, request, there, arrival);
      tell_sent_data(request, SentMessage::What::data, outcome.supplier, request.client, start, arrival);
      if (outcome.data_to_memory())
        tell_sent_data(request, SentMessage::What::data, outcome.supplier, kMemory, start, start + timing_.data);
    }
    hold(slot, requester.deliver(*copy, arrival, supply.source, stage, waits));
    done = start + timing_.data;
  } else if (outcome.completed) {
    done = std::max(result + timing_.response, all_given_up(slot, request.client, transaction, result));
    if (log_.listener() != nullptr) [[unlikely]]
      stage = tell_response(transaction, result, done);
    if (outcome.word_sent) {
      Waits of_word = waits;
      const Tick start = reserve_data(request, result, request.client, timing_.word, of_word);
      const Tick there = start + timing_.word;
      if (there > done) waits = of_word;
      if (log_.listener() != nullptr) [[unlikely]] {
        const StageId sent = tell_supplied(
            {request, tell_result(transaction, result), request.client, result, result, start, timing_.word, there});
        if (there > done) stage = sent;
        tell_sent_data(request, SentMessage::What::word, request.client, kNobody, start, there);
      }
      done = std::max(done, there);
    }
    hold(slot, requester.deliver(*copy, done, Source::upgrade, stage, waits));
  } else if (outcome.data_to_memory()) {
    const Tick start = reserve_data(request, result, request.client, timing_.data, waits);
    memory_->write(slot, start + timing_.data);
    done = start + timing_.data;
    if (log_.listener() != nullptr) [[unlikely]] {
      stage = tell_result(transaction, result);
      tell_supplied({request, stage, request.client, result, result, start, timing_.data, done});
      tell_sent_data(request, SentMessage::What::data, request.client, kMemory, start, done);
    }
  }
  done_.push_back(done_.empty() ? done : std::max(done, done_.back()));
}

// Computes when a far atomic takes effect. First, memory reads its data or receives newer data from a cache. The line is busy
// until the operation has run on the data. Then one word goes to the requester. Returns the time at which the data bus is free.
Tick SnoopingBus::deliver_operated(const Transaction& transaction, const OrderOutcome& outcome, Slot slot, Tick result) {
  const BusRequest& request = transaction.request;
  MemorySide::Supply supply{0, Source::local_c2c};
  StageId stage = log_.listener() == nullptr ? kNoStage : tell_result(transaction, result);
  Waits waits = request.waits;
  if (outcome.data_to_memory()) {
    const Tick ready = result + timing_.intervention - transaction.overlap;
    const Tick start = reserve_data(request, ready, outcome.memory_sender, timing_.data, waits);
    supply.ready = start + timing_.data + way_to(outcome.memory_sender, kMemory);
    if (log_.listener() != nullptr) [[unlikely]] {
      stage = tell_supplied({request, stage, outcome.memory_sender, result, ready, start, timing_.data, supply.ready});
      tell_sent_data(request, SentMessage::What::data, outcome.memory_sender, kMemory, start, supply.ready);
    }
  } else {
    supply = memory_->read(slot, transaction.address_at);
    const Tick ready = std::max(result, supply.ready);
    waits[Resource::memory] += read_wait(result, supply.ready);
    if (log_.listener() != nullptr) [[unlikely]]
      stage = tell_supplied({request, stage, kMemory, result, ready, ready, 0, ready});
  }
  const Tick operated = std::max({result, supply.ready, all_given_up(slot, kMemory, transaction, result)});
  memory_->write(slot, operated);
  hold(slot, operated);
  const Tick start = reserve_data(request, operated, kMemory, timing_.word, waits);
  const Tick arrival = start + timing_.latch + way_to(request.client, kMemory);
  if (log_.listener() != nullptr) [[unlikely]] {
    stage = tell_way(stage, Stage::What::given_up, request, std::max(result, supply.ready), operated);
    stage = tell_supplied({request, stage, kMemory, operated, operated, start, timing_.word, arrival});
    tell_sent_data(request, SentMessage::What::word, kMemory, request.client, start, arrival);
  }
  client(request.client).operated(request.line, arrival, supply.source, stage, waits);
  return start + timing_.word;
}

// The time that a line travels from `giver` to `taker`, added to its time on the bus.
Tick SnoopingBus::way_to(int taker, int giver) const {
  if (giver == kMemory) return places_.to_edge(taker - first_client_);
  return places_.between(giver - first_client_, taker - first_client_);
}

// The time at which `taker` has heard from every cache that lost its copy in the order step; `result` if none lost one.
Tick SnoopingBus::all_given_up(Slot slot, int taker, const Transaction& transaction, Tick result) const {
  if (timing_.invalidation == 0) return result;
  Tick last = result;
  for (std::uint64_t rest = held_ & ~held(slot); rest != 0; rest &= rest - 1) {
    const int giver = first_client_ + std::countr_zero(rest);
    if (giver == taker) continue;
    const Tick way = taker == kMemory ? way_to(giver, kMemory) : way_to(taker, giver);
    last = std::max(last, result + std::max<Tick>(0, timing_.invalidation - transaction.overlap) + way);
  }
  return last;
}

// How much a memory read's wait for a bank delays the data. The read overlaps the snoop, so only the part of the wait after
// the snoop's result counts. `ready`: the end of the read.
Tick SnoopingBus::read_wait(Tick result, Tick ready) const {
  if (ready <= result) return 0;
  return std::clamp<Tick>(ready - memory_->read_latency() - result, 0, ready - result);
}

// Reserves the data bus for `duration`, at `ready` or later, and records the wait. Returns the start of the transfer.
Tick SnoopingBus::reserve_data(const BusRequest& request, Tick ready, int sender, Tick duration, Waits& waits) {
  const Tick free = data_free_ + (sender != last_sender_ ? timing_.turnaround : 0);
  const Tick start = align_up(std::max(ready, free), timing_.clock);
  if (free > ready) waits[Resource::bus] += start - align_up(ready, timing_.clock);
  data_free_ = start + duration;
  last_sender_ = sender;
  data_.add(start, duration, measured_end());
  tell(request, BusPhase::data, start, duration);
  return start;
}

void SnoopingBus::tell(const BusRequest& request, BusPhase phase, Tick from, Tick duration) const {
  if (timeline_ == nullptr) return;
  const std::string& message = protocol_.messages[request.message].name;
  timeline_->bus(number_, phase, request.client, message, store_.address_of(request.line), from, from + duration);
}

Endpoint SnoopingBus::named(int client) const {
  if (client == kNobody) return {Endpoint::Kind::bus, number_};
  if (client != kMemory) return {Endpoint::Kind::cache, client};
  return {memory_side_, number_};
}

// Reports the grant as two stages: the wait for the line, which takes time only with one_per_line, and then the wait for the
// bus.
void SnoopingBus::tell_grant(Transaction& transaction, Tick edge) const {
  tell_request(transaction);
  BusRequest& request = transaction.request;
  const Tick for_line = transaction.for_line;
  Stage stage{.what = Stage::What::line,
              .at = named(kNobody),
              .line = request.line,
              .from = request.stamp,
              .to = request.stamp + for_line,
              .queued = for_line,
              .after = request.stage};
  stage.after = log_.tell_stage(stage);
  stage.what = Stage::What::bus;
  stage.from = stage.to;
  stage.to = edge + timing_.arbitration;
  stage.queued = edge - edge_behind(request) - for_line;
  stage.held_from = edge;
  stage.held_until = edge + timing_.address;
  request.stage = log_.tell_stage(stage);
}

// Reports that the transaction has its snoop result and is ordered now.
void SnoopingBus::tell_sampled(Transaction& transaction, Tick now) const {
  log_.listener()->arrived(transaction.told, now);
  BusRequest& request = transaction.request;
  if (transaction.at_line) {
    request.stage = log_.tell_stage({.what = Stage::What::line,
                                     .at = named(kNobody),
                                     .line = request.line,
                                     .from = request.stamp,
                                     .to = now,
                                     .queued = now - request.stamp,
                                     .after = request.stage});
    return;
  }
  const Tick sampled = transaction.sampled_at;
  Stage stage{.what = Stage::What::snoop,
              .at = named(kNobody),
              .line = request.line,
              .from = transaction.address_at,
              .to = sampled,
              .queued = sampled - align_up(transaction.address_at + timing_.snoop, timing_.clock),
              .held_from = sampled,
              .held_until = last_result_ + timing_.address,
              .after = request.stage};
  stage.after = log_.tell_stage(stage);
  request.stage = log_.tell_stage({.what = Stage::What::line,
                                   .at = stage.at,
                                   .line = stage.line,
                                   .from = sampled,
                                   .to = now,
                                   .queued = now - sampled,
                                   .after = stage.after});
}

// Reports how long the transaction that was just ordered makes other requests wait for its line. With one_per_line they wait
// before their grants, otherwise before their order steps.
void SnoopingBus::tell_line_held(const Transaction& transaction, Tick now) const {
  const BusRequest& request = transaction.request;
  const Tick from = spec_.one_per_line ? transaction.address_at - timing_.arbitration : now;
  log_.tell_stage({.what = Stage::What::line,
                   .at = named(kNobody),
                   .line = request.line,
                   .from = from,
                   .to = from,
                   .held_from = from,
                   .held_until = std::max(now, busy_until(request.slot))});
}

// Reports the time from the order step to the snoop result, which is late if the line was busy: a stalled snoop is sampled
// again only every `snoop_stall`.
StageId SnoopingBus::tell_result(const Transaction& transaction, Tick result) const {
  return tell_way(transaction.request.stage, Stage::What::snoop, transaction.request, transaction.touch_at, result);
}

StageId SnoopingBus::tell_response(const Transaction& transaction, Tick result, Tick done) const {
  const Tick response = result + timing_.response;
  const StageId answered =
      tell_way(tell_result(transaction, result), Stage::What::response, transaction.request, result, response);
  return tell_way(answered, Stage::What::given_up, transaction.request, response, done);
}

StageId SnoopingBus::tell_way(StageId after, Stage::What what, const BusRequest& request, Tick from, Tick to) const {
  return log_.tell_stage({.what = what, .at = named(kNobody), .line = request.line, .from = from, .to = to, .after = after});
}

StageId SnoopingBus::tell_supplied(const Supplied& it) const {
  // A memory read overlaps the snoop, so only its wait for a bank after the snoop's result counts as queueing delay.
  const Tick ready = std::max(it.from, it.ready);
  const StageId found = log_.tell_stage({.what = Stage::What::supply,
                                         .at = named(it.supplier),
                                         .line = it.request.line,
                                         .from = it.from,
                                         .to = ready,
                                         .queued = it.supplier == kMemory ? read_wait(it.from, it.ready) : 0,
                                         .after = it.stage});
  const StageId waited = log_.tell_stage({.what = Stage::What::data_bus,
                                          .at = named(kNobody),
                                          .line = it.request.line,
                                          .from = ready,
                                          .to = it.start,
                                          .queued = it.start - align_up(ready, timing_.clock),
                                          .held_from = it.start,
                                          .held_until = it.start + it.duration,
                                          .after = found});
  return tell_way(waited, Stage::What::transfer, it.request, it.start, it.there);
}

void SnoopingBus::tell_request(Transaction& transaction) const {
  const BusRequest& request = transaction.request;
  const bool again = request.kind == BusRequest::Kind::run;
  transaction.told = log_.listener()->sent({.what = again ? SentMessage::What::again : SentMessage::What::request,
                                            .message = request.message,
                                            .from = named(request.client),
                                            .to = named(kNobody),
                                            .line = request.line,
                                            .departs = transaction.address_at});
}

void SnoopingBus::tell_deferred(const BusRequest& request, Tick now, Tick result) const {
  if (log_.listener() == nullptr) return;
  log_.listener()->sent({.what = SentMessage::What::deferred,
                         .message = request.message,
                         .from = named(kMemory),
                         .to = named(request.client),
                         .line = request.line,
                         .departs = now,
                         .arrives = result});
}

// Reports the snoop result of a transaction; a write-back has none.
void SnoopingBus::tell_snoop(const BusRequest& request, const OrderOutcome& outcome, Tick now, Tick result) const {
  if (protocol_.messages[request.message].carries_data) return;
  using What = SentMessage::What;
  log_.listener()->sent({.what = outcome.lines.owned    ? What::owned
                                 : outcome.lines.shared ? What::shared
                                                        : What::alone,
                         .message = request.message,
                         .from = named(kNobody),
                         .to = named(request.client),
                         .line = request.line,
                         .departs = now,
                         .arrives = result});
}

void SnoopingBus::tell_sent_data(const BusRequest& request, SentMessage::What what, int from, int to, Tick departs,
                                 Tick arrives) const {
  log_.listener()->sent({.what = what,
                         .message = request.message,
                         .from = named(from),
                         .to = named(to),
                         .line = request.line,
                         .departs = departs,
                         .arrives = arrives,
                         .carries_data = true});
}

bool SnoopingBus::data_step(int client, Copy& copy, Tick at, StageId stage, const Waits& waits) {
  found(client) = &copy;
  SnoopedLine line(*this, nullptr, copy.line, copy.slot, at);
  try {
    const std::optional<MessageId> again = linebounce::data_step(protocol_, line, client);
    found(client) = nullptr;
    if (again) {
      post({.stamp = at,
            .client = client,
            .stage = stage,
            .line = copy.line,
            .slot = copy.slot,
            .message = *again,
            .waits = waits});
    }
    return again.has_value();
  } catch (const ProtocolFault& fault) {
    fail(fault.what(), copy.line);
  }
}

std::string SnoopingBus::describe_pending() const {
  std::string text;
  for (const Transaction* transaction : transactions_) {
    text += fmt::format("  bus: {} of cache {} for line 0x{:x}, address phase at tick {}, snoop at tick {}\n",
                        protocol_.messages[transaction->request.message].name, transaction->request.client,
                        store_.address_of(transaction->request.line), transaction->address_at, transaction->touch_at);
  }
  for (const Transaction* waiting : requests_) {
    const BusRequest& request = waiting->request;
    text +=
        fmt::format("  bus: {} of cache {} for line 0x{:x} waits for arbitration since tick {}\n",
                    protocol_.messages[request.message].name, request.client, store_.address_of(request.line), request.stamp);
  }
  return text;
}

void SnoopingBus::fail(const std::string& what, LineAddr line) const {
  log_.fail(what, line, store_.address_of(line));
}

}  // namespace linebounce
