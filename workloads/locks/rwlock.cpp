// Readers together, a writer alone: one counter for all, so that readers take its line from each other, too.
#include "workloads/locks/biased_counter.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

class ReaderWriterLock final : public Lock {
 public:
  ReaderWriterLock(BiasedCounter counter, const WaitsIn& waits_in) : counter_(counter), waits_in_(waits_in) {}

  bool acquire(Cpu& cpu) override {
    if (counter_.write_at_once(cpu)) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    counter_.wait_to_write(cpu);
    return true;
  }
  bool try_acquire(Cpu& cpu) override {
    if (counter_.write_at_once(cpu)) return true;
    counter_.end_write(cpu);
    return false;
  }
  void release(Cpu& cpu) override { counter_.end_write(cpu); }

  bool acquire_shared(Cpu& cpu) override {
    if (counter_.read_at_once(cpu)) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    counter_.wait_to_read(cpu);
    return true;
  }
  bool release_shared(Cpu& cpu) override {
    counter_.end_read(cpu);
    return true;
  }

 private:
  BiasedCounter counter_;
  WaitsIn waits_in_;
};

}  // namespace

std::unique_ptr<Lock> make_rwlock(const LockPlace& place) {
  const Layout layout{.name = "rwlock", .fields = {{"counter", 0, BiasedCounter::kBytes}}};
  return std::make_unique<ReaderWriterLock>(BiasedCounter(place.memory, place.place(layout)), place.waits_in);
}

}  // namespace linebounce::workloads
