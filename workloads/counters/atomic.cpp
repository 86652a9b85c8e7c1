// One word, changed by atomic additions.
#include "models/failure.hpp"
#include "workloads/counters/counters.hpp"

namespace linebounce::workloads {

namespace {

class AtomicCounter final : public Counter {
 public:
  explicit AtomicCounter(Address word) : word_(word) {}
  void add(Cpu& cpu, std::int64_t amount) override { cpu.fetch_add(word_, static_cast<Value>(amount)); }
  std::int64_t read(Cpu& cpu) override { return static_cast<std::int64_t>(cpu.load(word_)); }

 private:
  Address word_;
};

class AtomicReferenceCount final : public ReferenceCount {
 public:
  explicit AtomicReferenceCount(Address word) : word_(word) {}
  void get(Cpu& cpu) override { change(cpu, 1); }
  bool put(Cpu& cpu) override { return change(cpu, ~Value{0}) == 1; }

 private:
  Value change(Cpu& cpu, Value amount) const {
    const Value before = cpu.fetch_add(word_, amount);
    if (before == 0) throw ModelFailure("a reference is changed of an object that nobody holds");
    return before;
  }

  Address word_;
};

Layout layout() {
  return {.name = "atomic_counter", .fields = {{"value", 0}}};
}

}  // namespace

CounterEntry atomic_counter() {
  return {"atomic", "Events or references, by atomic addition",
          [](const CounterPlace& place) { return std::make_unique<AtomicCounter>(place.place(layout())); },
          [](const CounterPlace& place) {
            const Address word = place.place(layout());
            place.memory.preset(word, 1);
            return std::make_unique<AtomicReferenceCount>(word);
          }};
}

}  // namespace linebounce::workloads
