// Finds lock algorithms that may replace a trace's locks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/reader.hpp"
#include "trace/word_locks.hpp"
#include "workloads/locks/lock_registry.hpp"
#include "workloads/replay/section_facts.hpp"

namespace linebounce::sim {

// All locks of a trace with the same name, which are counted together.
struct RecordedLock {
  std::string name;       // the key below workload.locks
  std::string metrics;    // the prefix of its metrics: "locks.NAME."
  std::string algorithm;  // as recorded; the first lock's if they differ
  // The lock that runs in replays: the recorded algorithm, or the most similar one that Linebounce has.
  std::string replayed_as;
  std::int64_t acquired = 0, acquired_shared = 0;  // without failed attempts
  std::vector<trace::Lock> locks = {};
  workloads::SectionFacts facts = {};  // of all locks with this name together
};

// Returns the recorded locks in order of definition, without those that are never acquired, and those without a name, which no
// setting can replace. Reads all operations once. Errors: trace::TraceError.
std::vector<RecordedLock> recorded_locks(const trace::Reader& reader);

// Returns the names of words that behave like locks and have an effect: at least one acquisition in a hundred had to retry,
// or there are at least a tenth as many acquisitions as of the busiest recorded lock.
std::vector<std::string> words_that_matter(const std::vector<trace::WordLock>& words, const std::vector<RecordedLock>& locks);

// True if the substitute has the properties that the lock needs. It need not be in the registry.
bool suits(const RecordedLock& lock, const workloads::LockEntry& substitute);
// Returns the registered locks that may replace this lock. They include reader-writer locks only if the lock has readers.
std::vector<std::string> suitable_locks(const RecordedLock& lock);
// Describes the locks that can't be offered, because their readers do not keep writers out: "seqlock, because its readers
// follow list.first, a pointer that writers change". Empty for a lock without readers.
std::vector<std::string> not_offered(const RecordedLock& lock);

}  // namespace linebounce::sim
