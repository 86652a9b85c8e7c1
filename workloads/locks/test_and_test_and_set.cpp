// Waiters read their own copy until it changes and only then try: what Linux 2.4 and 2.6 did on i386 (decb, then a loop of
// loads).
#include "workloads/locks/locks.hpp"

namespace linebounce {

namespace {

class TestAndTestAndSetLock final : public Lock {
 public:
  explicit TestAndTestAndSetLock(Address word) : word_(word) {}
  void acquire(Cpu& cpu) override {
    while (cpu.exchange(word_, 1) != 0) {
      cpu.spin_until(word_, [](Value locked) { return locked == 0; });
    }
  }
  void release(Cpu& cpu) override { cpu.store_release(word_, 0); }

 private:
  Address word_;
};

}  // namespace

std::unique_ptr<Lock> make_test_and_test_and_set_lock(AddressSpace& memory, const std::string& name, int) {
  const Layout layout{.name = "test_and_test_and_set_lock", .size = memory.line_bytes(), .fields = {{"locked", 0}}};
  return std::make_unique<TestAndTestAndSetLock>(memory.place(layout, name, memory.line_bytes()));
}

}  // namespace linebounce
