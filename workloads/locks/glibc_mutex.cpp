// glibc's default mutex (2.25 to 2.41), which is std::mutex and C11's mtx_t on Linux. A CPU that finds it held sleeps in the
// kernel at once, and whoever is woken competes with those that run. The word has a third value, "somebody may sleep", so that
// a release without waiters needs no system call.
#include <array>

#include "workloads/locks/futexes.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

constexpr Value kFree = 0, kHeld = 1, kWaitedFor = 2;
constexpr int kGlibcWord = 4;  // bytes of the word, and of the owner behind it
// 66 instructions lock and unlock a mutex of glibc 2.36 (counted by callgrind); six of them are operations below.
constexpr int kOtherInstructions = 30;

class GlibcMutex final : public Lock {
 public:
  GlibcMutex(Address word, const LockPlace& place)
      : word_{word, kGlibcWord},
        owner_{word + kGlibcWord, kGlibcWord},
        alone_(place.per_cpu.cpus() == 1),
        futexes_(&Futexes::of(place.per_cpu)),
        waits_in_(place.waits_in) {}

  bool acquire(Cpu& cpu) override {
    if (alone_ ? took_alone(cpu) : try_acquire(cpu)) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    if (cpu.load(word_.address, kGlibcWord) == kWaitedFor) futexes_->wait(cpu, word_, kWaitedFor);
    while (cpu.exchange(word_.address, kWaitedFor, kGlibcWord) != kFree) futexes_->wait(cpu, word_, kWaitedFor);
    keep(cpu);
    return true;
  }

  bool try_acquire(Cpu& cpu) override {
    cpu.execute(kOtherInstructions);
    cpu.load(owner_.address, kGlibcWord);
    if (cpu.compare_exchange(word_.address, kFree, kHeld, kGlibcWord) != kFree) return false;
    keep(cpu);
    return true;
  }

  void release(Cpu& cpu) override {
    cpu.execute(kOtherInstructions);
    cpu.store(owner_.address, 0, kGlibcWord);
    if (alone_) {
      cpu.store_release(word_.address, kFree, kGlibcWord);
    } else if (cpu.exchange(word_.address, kFree, kGlibcWord) == kWaitedFor) {
      futexes_->wake(cpu, word_.address, 1);
    }
  }

 private:
  // A process of one thread needs no atomic operations, and glibc 2.34 and later do without.
  bool took_alone(Cpu& cpu) {
    cpu.execute(kOtherInstructions);
    const std::array<Cpu::Word, 2> words = {owner_, word_};
    std::array<Value, 2> values{};
    cpu.load_all(words, values);
    if (values[1] != kFree) return false;
    cpu.store(word_.address, kHeld, kGlibcWord);
    keep(cpu);
    return true;
  }
  void keep(Cpu& cpu) { cpu.store(owner_.address, static_cast<Value>(cpu.id().value) + 1, kGlibcWord); }

  Cpu::Word word_;
  Cpu::Word owner_;  // stands for the other members in the word's line: lock() reads the kind, and writes owner and users
  bool alone_;
  const Futexes* futexes_;
  WaitsIn waits_in_;
};

std::unique_ptr<Lock> make_glibc_mutex(const LockPlace& place) {
  const Address word =
      place.place({.name = "glibc_mutex", .fields = {{"word", 0, kGlibcWord}, {"owner", kGlibcWord, kGlibcWord}}});
  return std::make_unique<GlibcMutex>(word, place);
}

}  // namespace

LockEntry glibc_mutex() {
  return {.name = "glibc_mutex",
          .title = "glibc: pthread_mutex_t, std::mutex; waiters sleep in the kernel at once",
          .traits = {.sleeps = true},
          .create = make_glibc_mutex,
          .library = "glibc (pthread_mutex_t, std::mutex)"};
}

}  // namespace linebounce::workloads
