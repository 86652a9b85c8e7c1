#include "workloads/linux26/slab/slab.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "models/listed.hpp"
#include "workloads/linux26/slab/slab_memory.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::workloads {
namespace {

constexpr std::uint64_t kShareParts = 10000;
constexpr std::uint64_t kStreams = 1000;  // separates the random streams of caches from other users' streams

class Interleaved final : public SlabCache {
 public:
  Interleaved(Kernel& kernel, std::unique_ptr<SlabCache> cache, double share_pct, std::uint64_t number)
      : kernel_(kernel),
        cache_(std::move(cache)),
        share_(static_cast<std::uint64_t>(std::llround(share_pct / 100 * static_cast<double>(kShareParts)))) {
    for (int cpu = 0; cpu < kernel.cpus(); ++cpu) {
      random_.emplace_back(kernel.seed(), static_cast<std::uint64_t>(cpu), kStreams + number);
    }
  }

  Object alloc(Cpu& cpu) override {
    const Interrupts& interrupts = kernel_.interrupts();
    const bool process = !interrupts.in_handler(cpu) && !interrupts.in_softirq(cpu);
    if (!process || random_[cpu.id().value].below(kShareParts) >= share_) return cache_->alloc(cpu);
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

// Like alternate_node_alloc(): `share_pct` percent of the objects that processes allocate come from the next node instead of
// the CPU's own. Handlers and softirqs always allocate as usual.
std::unique_ptr<SlabCache> make_interleaved(Kernel& kernel, std::unique_ptr<SlabCache> cache, double share_pct,
                                            std::uint64_t number) {
  return std::make_unique<Interleaved>(kernel, std::move(cache), share_pct, number);
}

}  // namespace

using MakeSlabVariant = SlabVariant();

std::span<const SlabVariant> slab_variants() {
  static const std::vector<SlabVariant> kVariants = {
      LISTED(MakeSlabVariant, slab_numa_variant)(),
      LISTED(MakeSlabVariant, slab_unaware_variant)(),
      LISTED(MakeSlabVariant, slub_variant)(),
  };
  return kVariants;
}

std::vector<std::string> slab_variant_names() {
  std::vector<std::string> names;
  for (const SlabVariant& variant : slab_variants()) names.push_back(variant.name);
  return names;
}

SlabAllocator::SlabAllocator(Kernel& kernel, const SlabOptions& options)
    : kernel_(kernel), options_(options), zones_(std::make_unique<Zones>(kernel)) {}

SlabAllocator::~SlabAllocator() = default;

SlabCache& SlabAllocator::create_cache(const std::string& structure, int objects_per_node) {
  const auto variant = std::ranges::find_if(
      slab_variants(), [this](const SlabVariant& candidate) { return candidate.name == options_.variant; });
  if (variant == slab_variants().end()) {
    throw std::invalid_argument(
        fmt::format("no slab allocator is called {}; there are: {}", options_.variant, fmt::join(slab_variant_names(), ", ")));
  }
  std::unique_ptr<SlabCache> cache = variant->create({kernel_, *zones_, options_, structure, objects_per_node});
  if (options_.interleaved_pct > 0 && kernel_.nodes() > 1) {
    cache = make_interleaved(kernel_, std::move(cache), options_.interleaved_pct, caches_.size());
  }
  caches_.push_back(std::move(cache));
  return *caches_.back();
}

}  // namespace linebounce::workloads
