#include "workloads/linux26/slab/interleaved.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "workloads/program/random.hpp"

namespace linebounce::workloads {

namespace {

constexpr std::uint64_t kParts = 10000;
constexpr std::uint64_t kStreams = 1000;  // this cache's random streams are told from those of others

class Interleaved final : public SlabCache {
 public:
  Interleaved(Kernel& kernel, std::unique_ptr<SlabCache> cache, double share_pct, std::uint64_t number)
      : kernel_(kernel),
        cache_(std::move(cache)),
        share_(static_cast<std::uint64_t>(std::llround(share_pct / 100 * static_cast<double>(kParts)))) {
    for (int cpu = 0; cpu < kernel.cpus(); ++cpu) {
      random_.emplace_back(kernel.seed(), static_cast<std::uint64_t>(cpu), kStreams + number);
    }
  }

  Object alloc(Cpu& cpu) override {
    const Interrupts& interrupts = kernel_.interrupts();
    const bool process = !interrupts.in_handler(cpu) && !interrupts.in_softirq(cpu);
    if (!process || random_[cpu.id().value].below(kParts) >= share_) return cache_->alloc(cpu);
    return cache_->alloc_on(cpu, (kernel_.node_of(cpu.id().value) + 1) % kernel_.nodes());
  }
  Object alloc_on(Cpu& cpu, int node) override { return cache_->alloc_on(cpu, node); }
  void free(Cpu& cpu, const Object& object) override { cache_->free(cpu, object); }
  void check(Cpu& cpu) override { cache_->check(cpu); }
  [[nodiscard]] std::vector<Object> objects() const override { return cache_->objects(); }

 private:
  Kernel& kernel_;
  std::unique_ptr<SlabCache> cache_;
  std::uint64_t share_;
  std::vector<Random> random_;  // by CPU
};

}  // namespace

std::unique_ptr<SlabCache> make_interleaved(Kernel& kernel, std::unique_ptr<SlabCache> cache, double share_pct,
                                            std::uint64_t number) {
  return std::make_unique<Interleaved>(kernel, std::move(cache), share_pct, number);
}

}  // namespace linebounce::workloads
