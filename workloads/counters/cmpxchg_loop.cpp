// One word, changed by compare-and-exchange. If another CPU changed the word in between, the operation is retried.
#include "workloads/counters/counters.hpp"

namespace linebounce::workloads {
namespace {

class CmpxchgCounter final : public Counter {
 public:
  explicit CmpxchgCounter(Address word) : word_(word) {}

  void add(Cpu& cpu, std::int64_t amount) override {
    Value expected = cpu.load(word_);
    for (;;) {
      const Value found = cpu.compare_exchange(word_, expected, expected + static_cast<Value>(amount));
      if (found == expected) return;
      expected = found;
    }
  }
  std::int64_t read(Cpu& cpu) override { return static_cast<std::int64_t>(cpu.load(word_)); }

 private:
  Address word_;
};

}  // namespace

CounterEntry cmpxchg_loop_counter() {
  return {"cmpxchg_loop", "Events, by compare-and-exchange until it succeeds",
          [](const CounterPlace& place) {
            return std::make_unique<CmpxchgCounter>(place.place({.name = "cmpxchg_counter", .fields = {{"value", 0}}}));
          },
          nullptr};
}

}  // namespace linebounce::workloads
