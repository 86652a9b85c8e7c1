#include "models/cache/cache_array.hpp"

namespace linebounce {

CacheArray::CacheArray(const CacheSpec& spec)
    : line_shift_(std::countr_zero(static_cast<unsigned>(spec.line_bytes))), ways_(spec.ways), replacement_(spec.replacement) {
  const std::size_t entries = static_cast<std::size_t>(spec.size_kib) * 1024 / static_cast<std::size_t>(spec.line_bytes);
  const std::size_t sets = entries / static_cast<std::size_t>(ways_);
  set_mask_ = sets - 1;
  tags_.assign(entries, kEmpty);
  copies_.assign(entries, kNoCopy);
  if (replacement_ == Replacement::lru) {
    ages_.assign(entries, 0);
  } else {
    trees_.assign(sets, 0);
    for (int way = 0; way < ways_; ++way) paths_.push_back(tree_path(way));
  }
}

// The nodes on the way's path, and what a use leaves in them: each points at the half that was not used.
CacheArray::TreePath CacheArray::tree_path(int way) const {
  TreePath path;
  unsigned node = 1;
  for (int half = ways_ / 2; half > 0; half /= 2) {
    const unsigned upper = (way & half) != 0 ? 1U : 0U;
    const std::uint32_t bit = std::uint32_t{1} << node;
    path.nodes |= bit;
    if (upper == 0) path.colder |= bit;
    node = node * 2 + upper;
  }
  return path;
}

int CacheArray::tree_choice(std::uint64_t block) const {
  const std::uint32_t tree = trees_[set(block)];
  unsigned node = 1;
  int way = 0;
  for (int half = ways_ / 2; half > 0; half /= 2) {
    const unsigned upper = (tree >> node) & 1U;
    way += upper != 0 ? half : 0;
    node = node * 2 + upper;
  }
  return way;
}

}  // namespace linebounce
