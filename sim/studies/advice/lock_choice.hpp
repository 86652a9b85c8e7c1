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

// All locks of a trace that have the same name and are counted together.
struct RecordedLock {
  std::string name;                                // the key below workload.locks
  std::string metrics;                             // prefix of its metrics: "locks.NAME."
  std::string algorithm;                           // as recorded; the first one's if they differ
  std::string replayed_as;                         // the recorded algorithm, or the lock that replaces it in replays
  std::int64_t acquired = 0, acquired_shared = 0;  // without failed attempts
  std::vector<trace::Lock> locks = {};
  workloads::SectionFacts facts = {};  // over all locks of this name
};

// The recorded locks in order of definition, except those that are never taken. Reads all operations once. Errors:
// trace::TraceError.
std::vector<RecordedLock> recorded_locks(const trace::Reader& reader);

// Names of words that behave like locks and matter: at least one acquisition in a hundred had to retry, or the word is
// acquired at least a tenth as often as the most acquired recorded lock.
std::vector<std::string> words_that_matter(const std::vector<trace::WordLock>& words, const std::vector<RecordedLock>& locks);

// True if the substitute may replace the lock. It need not be in the registry.
bool suits(const RecordedLock& lock, const workloads::LockEntry& substitute);
// Locks of `list locks` that keep the required properties of this lock. Locks for readers are only offered if it has readers.
std::vector<std::string> suitable_locks(const RecordedLock& lock);
// Locks that are not offered because their readers do not keep writers out, with the reason: "seqlock, because its readers
// follow list.first, a pointer that writers change". Empty for a lock without readers.
std::vector<std::string> not_offered(const RecordedLock& lock);

}  // namespace linebounce::sim
