#include "models/memory/line_store.hpp"

#include <bit>

namespace linebounce {

LineStore::LineStore(int line_bytes, int agents)
    : line_bytes_(line_bytes),
      line_shift_(std::countr_zero(static_cast<unsigned>(line_bytes))),
      holder_words_((agents + kWordBits - 1) / kWordBits),
      bucket_shift_(64 - 10),
      buckets_(std::size_t{1} << 10) {}

Slot LineStore::slot(LineAddr line) {
  const std::size_t mask = buckets_.size() - 1;
  for (std::size_t i = bucket(line.value);; i = (i + 1) & mask) {
    if (buckets_[i] == 0) {
      const auto slot = static_cast<Slot>(lines_.size());
      buckets_[i] = slot + 1;
      lines_.push_back(line.value);
      latest_.push_back(0);
      memory_version_.push_back(0);
      holders_.resize(holders_.size() + holder_words_);
      data_.resize(data_.size() + static_cast<std::size_t>(line_bytes_));
      if (lines_.size() * 2 > buckets_.size()) grow();
      return slot;
    }
    if (lines_[buckets_[i] - 1] == line.value) return buckets_[i] - 1;
  }
}

void LineStore::grow() {
  buckets_.assign(buckets_.size() * 2, 0);
  --bucket_shift_;
  const std::size_t mask = buckets_.size() - 1;
  for (Slot slot = 0; slot < lines_.size(); ++slot) {
    std::size_t i = bucket(lines_[slot]);
    while (buckets_[i] != 0) i = (i + 1) & mask;
    buckets_[i] = slot + 1;
  }
}

void LineStore::preset(Address address, int bytes, Value value) {
  write_word(memory_data(slot(line_of(address))) + offset_of(address), bytes, value);
}

}  // namespace linebounce
