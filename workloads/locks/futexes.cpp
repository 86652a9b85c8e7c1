// No wake-up is lost. A CPU that will sleep adds itself to `waiting` before it looks at the word; a CPU that wakes others has
// changed the word before it looks at `waiting`. Both are full fences, so one of them sees the other.
#include "workloads/locks/futexes.hpp"

#include <fmt/format.h>

#include <utility>

namespace linebounce::workloads {
namespace {

// A queue is a line. First and last are a CPU's number plus 1; 0 is no CPU.
constexpr int kFutexBytes = 4;
constexpr Address kQueueIsLocked = 0, kWaiting = 4, kFirstInQueue = 8, kLastInQueue = 12;
constexpr Address kNextWaiter = 0, kIsWoken = 4, kWaitsFor = 8;
constexpr int kQueuesOfCpu = 16;  // Linux has 256; few words share a queue

void lock_futex_queue(Cpu& cpu, Address queue) {
  while (cpu.exchange(queue + kQueueIsLocked, 1, kFutexBytes) != 0) {
    cpu.spin_until(
        queue + kQueueIsLocked, [](Value locked) { return locked == 0; }, kFutexBytes);
  }
}

void unlock_futex_queue(Cpu& cpu, Address queue) {
  cpu.store_release(queue + kQueueIsLocked, 0, kFutexBytes);
}

// What fetch_add() adds to take `count` away.
Value minus(std::size_t count) {
  return (Value{1} << 32U) - count;
}

void spend(Cpu& cpu, std::int64_t cycles) {
  if (cycles > 0) cpu.compute(cycles);
}

}  // namespace

Futexes& Futexes::of(CpuObjects& per_cpu) {
  return per_cpu.kept<Futexes>("futexes", [&per_cpu] { return std::make_shared<Futexes>(per_cpu); });
}

Futexes::Futexes(CpuObjects& per_cpu)
    : waiters_(&per_cpu.shared(
          {.name = "futex_waiter",
           .size = 16,
           .fields = {{"next", kNextWaiter, kFutexBytes}, {"woken", kIsWoken, kFutexBytes}, {"word", kWaitsFor}}})),
      sleepers_(per_cpu) {
  const Layout queue{.name = "futex_queue",
                     .size = 16,
                     .fields = {{"lock", kQueueIsLocked, kFutexBytes},
                                {"waiting", kWaiting, kFutexBytes},
                                {"first", kFirstInQueue, kFutexBytes},
                                {"last", kLastInQueue, kFutexBytes}}};
  for (int cpu = 0; cpu < per_cpu.cpus(); ++cpu) {
    for (int i = 0; i < kQueuesOfCpu; ++i)
      queues_.push_back(per_cpu.place(queue, fmt::format("{}[{}][{}]", queue.name, cpu, i), cpu));
  }
}

Address Futexes::queue_of(Address word) const {
  constexpr std::uint64_t kSpreads = 0x9e3779b97f4a7c15;  // of Fibonacci hashing: 2^64 over the golden ratio
  constexpr int kUpper = 32;
  return queues_[(word / kFutexBytes * kSpreads >> kUpper) % queues_.size()];
}

void Futexes::append(Cpu& cpu, Address queue, Address word) const {
  const Value me = static_cast<Value>(cpu.id().value) + 1;
  cpu.store(waiter(me) + kNextWaiter, 0, kFutexBytes);
  cpu.store(waiter(me) + kIsWoken, 0, kFutexBytes);
  cpu.store(waiter(me) + kWaitsFor, word);
  const Value last = cpu.load(queue + kLastInQueue, kFutexBytes);
  cpu.store(last == 0 ? queue + kFirstInQueue : waiter(last) + kNextWaiter, me, kFutexBytes);
  cpu.store(queue + kLastInQueue, me, kFutexBytes);
}

// Takes CPUs that wait for the word out of the queue.
std::vector<Value> Futexes::take(Cpu& cpu, Address queue, Address word, int most) const {
  std::vector<Value> taken;
  Value before = 0;
  Value one = cpu.load(queue + kFirstInQueue, kFutexBytes);
  while (one != 0 && std::cmp_less(taken.size(), most)) {
    const Value next = cpu.load(waiter(one) + kNextWaiter, kFutexBytes);
    if (cpu.load(waiter(one) + kWaitsFor) != word) {
      before = one;
    } else {
      cpu.store(before == 0 ? queue + kFirstInQueue : waiter(before) + kNextWaiter, next, kFutexBytes);
      if (next == 0) cpu.store(queue + kLastInQueue, before, kFutexBytes);
      taken.push_back(one);
    }
    one = next;
  }
  return taken;
}

bool Futexes::wait(Cpu& cpu, Cpu::Word word, Value expected) const {
  const Cpu::SystemCosts costs = cpu.system_costs();
  const Address queue = queue_of(word.address);
  spend(cpu, costs.call_cycles);
  cpu.fetch_add(queue + kWaiting, 1, kFutexBytes);
  lock_futex_queue(cpu, queue);
  if (cpu.load(word.address, word.bytes) != expected) {
    unlock_futex_queue(cpu, queue);
    cpu.fetch_add(queue + kWaiting, minus(1), kFutexBytes);
    return false;
  }
  append(cpu, queue, word.address);
  unlock_futex_queue(cpu, queue);
  spend(cpu, costs.switch_cycles);
  const Address woken = waiter(static_cast<Value>(cpu.id().value) + 1) + kIsWoken;
  while (cpu.load_acquire(woken, kFutexBytes) == 0) sleepers_.sleep(cpu);
  cpu.wake(cpu.id());
  spend(cpu, costs.switch_cycles);
  return true;
}

int Futexes::wake(Cpu& cpu, Address word, int most) const {
  const Address queue = queue_of(word);
  spend(cpu, cpu.system_costs().call_cycles);
  cpu.fence();
  if (cpu.load(queue + kWaiting, kFutexBytes) == 0) return 0;
  lock_futex_queue(cpu, queue);
  const std::vector<Value> taken = take(cpu, queue, word, most);
  if (!taken.empty()) cpu.fetch_add(queue + kWaiting, minus(taken.size()), kFutexBytes);
  unlock_futex_queue(cpu, queue);
  for (const Value one : taken) {
    cpu.store_release(waiter(one) + kIsWoken, 1, kFutexBytes);
    cpu.fence();  // the woken CPU must see it
    cpu.wake(CpuId(static_cast<int>(one) - 1));
  }
  return static_cast<int>(taken.size());
}

}  // namespace linebounce::workloads
