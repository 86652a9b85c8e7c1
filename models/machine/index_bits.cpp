#include "models/machine/index_bits.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "models/network/group_timing.hpp"

namespace linebounce {
namespace {

// The bits of the last of `places` places of `bytes` bytes each.
int bits_of(std::uint64_t places, std::uint64_t bytes) {
  return places == 0 ? 0 : static_cast<int>(std::bit_width(places * bytes - 1));
}

// The bits of a cache's sets. A size of 0 is no limit: such a cache has no sets.
int bits_of_cache(int size_kib, int ways) {
  return bits_of(std::uint64_t{1024} * static_cast<unsigned>(size_kib) / static_cast<unsigned>(ways), 1);
}

}  // namespace

int index_bits(const MachineSpec& spec) {
  const auto line = static_cast<std::uint64_t>(spec.bus.line_bytes);
  int bits = bits_of(static_cast<std::uint64_t>(spec.memory.banks), line);
  const auto add = [&bits](int more) { bits = std::max(bits, more); };
  for (const CacheSpec& cache : spec.caches) add(bits_of_cache(cache.size_kib, cache.ways));
  if (!spec.has_nodes()) return bits;
  add(bits_of_cache(spec.node.cache_size_kib, spec.node.cache_ways));
  add(bits_of(static_cast<std::uint64_t>(spec.directory.entries / spec.directory.ways), line));
  for (const MemoryOfNodeSpec& node : spec.memory_of_node) {
    if (node.banks > 0) add(bits_of(static_cast<std::uint64_t>(node.banks), line));
  }
  for (const GroupSpec& group : spec.groups) {
    add(bits_of_cache(group.size_kib, group.ways));
    add(bits_of(static_cast<std::uint64_t>(group.filter_entries / group.filter_ways), line));
    if (group.slices > 1) add(bits_of(static_cast<std::uint64_t>(group.slices), line << kSliceHashShift));
  }
  return bits;
}

}  // namespace linebounce
