#include "sim/statistics/miss_classes.hpp"

#include <algorithm>
#include <bit>

namespace linebounce::sim {
namespace {

constexpr int kParts = 64;  // the most parts of a line that a mask tells apart

}  // namespace

void MissClasses::Shadow::use(LineAddr line, std::int64_t lines) {
  const auto found = places_.find(line.value);
  if (found != places_.end()) {
    order_.splice(order_.begin(), order_, found->second);
    return;
  }
  order_.push_front(line.value);
  places_[line.value] = order_.begin();
  if (static_cast<std::int64_t>(places_.size()) <= lines) return;
  places_.erase(order_.back());
  order_.pop_back();
}

void MissClasses::Shadow::remove(LineAddr line) {
  const auto found = places_.find(line.value);
  if (found == places_.end()) return;
  order_.erase(found->second);
  places_.erase(found);
}

MissClasses::MissClasses(int caches, int line_bytes, std::int64_t lines)
    : caches_(caches),
      line_bytes_(line_bytes),
      part_bytes_(std::max(1, line_bytes / kParts)),
      capacity_(lines),
      shadows_(static_cast<std::size_t>(caches)) {}

MissClasses::Copy& MissClasses::copy_of(int cache, LineAddr line) {
  std::vector<Copy>& copies = lines_[line.value].copies;
  if (copies.empty()) copies.resize(static_cast<std::size_t>(caches_));
  return copies[static_cast<std::size_t>(cache)];
}

std::uint64_t MissClasses::parts(Address address, int bytes) const {
  const auto begin = static_cast<int>(address % static_cast<Address>(line_bytes_));
  const int end = std::min(begin + std::max(bytes, 1), line_bytes_);
  const int first = begin / part_bytes_, count = (end - 1) / part_bytes_ - first + 1;
  const std::uint64_t mask = count >= kParts ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  return mask << first;
}

void MissClasses::fetched(int cache, LineAddr line) {
  Copy& copy = copy_of(cache, line);
  std::uint64_t& caches = lines_[line.value].caches;
  const std::uint64_t bit = std::uint64_t{1} << cache;
  const bool is_first = (caches & bit) == 0;
  caches |= bit;
  copy.is = MissClass::false_sharing;  // until an access finds something new
  if (copy.was_evicted)
    copy.is = shadows_[static_cast<std::size_t>(cache)].has(line) ? MissClass::conflict : MissClass::capacity;
  if (is_first) copy.is = MissClass::cold;
  if (copy.is != MissClass::false_sharing) copy.fresh = 0;
  copy.due = copy.fresh;
  copy.was_evicted = copy.counted = false;
  copy.unused = true;
}

void MissClasses::passed(int cache, LineAddr line) {
  fetched(cache, line);
  copy_of(cache, line).unused = false;
}

void MissClasses::evicted(int cache, LineAddr line) {
  copy_of(cache, line).was_evicted = true;
}

void MissClasses::invalidated(int cache, LineAddr line) {
  shadows_[static_cast<std::size_t>(cache)].remove(line);
}

MissClasses::Change MissClasses::used(int cache, Address address, int bytes, bool writes, bool hit) {
  const LineAddr line(address / static_cast<Address>(line_bytes_));
  shadows_[static_cast<std::size_t>(cache)].use(line, capacity_);
  Copy& copy = copy_of(cache, line);
  Line& all = lines_[line.value];
  const std::uint64_t touched = parts(address, bytes);
  Change change;
  if (copy.counted) change.was = copy.is;
  if (copy.unused) copy.counted = !hit;
  copy.unused = false;
  if ((copy.due & touched) != 0) {
    copy.is = MissClass::true_sharing;
    copy.fresh &= ~copy.due;
    copy.due = 0;
  }
  if (copy.counted) change.is = copy.is;
  if (writes) renew_for_others(cache, all, touched);
  return change;
}

void MissClasses::wrote_past(int cache, Address address, int bytes) {
  const LineAddr line(address / static_cast<Address>(line_bytes_));
  renew_for_others(cache, lines_[line.value], parts(address, bytes));
}

// These parts of the line are new to the other caches that have had it.
void MissClasses::renew_for_others(int cache, Line& line, std::uint64_t parts) const {
  for (std::uint64_t rest = line.caches & ~(std::uint64_t{1} << cache); rest != 0; rest &= rest - 1)
    line.copies[static_cast<std::size_t>(std::countr_zero(rest))].fresh |= parts;
}

}  // namespace linebounce::sim
