#include "commands/compare_locks/lock_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/statistics/metric_names.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/locks/lock_set.hpp"
#include "workloads/replay/replay.hpp"

namespace linebounce::sim {

using namespace workloads;

namespace {

std::map<std::string, std::string> metric_names_of(const trace::Symbols& symbols) {
  std::set<std::string> names;
  for (const trace::Lock& lock : symbols.locks) names.insert(name_in_figures(lock.counted_as()));
  return metric_names(names);
}

struct Uses {
  std::int64_t acquired = 0, acquired_shared = 0;
};

std::vector<Uses> uses_of(const trace::Reader& reader) {
  std::vector<Uses> uses(reader.symbols().locks.size());
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    trace::Reader::Cursor cursor = reader.open(stream);
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      for (const trace::Operation& operation : frame) {
        if ((operation.flags & trace::kFailed) != 0) continue;
        const bool alone = operation.kind == trace::Kind::acquire || operation.kind == trace::Kind::try_acquire;
        const bool shared = operation.kind == trace::Kind::acquire_shared || operation.kind == trace::Kind::try_acquire_shared;
        if (alone) ++uses.at(operation.id).acquired;
        if (shared) ++uses.at(operation.id).acquired_shared;
      }
    }
  }
  return uses;
}

}  // namespace

std::vector<RecordedLock> recorded_locks(const trace::Reader& reader) {
  const std::vector<Uses> uses = uses_of(reader);
  const std::vector<SectionFacts> facts = section_facts(reader);
  const std::map<std::string, std::string> metrics = metric_names_of(reader.symbols());
  std::vector<RecordedLock> locks;
  for (std::size_t id = 0; id < uses.size(); ++id) {
    if (uses[id].acquired + uses[id].acquired_shared == 0) continue;
    const trace::Lock& symbol = reader.symbols().locks[id];
    const std::string& name = symbol.counted_as();
    if (name.empty()) continue;
    auto lock = std::ranges::find_if(locks, [&name](const RecordedLock& known) { return known.name == name; });
    if (lock == locks.end())
      lock = locks.insert(locks.end(), {name, fmt::format("locks.{}.", metrics.at(name_in_figures(name))), symbol.algorithm,
                                        recorded_algorithm(symbol)});
    lock->acquired += uses[id].acquired;
    lock->acquired_shared += uses[id].acquired_shared;
    lock->locks.push_back(symbol);
    lock->facts.add(facts[id]);
  }
  return locks;
}

std::vector<std::string> words_that_matter(const std::vector<trace::WordLock>& words, const std::vector<RecordedLock>& locks) {
  std::int64_t most = 0;
  for (const RecordedLock& lock : locks) most = std::max(most, lock.acquired + lock.acquired_shared);
  std::vector<std::string> names;
  for (const trace::WordLock& word : words) {
    const bool is_fought_for = word.retries * 100 >= word.acquisitions;
    if (!is_fought_for && word.acquisitions * 10 < static_cast<std::uint64_t>(most)) continue;
    if (std::ranges::find(names, word.lock.counted_as()) == names.end()) names.push_back(word.lock.counted_as());
  }
  return names;
}

bool suits(const RecordedLock& lock, const LockEntry& substitute) {
  const LockTraits& traits = substitute.traits;
  if (!traits.excludes || (lock.acquired_shared == 0 && traits.readers != Readers::one_by_one)) return false;
  return std::ranges::all_of(lock.locks, [&](const trace::Lock& symbol) {
    return why_no_substitute(symbol, substitute, [&]() -> const SectionFacts& { return lock.facts; }).empty();
  });
}

std::vector<std::string> not_offered(const RecordedLock& lock) {
  std::vector<std::string> sentences;
  if (lock.acquired_shared == 0) return sentences;
  for (const LockEntry& entry : all_locks()) {
    if (keep_writers_out(entry.traits.readers)) continue;
    for (const trace::Lock& symbol : lock.locks) {
      const std::string why = why_no_substitute(symbol, entry, [&]() -> const SectionFacts& { return lock.facts; });
      if (why.empty()) continue;
      sentences.push_back(fmt::format("{}, because {}", entry.name, why));
      break;
    }
  }
  return sentences;
}

std::vector<std::string> suitable_locks(const RecordedLock& lock) {
  std::vector<std::string> suitable;
  for (const LockEntry& entry : all_locks()) {
    if (entry.traits.most_cpus == 0 && suits(lock, entry)) suitable.push_back(entry.name);
  }
  return suitable;
}

}  // namespace linebounce::sim
