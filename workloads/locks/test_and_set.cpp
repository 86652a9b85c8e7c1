// Every attempt is an atomic exchange: waiters take the line from the holder again and again.
#include "workloads/locks/locks.hpp"

namespace linebounce {

namespace {

class TestAndSetLock final : public Lock {
 public:
  explicit TestAndSetLock(Address word) : word_(word) {}
  void acquire(Cpu& cpu) override {
    while (cpu.exchange(word_, 1) != 0) cpu.compute(Cpu::kSpinPause);
  }
  void release(Cpu& cpu) override { cpu.store_release(word_, 0); }

 private:
  Address word_;
};

}  // namespace

std::unique_ptr<Lock> make_test_and_set_lock(AddressSpace& memory, const std::string& name, int) {
  const Layout layout{.name = "test_and_set_lock", .size = memory.line_bytes(), .fields = {{"locked", 0}}};
  return std::make_unique<TestAndSetLock>(memory.place(layout, name, memory.line_bytes()));
}

}  // namespace linebounce
