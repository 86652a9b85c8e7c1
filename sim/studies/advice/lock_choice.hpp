// Which lock algorithms could take the place of a trace's locks.
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
  std::string name;                                // below workload.locks
  std::string metrics;                             // what its metrics begin with: "locks.NAME."
  std::string algorithm;                           // as recorded; of several the first one's
  std::string replayed_as;                         // the same, or what stands for it
  std::int64_t acquired = 0, acquired_shared = 0;  // attempts that failed are left out
  std::vector<trace::Lock> locks = {};
  workloads::SectionFacts facts = {};  // of all of them
};

// In the order of definition, by one pass over the operations; those that nobody takes are left out. Errors: trace::TraceError.
std::vector<RecordedLock> recorded_locks(const trace::Reader& reader);

// Names of words that behave like locks and are used much: at least one acquisition of a hundred had to try again, or it is
// acquired at least a tenth as often as the recorded lock that is acquired most.
std::vector<std::string> words_that_matter(const std::vector<trace::WordLock>& words, const std::vector<RecordedLock>& locks);

// Whether one that is in no table, too, may take the lock's place.
bool suits(const RecordedLock& lock, const workloads::LockEntry& substitute);
// Names of `list locks` that keep this lock's properties; those for readers only if it has any.
std::vector<std::string> suitable_locks(const RecordedLock& lock);
// Of locks whose readers keep no writer out, each that is not offered, with the reason: "seqlock, because its readers follow
// list.first, a pointer that writers change". Of a lock without readers none.
std::vector<std::string> not_offered(const RecordedLock& lock);

}  // namespace linebounce::sim
