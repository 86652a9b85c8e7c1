// First come, first served: one atomic operation an acquisition, but every release is seen by all waiters.
#include "workloads/locks/locks.hpp"

namespace linebounce {

namespace {

class TicketLock final : public Lock {
 public:
  explicit TicketLock(Address words) : next_(words), serving_(words + 8) {}
  void acquire(Cpu& cpu) override {
    const Value mine = cpu.fetch_add(next_, 1);
    cpu.spin_until_acquire(serving_, [mine](Value serving) { return serving == mine; });
  }
  void release(Cpu& cpu) override {
    const Value mine = cpu.load(serving_);
    cpu.store_release(serving_, mine + 1);
  }

 private:
  Address next_;
  Address serving_;
};

}  // namespace

std::unique_ptr<Lock> make_ticket_lock(AddressSpace& memory, const std::string& name, int) {
  const Layout layout{.name = "ticket_lock", .size = memory.line_bytes(), .fields = {{"next", 0}, {"serving", 8}}};
  return std::make_unique<TicketLock>(memory.place(layout, name, memory.line_bytes()));
}

}  // namespace linebounce
