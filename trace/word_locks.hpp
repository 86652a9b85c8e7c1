// Locks that a program has made itself, of a word and atomic operations: no library call names them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/reader.hpp"
#include "trace/word_sections.hpp"
#include "trace/writer.hpp"

namespace linebounce::trace {

// An exchange or a compare-and-exchange that always had the lock at once: how its waiters wait was not seen. A replay, in which
// they may have to, runs the kinder ttas: that another lock is better than tas would be advice on what nobody has seen.
inline constexpr const char* kUncontended = "uncontended";

// A word that several threads take by an exchange, a compare-and-exchange or a ticket, and that the same thread gives back by a
// store. A guess: nothing says what it protects.
struct WordLock {
  // As a trace can define it: its place and name, and the algorithm that it is: ticket; ttas, if somebody looked at the word
  // before he tried; tas, if those who waited never did; kUncontended, if nobody looked and nobody waited.
  Lock lock;
  WordPlace word, tickets;
  std::uint64_t acquisitions = 0, retries = 0;
  std::uint32_t streams = 0;  // that take it
};

// "runs as ttas, because nobody waited": what a replay takes it for, and by which observation.
std::string classification(const WordLock& word);

// Those with the most acquisitions first, by two passes over all operations. A word with fewer than 20 sections, or with a
// misuse in more than one of fifty, is no lock: so one with readers is none, nor one that an exchange takes and another gives
// back, nor a queue lock. Errors: TraceError.
std::vector<WordLock> word_locks(const Reader& reader);

// The summary's `missing` where `found` were looked for: that the program's own locks are plain operations is left out where
// no words are left that could be any; else it names the first of these. A lock needs an exchange or a compare-and-exchange by
// several threads. Errors: TraceError.
std::vector<std::string> missing_beside(const Reader& reader, const std::vector<WordLock>& found);

// A copy in which these are locks. Attempts that failed, looks at the word, and what a thread did between them until it had the
// lock are left out, for the lock in their place waits by itself; but not more than 32 operations or 1000 instructions between
// two looks, nor a store to anything but its stack. `to` is finished. Errors: TraceError, WriteError.
void copy_with_locks(const Reader& from, const std::vector<WordLock>& locks, Writer& to);

}  // namespace linebounce::trace
