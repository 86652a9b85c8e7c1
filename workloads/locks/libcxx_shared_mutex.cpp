// libc++'s std::shared_mutex: a count of readers and two conditions, with a mutex around them. Readers are inside together, but
// they come and go one by one, each through the mutex twice, so a section shorter than that is faster under the mutex alone.
#include "workloads/locks/glibc_mutex.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

// As in libc++ 14: the mutex has 40 bytes, each condition 48, of which a wait and a signal use the last 12, and the count 4.
constexpr Address kMutexAt = 0, kFirstGateAt = 76, kSecondGateAt = 124, kStateAt = 136;
constexpr int kSharedMutexBytes = 192, kMemberBytes = 4;
constexpr Value kWriterInside = 1U << 31U;  // of the count

// A condition, as far as it moves lines: how many wait, and a number that each signal changes.
class Gate {
 public:
  Gate(Address waiting, const GlibcMutex& mutex, CpuObjects& per_cpu)
      : waiting_(waiting), signals_{waiting + kMemberBytes, kMemberBytes}, mutex_(&mutex), futexes_(&Futexes::of(per_cpu)) {}

  // REQUIRES: this CPU has locked the mutex, and has it again afterwards.
  void wait(Cpu& cpu) const {
    cpu.fetch_add(waiting_, 1, kMemberBytes);
    const Value seen = cpu.load(signals_.address, kMemberBytes);
    mutex_->unlock(cpu);
    futexes_->wait(cpu, signals_, seen);
    cpu.fetch_add(waiting_, (Value{1} << 32U) - 1, kMemberBytes);
    mutex_->lock(cpu);
  }
  void signal(Cpu& cpu, int most) const {
    if (cpu.load(waiting_, kMemberBytes) == 0) return;
    cpu.fetch_add(signals_.address, 1, kMemberBytes);
    futexes_->wake(cpu, signals_.address, most);
  }

 private:
  Address waiting_;
  Cpu::Word signals_;
  const GlibcMutex* mutex_;
  const Futexes* futexes_;
};

class LibcxxSharedMutex final : public Lock {
 public:
  LibcxxSharedMutex(Address at, const LockPlace& place)
      : mutex_(at + kMutexAt, place.per_cpu),
        writer_leaves_(at + kFirstGateAt, mutex_, place.per_cpu),
        readers_leave_(at + kSecondGateAt, mutex_, place.per_cpu),
        state_(at + kStateAt),
        waits_in_(place.waits_in) {}

  bool acquire(Cpu& cpu) override {
    mutex_.lock(cpu);
    bool waited = wait_while(cpu, kWriterInside, writer_leaves_);
    set_state(cpu, state(cpu) | kWriterInside);
    waited = wait_while(cpu, kWriterInside - 1, readers_leave_) || waited;
    mutex_.unlock(cpu);
    return waited;
  }
  bool try_acquire(Cpu& cpu) override {
    mutex_.lock(cpu);
    const bool free = state(cpu) == 0;
    if (free) set_state(cpu, kWriterInside);
    mutex_.unlock(cpu);
    return free;
  }
  void release(Cpu& cpu) override {
    mutex_.lock(cpu);
    set_state(cpu, 0);
    mutex_.unlock(cpu);
    writer_leaves_.signal(cpu, kEverybody);
  }

  bool acquire_shared(Cpu& cpu) override {
    mutex_.lock(cpu);
    const bool waited = wait_while(cpu, kWriterInside, writer_leaves_);
    set_state(cpu, state(cpu) + 1);
    mutex_.unlock(cpu);
    return waited;
  }
  bool release_shared(Cpu& cpu) override {
    mutex_.lock(cpu);
    const Value left = state(cpu) - 1;
    set_state(cpu, left);
    mutex_.unlock(cpu);
    if (left == kWriterInside) readers_leave_.signal(cpu, 1);
    return true;
  }

 private:
  static constexpr int kEverybody = 1 << 20;

  [[nodiscard]] Value state(Cpu& cpu) const { return cpu.load(state_, kMemberBytes); }
  void set_state(Cpu& cpu, Value value) const { cpu.store(state_, value, kMemberBytes); }

  // Waits until the count has none of these bits. Returns true if it had to.
  bool wait_while(Cpu& cpu, Value bits, const Gate& gate) const {
    if ((state(cpu) & bits) == 0) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    do gate.wait(cpu);
    while ((state(cpu) & bits) != 0);
    return true;
  }

  GlibcMutex mutex_;
  Gate writer_leaves_, readers_leave_;
  Address state_;
  WaitsIn waits_in_;
};

std::unique_ptr<Lock> make_libcxx_shared_mutex(const LockPlace& place) {
  const Layout layout{.name = "libcxx_shared_mutex",
                      .size = kSharedMutexBytes,
                      .fields = {{"mutex", kMutexAt, kMemberBytes},
                                 {"owner", kMutexAt + kMemberBytes, kMemberBytes},
                                 {"waiting_1", kFirstGateAt, kMemberBytes},
                                 {"signals_1", kFirstGateAt + kMemberBytes, kMemberBytes},
                                 {"waiting_2", kSecondGateAt, kMemberBytes},
                                 {"signals_2", kSecondGateAt + kMemberBytes, kMemberBytes},
                                 {"state", kStateAt, kMemberBytes}}};
  const Address at = place.memory.place(layout, place.name, place.memory.line_bytes());
  return std::make_unique<LibcxxSharedMutex>(at, place);
}

}  // namespace

LockEntry libcxx_shared_mutex() {
  return {.name = "libcxx_shared_mutex",
          .title = "libc++: std::shared_mutex; a mutex around a count of readers",
          .traits = {.sleeps = true, .readers = Readers::together, .readers_nest = false},
          .create = make_libcxx_shared_mutex,
          .library = "libc++ (std::shared_mutex)"};
}

}  // namespace linebounce::workloads
