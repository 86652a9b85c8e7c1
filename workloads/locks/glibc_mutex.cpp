// glibc's default mutex (2.25 to 2.41), which is std::mutex and C11's mtx_t on Linux. A CPU that finds it held sleeps in the
// kernel at once, and whoever is woken competes with those that run. The word has a third value, "somebody may sleep", so that
// a release without waiters needs no system call.
#include "workloads/locks/glibc_mutex.hpp"

#include <array>

#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

constexpr Value kFree = 0, kHeld = 1, kWaitedFor = 2;
// 66 instructions lock and unlock a mutex of glibc 2.36 (counted by callgrind); six of them are operations below.
constexpr int kOtherInstructions = 30;

class GlibcMutexLock final : public Lock {
 public:
  GlibcMutexLock(const GlibcMutex& mutex, const WaitsIn& waits_in) : mutex_(mutex), waits_in_(waits_in) {}

  bool acquire(Cpu& cpu) override {
    if (mutex_.lock_at_once(cpu)) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    mutex_.wait(cpu);
    return true;
  }
  bool try_acquire(Cpu& cpu) override { return mutex_.try_lock(cpu); }
  void release(Cpu& cpu) override { mutex_.unlock(cpu); }

 private:
  GlibcMutex mutex_;
  WaitsIn waits_in_;
};

std::unique_ptr<Lock> make_glibc_mutex(const LockPlace& place) {
  const Address word = place.place(
      {.name = "glibc_mutex", .fields = {{"word", 0, GlibcMutex::kBytes}, {"owner", GlibcMutex::kBytes, GlibcMutex::kBytes}}});
  return std::make_unique<GlibcMutexLock>(GlibcMutex(word, place.per_cpu), place.waits_in);
}

}  // namespace

void GlibcMutex::keep(Cpu& cpu) const {
  cpu.store(owner_, static_cast<Value>(cpu.id().value) + 1, kBytes);
}

// A process of one thread needs no atomic operations, and glibc 2.35 and later do without.
bool GlibcMutex::lock_at_once(Cpu& cpu) const {
  if (!alone_) return try_lock(cpu);
  cpu.execute(kOtherInstructions);
  const std::array<Cpu::Word, 2> words = {{{owner_, kBytes}, word_}};
  std::array<Value, 2> values{};
  cpu.load_all(words, values);
  if (values[1] != kFree) return false;
  cpu.store(word_.address, kHeld, kBytes);
  keep(cpu);
  return true;
}

void GlibcMutex::wait(Cpu& cpu) const {
  if (cpu.load(word_.address, kBytes) == kWaitedFor) futexes_->wait(cpu, word_, kWaitedFor);
  while (cpu.exchange(word_.address, kWaitedFor, kBytes) != kFree) futexes_->wait(cpu, word_, kWaitedFor);
  keep(cpu);
}

bool GlibcMutex::try_lock(Cpu& cpu) const {
  cpu.execute(kOtherInstructions);
  cpu.load(owner_, kBytes);
  if (cpu.compare_exchange(word_.address, kFree, kHeld, kBytes) != kFree) return false;
  keep(cpu);
  return true;
}

void GlibcMutex::unlock(Cpu& cpu) const {
  cpu.execute(kOtherInstructions);
  cpu.store(owner_, 0, kBytes);
  if (alone_) {
    cpu.store_release(word_.address, kFree, kBytes);
  } else if (cpu.exchange(word_.address, kFree, kBytes) == kWaitedFor) {
    futexes_->wake(cpu, word_.address, 1);
  }
}

LockEntry glibc_mutex() {
  return {.name = "glibc_mutex",
          .title = "glibc: pthread_mutex_t, std::mutex; waiters sleep in the kernel at once",
          .traits = {.sleeps = true},
          .create = make_glibc_mutex,
          .library = "glibc (pthread_mutex_t, std::mutex)"};
}

}  // namespace linebounce::workloads
