// Finds locks that a program builds from a word and atomic operations, without library calls that would name them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/reader.hpp"
#include "trace/word_sections.hpp"
#include "trace/writer.hpp"

namespace linebounce::trace {

// For an exchange or compare-exchange that always got the lock at once, so that nothing shows how waiters wait. A replay, in
// which they may have to, uses the milder ttas: advice that another lock is better than tas would rest on something never
// observed.
inline constexpr const char* kUncontended = "uncontended";

// A word that several threads acquire by an exchange, a compare-exchange or a ticket, and that the same thread releases by a
// store. A guess: nothing shows what it protects.
struct WordLock {
  // As a trace would define it: place, name and algorithm: ticket; ttas, if a thread read the word before it tried; tas, if
  // waiters never did; kUncontended, if no thread read it and none waited.
  Lock lock;
  WordPlace word, tickets;
  std::uint64_t acquisitions = 0, retries = 0;
  std::uint32_t streams = 0;  // the number of streams that acquire it
};

// Such as "runs as ttas, because nobody waited": the algorithm that a replay uses, and the observation behind it.
std::string classification(const WordLock& word);

// Sorted by acquisitions, found in two passes over all operations. A word with fewer than 20 sections, or with a misuse in more
// than one of fifty, is not a lock; this excludes locks with readers, words that another thread releases, and queue locks.
// Errors: TraceError.
std::vector<WordLock> word_locks(const Reader& reader);

// The summary's `missing` after `found` were searched for. Omits the sentence about the program's own locks if no word is left
// that could be one; otherwise names the first such word. A lock needs exchanges or compare-exchanges by several threads.
// Errors: TraceError.
std::vector<std::string> missing_beside(const Reader& reader, const std::vector<WordLock>& found);

// Writes a copy in which these words are locks. Omits failed attempts, reads of the word, and a thread's operations between
// them until it acquired the lock, because the lock in its place waits by itself; but at most 32 operations or 1000
// instructions between two reads, and no store except to its stack. Finishes `to`. Errors: TraceError, WriteError.
void copy_with_locks(const Reader& from, const std::vector<WordLock>& locks, Writer& to);

}  // namespace linebounce::trace
