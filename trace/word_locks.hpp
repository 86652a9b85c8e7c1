// Finds locks that a program makes from a word and atomic operations, without calls of library functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/reader.hpp"
#include "trace/word_sections.hpp"
#include "trace/writer.hpp"

namespace linebounce::trace {

// The algorithm of a lock whose exchange or compare-exchange always succeeded at once, so that nothing shows how waiters would
// wait. In a replay they may have to. It then uses ttas: with tas, which waits worse, advice against the lock would rest on
// something that was never observed.
inline constexpr const char* kUncontended = "uncontended";

// A word that several threads acquire by an exchange, a compare-exchange or a ticket, and that the same thread releases by a
// store. That it is a lock is a guess: nothing shows what it protects.
struct WordLock {
  // The lock as a trace would define it. Its algorithm: ticket; ttas if some thread read the word before it tried; tas if
  // waiters never read it; kUncontended if no thread read it and none waited.
  Lock lock;
  WordPlace word, tickets;
  std::uint64_t acquisitions = 0, retries = 0;
  std::uint32_t streams = 0;  // number of streams that acquire it
};

// The algorithm that a replay uses, and why: "runs as ttas, because nobody waited".
std::string classification(const WordLock& word);

// Finds such words by reading all operations twice, and sorts them by acquisitions. A lock has at least 20 sections, and
// misuses in at most one of fifty. That excludes locks with readers, words that another thread releases, and queue locks.
// Errors: TraceError.
std::vector<WordLock> word_locks(const Reader& reader);

// The summary's `missing`, without or with a shorter sentence about the program's own locks, now that `found` is known. Omits
// the sentence if no other word could be a lock, that is, if no other word is exchanged or compare-exchanged by several
// threads. Otherwise names the first such word. Errors: TraceError.
std::vector<std::string> missing_beside(const Reader& reader, const std::vector<WordLock>& found);

// Writes a copy in which these words are locks, and finishes `to`. Omits failed attempts and reads of the word, and what the
// thread did between them until it acquired the lock: the lock in its place waits by itself. Keeps operations that a waiting
// thread would not execute (waiting.hpp). Errors: TraceError, WriteError.
void copy_with_locks(const Reader& from, const std::vector<WordLock>& locks, Writer& to);

}  // namespace linebounce::trace
