#include "models/cache/cache_agent.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

namespace linebounce {
namespace {

std::size_t lines_of(const CacheSpec& spec, int coherence_line_bytes) {
  // A nearer level's blocks may each belong to another line.
  return static_cast<std::size_t>(spec.size_kib) * 1024 /
         static_cast<std::size_t>(std::min(spec.line_bytes, coherence_line_bytes));
}

}  // namespace

CacheAgent::CacheAgent(int number, std::span<const CacheSpec> levels, const ControllerTable& table, LineStore& store,
                       int spare_copies)
    : number_(number),
      table_(&table),
      store_(&store),
      line_shift_(std::countr_zero(static_cast<unsigned>(store.line_bytes()))) {
  std::size_t lines = static_cast<std::size_t>(spare_copies);
  for (const CacheSpec& spec : levels) {
    if (spec.inclusive) inclusive_ |= 1U << arrays_.size();
    if (spec.line_bytes == store.line_bytes()) of_lines_ |= 1U << arrays_.size();
    arrays_.emplace_back(spec);
    lines += lines_of(spec, store.line_bytes());
  }
  for (const StateInfo& state : table.states) {
    const auto own = static_cast<StateId>(&state - table.states.data());
    fast_.push_back(static_cast<std::uint8_t>((state.readable ? 1U << kReadAccess : 0U) |
                                              (state.writable && state.after_store == own ? 1U << kWriteAccess : 0U)));
  }
  stride_ = sizeof(Copy) + static_cast<std::size_t>(store.line_bytes());
  pool_size_ = static_cast<CopyIndex>(lines);
  // Not initialised: pages that no line was ever put into cost no memory.
  pool_ = std::unique_ptr<std::byte[]>(new std::byte[lines * stride_]);
  free_.reserve(lines);
  detached_.reserve(static_cast<std::size_t>(spare_copies));
}

CacheAgent::Lookup CacheAgent::look_up(Address address) {
  for (int level = 0; level < levels(); ++level) {
    const CacheArray& array = arrays_[static_cast<std::size_t>(level)];
    const int place = array.find(address >> array.line_shift());
    if (place >= 0) return {&copy(array.copy(place)), level};
  }
  // Another block of the line may be near, or it waits to be written back.
  return {find_elsewhere(store_->line_of(address)), -1};
}

Copy* CacheAgent::find_elsewhere(LineAddr line) {
  for (int level = levels() - 1; level > 0 && !inclusive(level); --level) {
    const CacheArray& array = arrays_[static_cast<std::size_t>(level - 1)];
    const std::uint64_t first = first_block(line, level - 1);
    for (int i = 0; i < blocks_per_line(level - 1); ++i) {
      const int place = array.find(first + static_cast<std::uint64_t>(i));
      if (place >= 0) return &copy(array.copy(place));
    }
  }
  for (const CopyIndex index : detached_) {
    if (copy(index).line == line) return &copy(index);
  }
  return nullptr;
}

void CacheAgent::use(Address address, int level, Tick age) {
  CacheArray& array = arrays_[static_cast<std::size_t>(level)];
  array.touch_if_newer(array.find(address >> array.line_shift()), age);
}

void CacheAgent::detach(Copy& copy) {
  for (int level = 0; level < levels(); ++level) remove_from_level(copy, level);
  detached_.push_back(copy.index);
}

void CacheAgent::drop(Copy& copy) {
  for (int level = 0; level < levels(); ++level) remove_from_level(copy, level);
  store_->remove_holder(copy.slot, number_);
  std::erase(detached_, copy.index);
  free_.push_back(copy.index);
}

Copy& CacheAgent::take_copy(LineAddr line) {
  CopyIndex index = pool_used_;
  if (!free_.empty()) {
    index = free_.back();
    free_.pop_back();
  } else if (pool_used_ == pool_size_) {
    throw std::logic_error("CacheAgent: more copies than the levels hold");
  } else {
    ++pool_used_;
  }
  Copy& fresh = *new (&pool_[index * stride_]) Copy;
  fresh.line = line;
  fresh.index = index;
  fresh.slot = store_->slot(line);
  store_->add_holder(fresh.slot, number_);
  set_state(fresh, 0);
  return fresh;
}

void CacheAgent::attach(Copy& copy, int level, std::uint64_t block, int place, Tick age) {
  arrays_[static_cast<std::size_t>(level)].insert(block, place, copy.index, age);
  copy.places[static_cast<std::size_t>(level)] = place;
  copy.levels = static_cast<std::uint8_t>(copy.levels | (1U << level));
}

void CacheAgent::evict_block(Copy& copy, int level, int place) {
  CacheArray& array = arrays_[static_cast<std::size_t>(level)];
  array.remove(place);
  bool held = false;
  if (!of_lines(level)) {
    const std::uint64_t first = first_block(copy.line, level);
    for (int i = 0; i < blocks_per_line(level); ++i) held = held || array.find(first + static_cast<std::uint64_t>(i)) >= 0;
  }
  if (!held) copy.levels = static_cast<std::uint8_t>(copy.levels & ~(1U << level));
  if (!inclusive(level)) return;
  for (int nearer = 0; nearer < level; ++nearer) remove_from_level(copy, nearer);
}

void CacheAgent::remove_from_level(Copy& copy, int level) {
  if (((copy.levels >> level) & 1) == 0) return;
  CacheArray& array = arrays_[static_cast<std::size_t>(level)];
  if (of_lines(level)) {
    array.remove(copy.places[static_cast<std::size_t>(level)]);
  } else {
    const std::uint64_t first = first_block(copy.line, level);
    for (int i = 0; i < blocks_per_line(level); ++i) {
      const int place = array.find(first + static_cast<std::uint64_t>(i));
      if (place >= 0) array.remove(place);
    }
  }
  copy.levels = static_cast<std::uint8_t>(copy.levels & ~(1U << level));
}

std::uint64_t CacheAgent::first_block(LineAddr line, int level) const {
  return line.value << (line_shift_ - arrays_[static_cast<std::size_t>(level)].line_shift());
}

}  // namespace linebounce
