#include "sim/statistics/miss_table.hpp"

#include <algorithm>

namespace linebounce::sim {

MissTable::Entry& MissTable::find(std::vector<Entry>& entries, const Key& key) const {
  const std::uint64_t mixed = (static_cast<std::uint64_t>(key.object) << 32 | key.offset) * 0x9E3779B97F4A7C15ULL +
                              (static_cast<std::uint64_t>(key.home) << 24 | static_cast<std::uint64_t>(key.function) << 8 |
                               static_cast<std::uint64_t>(key.access) << 4 | static_cast<std::uint64_t>(key.source)) *
                                  0xC2B2AE3D27D4EB4FULL;
  std::size_t i = (mixed >> 32) & (entries.size() - 1);
  while (entries[i].count != 0 && entries[i].key != key) i = (i + 1) & (entries.size() - 1);
  return entries[i];
}

void MissTable::add(const Key& key, bool remote, const Miss& miss) {
  Entry* entry = &find(entries_, key);
  if (entry->count == 0) {
    if (++used_ * 4 > entries_.size() * 3) {
      std::vector<Entry> larger(entries_.size() * 2);
      for (const Entry& old : entries_) {
        if (old.count != 0) find(larger, old.key) = old;
      }
      entries_ = std::move(larger);
      entry = &find(entries_, key);
    }
    entry->key = key;
  }
  ++entry->count;
  entry->remote += remote ? 1 : 0;
  entry->latency += miss.latency;
  entry->waits += miss.waits;
  entry->cpus.set(static_cast<std::size_t>(miss.cpu.value));
}

std::vector<const MissTable::Entry*> MissTable::sorted() const {
  std::vector<const Entry*> used;
  used.reserve(used_);
  for (const Entry& entry : entries_) {
    if (entry.count != 0) used.push_back(&entry);
  }
  std::ranges::sort(used, [](const Entry* a, const Entry* b) { return a->key < b->key; });
  return used;
}

}  // namespace linebounce::sim
