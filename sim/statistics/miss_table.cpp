#include "sim/statistics/miss_table.hpp"

#include <algorithm>

namespace linebounce::sim {

std::uint32_t& MissTable::slot_of(const Key& key) {
  const std::uint64_t mixed = (static_cast<std::uint64_t>(key.object) << 32 | key.offset) * 0x9E3779B97F4A7C15ULL +
                              (static_cast<std::uint64_t>(key.home) << 24 | static_cast<std::uint64_t>(key.function) << 8 |
                               static_cast<std::uint64_t>(key.access) << 4 | static_cast<std::uint64_t>(key.source)) *
                                  0xC2B2AE3D27D4EB4FULL;
  std::size_t i = (mixed >> 32) & (slots_.size() - 1);
  while (slots_[i] != 0 && entries_[slots_[i] - 1].key != key) i = (i + 1) & (slots_.size() - 1);
  return slots_[i];
}

void MissTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (std::uint32_t number = 1; number <= entries_.size(); ++number) slot_of(entries_[number - 1].key) = number;
}

void MissTable::add(const Key& key, bool remote, const Miss& miss) {
  std::uint32_t* slot = &slot_of(key);
  if (*slot == 0) {
    if ((entries_.size() + 1) * 4 > slots_.size() * 3) {
      grow();
      slot = &slot_of(key);
    }
    entries_.push_back({.key = key});
    *slot = static_cast<std::uint32_t>(entries_.size());
  }
  Entry& entry = entries_[*slot - 1];
  ++entry.count;
  entry.remote += remote ? 1 : 0;
  entry.latency += miss.latency;
  entry.waits += miss.waits;
  entry.cpus.set(static_cast<std::size_t>(miss.cpu.value));
}

std::vector<const MissTable::Entry*> MissTable::sorted() const {
  std::vector<const Entry*> entries;
  entries.reserve(entries_.size());
  for (const Entry& entry : entries_) entries.push_back(&entry);
  std::ranges::sort(entries, [](const Entry* a, const Entry* b) { return a->key < b->key; });
  return entries;
}

}  // namespace linebounce::sim
