#include "models/cache/cache_agent.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

namespace linebounce {
namespace {

// How many coherence lines the level can hold at most, whole or in part: each of its blocks may belong to a different line.
int lines_of(const CacheSpec& spec, int coherence_line_bytes) {
  return spec.size_kib * 1024 / std::min(spec.line_bytes, coherence_line_bytes);
}

}  // namespace

CacheAgent::CacheAgent(int number, std::span<const CacheSpec> levels, const ControllerTable& table, LineStore& store,
                       int spare_copies)
    : number_(number),
      table_(&table),
      store_(&store),
      line_shift_(std::countr_zero(static_cast<unsigned>(store.line_bytes()))),
      host_lines_((sizeof(Copy) + static_cast<std::size_t>(store.line_bytes()) + sizeof(HostLine) - 1) / sizeof(HostLine)),
      pool_size_(static_cast<CopyIndex>(spare_copies)) {
  free_.reserve(pool_size_);
  detached_.reserve(pool_size_);
  for (const CacheSpec& spec : levels) {
    if (spec.inclusive) inclusive_ |= 1U << arrays_.size();
    if (spec.line_bytes == store.line_bytes()) full_lines_ |= 1U << arrays_.size();
    arrays_.emplace_back(spec);
    pool_size_ += static_cast<CopyIndex>(lines_of(spec, store.line_bytes()));
  }
  all_full_lines_ = full_lines_ == (1U << arrays_.size()) - 1;
  // Left uninitialised but for copy 0, so that unused copies take no memory.
  pool_ = std::unique_ptr<HostLine[]>(new HostLine[pool_size_ * host_lines_]);
  new (&pool_[0]) Copy;
}

CacheAgent::Lookup CacheAgent::search(Address address) {
  const LineAddr line = store_->line_of(address);
  const Slot slot = store_->known_slot(line);
  if (slot == kNoSlot || !store_->is_holder(slot, number_)) return {.slot = slot};
  for (int level = 0; level < levels(); ++level) {
    const int place = arrays_[level].find(address >> arrays_[level].line_shift());
    if (place < 0) continue;
    Copy& found = copy(arrays_[level].copy(place));
    note_latest(found);
    return {.copy = &found, .level = level};
  }
  // No level holds this address. The line may still be in another block of a level, or wait for its write-back.
  return {.copy = find_elsewhere(line), .level = -1};
}

Copy* CacheAgent::search_all(LineAddr line) {
  const int place = arrays_.back().find(line.value);
  if (place < 0) return find_elsewhere(line);
  Copy& found = copy(arrays_.back().copy(place));
  note_latest(found);
  return &found;
}

Copy* CacheAgent::find_elsewhere(LineAddr line) {
  for (int level = levels() - 1; level > 0 && !inclusive(level); --level) {
    const int place = find_any_block(line, level - 1);
    if (place >= 0) return &copy(arrays_[level - 1].copy(place));
  }
  for (const CopyIndex index : detached_) {
    if (copy(index).line == line) return &copy(index);
  }
  return nullptr;
}

int CacheAgent::find_any_block(LineAddr line, int level) const {
  const CacheArray& array = arrays_[level];
  const int shift = line_shift_ - array.line_shift();
  for (std::uint64_t block = line.value << shift; block < (line.value + 1) << shift; ++block) {
    const int place = array.find(block);
    if (place >= 0) return place;
  }
  return -1;
}

void CacheAgent::use(Address address, int level, Tick age) {
  CacheArray& array = arrays_[level];
  array.touch_if_newer(array.find(address >> array.line_shift()), age);
}

void CacheAgent::detach(Copy& copy) {
  for (int level = 0; level < levels(); ++level) remove_from_level(copy, level);
  detached_.push_back(copy.index);
}

void CacheAgent::drop(Copy& copy) {
  if (copy.levels == 0) std::erase(detached_, copy.index);
  for (unsigned rest = copy.levels; rest != 0; rest &= rest - 1) remove_from_level(copy, std::countr_zero(rest));
  store_->remove_holder(copy.slot, number_);
  copy.slot = kNoSlot;
  free_.push_back(copy.index);
}

Copy& CacheAgent::take_copy(LineAddr line, Slot slot) {
  CopyIndex index = pool_used_;
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else if (pool_used_ == pool_size_) {
    throw std::logic_error("CacheAgent: more copies than the levels hold");
  } else {
    ++pool_used_;
  }
  Copy& fresh = *new (&pool_[index * host_lines_]) Copy;
  fresh.line = line;
  fresh.index = index;
  fresh.slot = slot != kNoSlot ? slot : store_->slot(line);
  store_->add_holder(fresh.slot, number_);
  set_state(fresh, 0);
  note_latest(fresh);
  return fresh;
}

void CacheAgent::remove_from_level(Copy& copy, int level) {
  if (!holds(level, copy)) return;
  clear_holds(level, copy);
  if (has_full_lines(level)) {
    arrays_[level].remove(copy.places[level]);
    return;
  }
  for (int place = find_any_block(copy.line, level); place >= 0; place = find_any_block(copy.line, level)) {
    arrays_[level].remove(place);
  }
}

}  // namespace linebounce
