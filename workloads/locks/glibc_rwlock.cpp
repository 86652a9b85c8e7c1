// glibc's pthread_rwlock (2.25 to 2.41) of the default kind, which is libstdc++'s std::shared_mutex. Readers count themselves
// in a word, whose two bits say that a writer holds or awaits the lock, and whose turn it is. Whoever has to wait looks at a
// second word, `turn`, and whoever begins a turn changes that last: so a reader costs one atomic operation each way.
//
// Who finds the other side's turn in `readers` may still find its own in `turn`, left by the turn before. It waits there, and
// goes on only when it has seen its turn in `readers` and after that in `turn`.
#include <array>
#include <optional>

#include "workloads/locks/futexes.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/locks.hpp"

namespace linebounce::workloads {
namespace {

// glibc gives each of these 4 bytes, in one line.
constexpr Address kReaders = 0, kTurn = 2, kWriters = 4;
constexpr int kPartBytes = 2;
constexpr Value kWritersTurn = 1, kWriter = 2, kReader = 8;  // of `readers`
constexpr Value kMaySleep = 2;                               // of `turn` and `writers`, whose other values are 0 and 1
constexpr int kAllThatSleep = 1 << 20;
// Besides the operations below: 70 instructions of glibc 2.36 enter and leave as a reader, 86 as a writer (callgrind).
constexpr int kReadersInstructions = 32, kWritersInstructions = 38;

class GlibcRwlock final : public Lock {
 public:
  GlibcRwlock(Address word, const LockPlace& place)
      : readers_(word + kReaders),
        turn_(word + kTurn),
        writers_(word + kWriters),
        futexes_(&Futexes::of(place.per_cpu)),
        waits_in_(place.waits_in) {}

  bool acquire_shared(Cpu& cpu) override {
    cpu.execute(kReadersInstructions);
    const Value seen = cpu.fetch_add(readers_, kReader, kPartBytes) + kReader;
    if ((seen & kWritersTurn) == 0) return false;
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    const Change began = change(cpu, seen, [](Value now) -> std::optional<Value> {
      if ((now & (kWritersTurn | kWriter)) != kWritersTurn) return std::nullopt;
      return now & ~kWritersTurn;
    });
    if (began.made) {
      set_turn(cpu, 0);
      return false;
    }
    await_turn(cpu, 0);
    return true;
  }

  bool release_shared(Cpu& cpu) override {
    cpu.execute(kReadersInstructions);
    const auto left = [](Value now) -> std::optional<Value> {
      return now - kReader == kWriter ? kWriter | kWritersTurn : now - kReader;
    };
    if ((*left(change(cpu, load(cpu, readers_), left).before) & kWritersTurn) != 0) set_turn(cpu, 1);
    return true;
  }

  bool acquire(Cpu& cpu) override {
    cpu.execute(kWritersInstructions);
    bool waited = false;
    const Value seen = become_writer(cpu, waited);
    if ((seen & kWritersTurn) != 0) return waited;
    const Change began = change(cpu, seen | kWriter, [](Value now) -> std::optional<Value> {
      if (now != kWriter) return std::nullopt;
      return kWriter | kWritersTurn;
    });
    if (began.made) {
      cpu.store(turn_, 1, kPartBytes);
      return waited;
    }
    const FunctionScope waiting(cpu, waits_in_.of(cpu));
    await_turn(cpu, 1);
    return true;
  }

  bool try_acquire(Cpu& cpu) override {
    cpu.execute(kWritersInstructions);
    const Change taken = change(cpu, load(cpu, readers_), [](Value now) -> std::optional<Value> {
      if ((now & ~kWritersTurn) != 0) return std::nullopt;
      return kWriter | kWritersTurn;
    });
    if (!taken.made) return false;
    cpu.store(writers_, 1, kPartBytes);
    if (taken.before == 0) cpu.store(turn_, 1, kPartBytes);
    return true;
  }

  void release(Cpu& cpu) override {
    cpu.execute(kWritersInstructions);
    const bool wakes = (cpu.exchange(writers_, 0, kPartBytes) & kMaySleep) != 0;
    const Change left = change(cpu, load(cpu, readers_), [](Value now) -> std::optional<Value> {
      return now < kReader ? now & ~kWriter : now & ~(kWriter | kWritersTurn);
    });
    if (left.before >= kReader) set_turn(cpu, 0);
    if (wakes) futexes_->wake(cpu, writers_, 1);
  }

 private:
  struct Change {
    Value before = 0;
    bool made = false;
  };

  static Value load(Cpu& cpu, Address part) { return cpu.load(part, kPartBytes); }

  // Makes `readers` what new_value() says, unless that says nothing. `seen`: its value, as far as known.
  template <class NewValue>
  Change change(Cpu& cpu, Value seen, NewValue new_value) const {
    for (;;) {
      const std::optional<Value> wanted = new_value(seen);
      if (!wanted) return {seen, false};
      const Value found = cpu.compare_exchange(readers_, seen, *wanted, kPartBytes);
      if (found == seen) return {seen, true};
      seen = found;
    }
  }

  // Returns `readers` from before this CPU became the writer that is next.
  Value become_writer(Cpu& cpu, bool& waited) {
    const auto with_writer = [](Value now) -> std::optional<Value> { return now | kWriter; };
    Value seen = change(cpu, load(cpu, readers_), with_writer).before;
    bool may_sleep = false;
    const FunctionScope waiting(cpu, (seen & kWriter) != 0 ? waits_in_.of(cpu) : cpu.function());
    while ((seen & kWriter) != 0) {
      waited = true;
      may_sleep = sleep(cpu, writers_, 1) || may_sleep;
      seen = change(cpu, load(cpu, readers_), [&](Value now) {
               return (now & kWriter) != 0 ? std::nullopt : with_writer(now);
             }).before;
    }
    cpu.store(writers_, may_sleep ? 1 | kMaySleep : 1, kPartBytes);
    return seen;
  }

  // Sleeps, if the word has this value. Returns false if it has another.
  bool sleep(Cpu& cpu, Address word, Value value) {
    const Value seen = load(cpu, word);
    const bool marked = seen == (value | kMaySleep) ||
                        (seen == value && cpu.compare_exchange(word, value, value | kMaySleep, kPartBytes) == value);
    if (!marked) return false;
    futexes_->wait(cpu, {word, kPartBytes}, value | kMaySleep);
    return true;
  }

  void set_turn(Cpu& cpu, Value turn) {
    if ((cpu.exchange(turn_, turn, kPartBytes) & kMaySleep) != 0) futexes_->wake(cpu, turn_, kAllThatSleep);
  }

  void await_turn(Cpu& cpu, Value turn) {
    const Value other = 1 - turn;
    for (bool told = false;;) {
      while ((load(cpu, turn_) & 1) == other) sleep(cpu, turn_, other);
      if (told) return;
      const std::array<Address, 2> words = {readers_, turn_};
      std::array<Value, 2> values{};
      cpu.order_next(MemoryOrder::acquire);
      cpu.spin_until_any(
          words, values, [&](std::span<const Value> now) { return (now[0] & kWritersTurn) == turn || (now[1] & 1) == other; },
          kPartBytes);
      told = (values[0] & kWritersTurn) == turn;
    }
  }

  Address readers_, turn_, writers_;
  const Futexes* futexes_;
  WaitsIn waits_in_;
};

std::unique_ptr<Lock> make_glibc_rwlock(const LockPlace& place) {
  const Address word = place.place(
      {.name = "glibc_rwlock",
       .fields = {{"readers", kReaders, kPartBytes}, {"turn", kTurn, kPartBytes}, {"writers", kWriters, kPartBytes}}});
  return std::make_unique<GlibcRwlock>(word, place);
}

}  // namespace

LockEntry glibc_rwlock() {
  return {.name = "glibc_rwlock",
          .title = "glibc: pthread_rwlock_t, std::shared_mutex; readers first, waiters sleep in the kernel",
          .traits = {.sleeps = true, .readers = Readers::together},
          .create = make_glibc_rwlock,
          .library = "glibc (pthread_rwlock_t, std::shared_mutex)"};
}

}  // namespace linebounce::workloads
