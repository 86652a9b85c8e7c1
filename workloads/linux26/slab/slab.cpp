#include "workloads/linux26/slab/slab.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "models/listed.hpp"
#include "workloads/linux26/slab/interleaved.hpp"
#include "workloads/linux26/slab/slab_memory.hpp"

namespace linebounce::workloads {

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
  const auto variant = std::find_if(slab_variants().begin(), slab_variants().end(),
                                    [this](const SlabVariant& candidate) { return candidate.name == options_.variant; });
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
