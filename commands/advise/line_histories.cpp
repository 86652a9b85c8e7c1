#include "commands/advise/line_histories.hpp"

#include <algorithm>
#include <utility>

namespace linebounce::sim {

std::pair<int, int> LineHistories::units_of(const Access& access) const {
  const auto offset = static_cast<int>(access.address % static_cast<Address>(line_bytes_));
  const int last = std::min(offset + access.bytes, line_bytes_) - 1;
  return {offset / unit_bytes_, last / unit_bytes_};
}

LineHistories::Own& LineHistories::own_of(SharedLine& line, int cpu) {
  if (std::ssize(line.own) <= cpu) line.own.resize(cpu + 1);
  return line.own[cpu];
}

bool LineHistories::same_units(const SharedLine& line, const Access& access, Time last, Time last_write) const {
  const auto [first_unit, last_unit] = units_of(access);
  for (int unit = first_unit; unit <= last_unit; ++unit) {
    if (used_by_others(line.units[unit], access.cpu, access.writes, last, last_write)) return true;
  }
  return false;
}

MissCause LineHistories::cause_in(const SharedLine& line, const Access& access) const {
  const Own own = access.cpu < std::ssize(line.own) ? line.own[access.cpu] : Own{};
  MissCause cause{.first_touch = own.last == 0, .word = access.address};
  if (same_units(line, access, own.last, own.last_write)) {
    cause.why = Interference::same_bytes;
  } else if (used_by_others(line.all, access.cpu, access.writes, own.last, own.last_write)) {
    cause.why = Interference::other_bytes;
  }
  return cause;
}

MissCause LineHistories::cause_of(const Access& access) const {
  const auto line = lines_.find(access.address / static_cast<Address>(line_bytes_));
  if (line == lines_.end() || line->second.shared == nullptr) return {.first_touch = false, .word = access.address};
  return cause_in(*line->second.shared, access);
}

// Begins a detailed history, because a second thread uses the line now. Which bytes the first user has used was not recorded.
// Only its latest use matters to other threads, because they have not used the line yet.
void LineHistories::share(Line& line) {
  line.shared = std::make_unique<SharedLine>();
  SharedLine& shared = *line.shared;
  own_of(shared, line.cpu) = {.last = line.last, .last_write = line.last_write};
  for (int unit = 0; unit < kUnits; ++unit) {
    if ((line.read >> unit & 1U) != 0) shared.units[unit].reads.add(line.cpu, line.last);
    if ((line.written >> unit & 1U) != 0) shared.units[unit].writes.add(line.cpu, line.last_write);
  }
  if (line.read != 0) shared.all.reads.add(line.cpu, line.last);
  if (line.written != 0) shared.all.writes.add(line.cpu, line.last_write);
}

void LineHistories::add(const Access& access, MissCause* miss) {
  ++now_;
  Line& line = lines_[access.address / static_cast<Address>(line_bytes_)];
  const auto [first_unit, last_unit] = units_of(access);
  if (line.cpu < 0) line.cpu = access.cpu;
  if (line.shared == nullptr && line.cpu != access.cpu) share(line);
  if (line.shared == nullptr) {
    if (miss != nullptr) *miss = {.first_touch = line.last == 0, .word = access.address};
    std::uint64_t& units = access.writes ? line.written : line.read;
    for (int unit = first_unit; unit <= last_unit; ++unit) units |= std::uint64_t{1} << unit;
    line.last = now_;
    if (access.writes) line.last_write = now_;
    if (access.use.adds > 0) count_use(access);
    return;
  }
  SharedLine& shared = *line.shared;
  if (miss != nullptr) *miss = cause_in(shared, access);
  Own& own = own_of(shared, access.cpu);
  if (miss != nullptr) {
    own.miss = miss;
    own.last_before = own.last;
    own.last_write_before = own.last_write;
  } else if (own.miss != nullptr && own.miss->why == Interference::other_bytes &&
             same_units(shared, access, own.last_before, own.last_write_before)) {
    own.miss->why = Interference::same_bytes;
    own.miss->word = access.address;
  }
  for (int unit = first_unit; unit <= last_unit; ++unit)
    (access.writes ? shared.units[unit].writes : shared.units[unit].reads).add(access.cpu, now_);
  (access.writes ? shared.all.writes : shared.all.reads).add(access.cpu, now_);
  own.last = now_;
  if (access.writes) own.last_write = now_;
  count_use(access);
}

void LineHistories::count_use(const Access& access) {
  std::vector<WordUse>& users = words_[access.address];
  if (std::ssize(users) <= access.cpu) users.resize(access.cpu + 1);
  WordUse& use = users[access.cpu];
  use.reads += access.use.reads;
  use.writes += access.use.writes;
  use.adds += access.use.adds;
}

const std::vector<WordUse>& LineHistories::users(Address word) const {
  static const std::vector<WordUse> kNobody;
  const auto known = words_.find(word);
  return known == words_.end() ? kNobody : known->second;
}

}  // namespace linebounce::sim
