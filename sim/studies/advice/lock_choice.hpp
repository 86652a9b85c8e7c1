// The lock algorithms that may replace a trace's locks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/reader.hpp"
#include "trace/word_locks.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/replay/section_facts.hpp"

namespace linebounce::sim {

// All locks of a trace that are counted together.
struct RecordedLock {
  std::string name;                                // the key below workload.locks
  std::string metrics;                             // prefix of its metrics: "locks.NAME."
  std::string algorithm;                           // as recorded; the first one's if they differ
  std::string replayed_as;                         // the same, or its nearest substitute
  std::int64_t acquired = 0, acquired_shared = 0;  // without failed attempts
  std::vector<trace::Lock> locks = {};
  workloads::SectionFacts facts = {};  // over all of these locks
};

// In the order of definition, from one pass over the operations; locks that are never taken are left out. Errors:
// trace::TraceError.
std::vector<RecordedLock> recorded_locks(const trace::Reader& reader);

// Names of words that behave like locks and are used much: at least one acquisition in a hundred had to retry, or it is
// acquired at least a tenth as often as the most acquired recorded lock.
std::vector<std::string> words_that_matter(const std::vector<trace::WordLock>& words, const std::vector<RecordedLock>& locks);

// Whether the substitute, which need not be in the registry, may replace the lock.
bool suits(const RecordedLock& lock, const workloads::LockEntry& substitute);
// Names from `list locks` that keep this lock's properties; locks for readers only if it has readers.
std::vector<std::string> suitable_locks(const RecordedLock& lock);
// Locks whose readers keep no writer out and that are not offered, with the reason: "seqlock, because its readers follow
// list.first, a pointer that writers change". Empty for a lock without readers.
std::vector<std::string> not_offered(const RecordedLock& lock);

}  // namespace linebounce::sim
