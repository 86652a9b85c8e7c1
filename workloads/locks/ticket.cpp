// First come, first served: one atomic operation an acquisition, but every release is seen by all waiters.
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kTicketHalf = 4;  // bytes: the next ticket, and behind it the one that is served
constexpr Value kOneTicket = 1;
constexpr Value kTickets = Value{1} << 32;

class TicketLock final : public Lock {
 public:
  TicketLock(Address words, const WaitsIn& waits_in) : next_(words), serving_(words + kTicketHalf), waits_in_(waits_in) {}

  bool acquire(Cpu& cpu) override {
    const Value mine = cpu.fetch_add(next_, kOneTicket, kTicketHalf);
    if (cpu.load_acquire(serving_, kTicketHalf) == mine) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    cpu.spin_until_acquire(
        serving_, [mine](Value serving) { return serving == mine; }, kTicketHalf);
    return true;
  }
  // Takes a ticket only if it is the one that is served: both halves in one word.
  bool try_acquire(Cpu& cpu) override {
    const Value both = cpu.load(next_);
    const Value next = both % kTickets;
    if (next != both / kTickets) return false;
    const Value taken = both - next + (next + kOneTicket) % kTickets;
    return cpu.compare_exchange(next_, both, taken) == both;
  }
  void release(Cpu& cpu) override {
    const Value mine = cpu.load(serving_, kTicketHalf);
    cpu.store_release(serving_, (mine + kOneTicket) % kTickets, kTicketHalf);
  }

 private:
  Address next_;
  Address serving_;
  WaitsIn waits_in_;
};

}  // namespace

std::unique_ptr<Lock> make_ticket_lock(const LockPlace& place) {
  const Layout layout{.name = "ticket_lock", .fields = {{"next", 0, kTicketHalf}, {"serving", kTicketHalf, kTicketHalf}}};
  return std::make_unique<TicketLock>(place.place(layout), place.waits_in);
}

}  // namespace linebounce::workloads
