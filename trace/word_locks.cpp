#include "trace/word_locks.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "trace/copy.hpp"
#include "trace/waiting.hpp"

namespace linebounce::trace {
namespace {

constexpr std::uint64_t kFewestSections = 20;
constexpr std::uint64_t kSectionsForAMisuse = 50;

struct WordFacts {
  WordPlace tickets;
  std::uint64_t sections = 0, retries = 0, looks = 0, misuses = 0;
  std::uint32_t streams = 0;
  int bytes = 0;
};

// Passes a stream's operations and their numbers to `taker`.
template <class Taker>
void give_stream(const Reader& reader, std::uint32_t stream, Taker& taker) {
  Reader::Cursor cursor = reader.open(stream);
  std::uint64_t number = 0;
  for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
    for (const Operation& operation : frame) taker.take(operation, number++);
  }
}

// By word: the number of fetch-and-adds on it.
using Draws = std::map<WordPlace, std::uint64_t>;

void add_stream(const Reader& reader, std::uint32_t stream, std::map<WordPlace, WordFacts>& words, Draws& draws) {
  std::set<WordPlace> taken;
  WordSections sections([&](const WordSection& section) {
    WordFacts& facts = words[section.word];
    taken.insert(section.word);
    if (facts.sections > 0 && facts.tickets != section.tickets) ++facts.misuses;
    facts.tickets = section.tickets;
    facts.bytes = section.bytes;
    ++facts.sections;
    facts.retries += section.retries;
    facts.looks += section.looks;
  });
  give_stream(reader, stream, sections);
  for (const WordPlace& word : taken) ++words[word].streams;
  for (const auto& [word, count] : sections.draws()) draws[word] += count;
}

// Adds each thread's misuses of the words, including threads that never acquire them.
void add_misuses(const Reader& reader, std::map<WordPlace, WordFacts>& words) {
  std::set<WordPlace> watched;
  for (const auto& [word, facts] : words) watched.insert(word);
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    WordSections sections([](const WordSection&) {}, watched);
    give_stream(reader, stream, sections);
    for (const auto& [word, count] : sections.misuses()) {
      if (const auto it = words.find(word); it != words.end()) it->second.misuses += count;
    }
  }
}

bool is_lock(const WordFacts& facts) {
  return facts.streams >= 2 && facts.sections >= kFewestSections && facts.misuses * kSectionsForAMisuse <= facts.sections;
}

// Whether the place belongs to a lock of the trace, or to a word on which a stream spins.
bool is_known(const Symbols& symbols, const WordPlace& place) {
  const auto is_at = [&place](std::uint32_t object, std::int64_t offset, int bytes) {
    const auto begin = static_cast<std::uint64_t>(offset);
    return object == place.object && begin <= place.offset && place.offset < begin + static_cast<std::uint64_t>(bytes);
  };
  return std::ranges::any_of(symbols.words, [&](const Word& word) { return is_at(word.object, word.offset, word.bytes); }) ||
         std::ranges::any_of(symbols.locks, [&](const Lock& lock) { return is_at(lock.object, lock.offset, lock.word_bytes); });
}

Lock lock_at(const Symbols& symbols, const WordPlace& word, const WordFacts& facts) {
  const bool has_tickets = facts.tickets != word;
  Lock lock;
  lock.object = word.object;
  lock.offset = static_cast<std::int64_t>(std::min(word.offset, facts.tickets.offset));
  lock.word_bytes = facts.bytes;
  const Object& object = symbols.objects[word.object];
  const bool is_the_object = lock.offset == 0 && object.structure == kNone;
  lock.name = is_the_object ? object.name : symbols.place_name(word.object, lock.offset);
  lock.algorithm = has_tickets ? "ticket" : facts.looks > 0 ? "ttas" : facts.retries > 0 ? "tas" : kUncontended;
  return lock;
}

// A name for all similar locks: "bucket.lock" for bucket[17].lock; for a word in an array, the array's name.
std::string place_in_general(const Symbols& symbols, const Lock& lock) {
  const Object& object = symbols.objects[lock.object];
  if (object.structure == kNone) return object.name;
  return symbols.structures[object.structure].name + lock.name.substr(object.name.size());
}

// Gives locks of similar objects the same `figures`, as recorded library locks have.
void count_like_ones_together(const Symbols& symbols, std::vector<WordLock>& locks) {
  std::map<std::string, int> alike;
  for (const WordLock& it : locks) ++alike[place_in_general(symbols, it.lock)];
  for (WordLock& it : locks) {
    const std::string general = place_in_general(symbols, it.lock);
    if (alike[general] > 1) it.lock.figures = general;
  }
}

// Writes a stream in which operations on locks' words become acquisitions and releases.
class LockedStream {
 public:
  LockedStream(std::uint32_t stream, bool is_time_measured, Writer& to)
      : stream_(stream), to_(&to), turn_(to.symbols(), is_time_measured) {}

  void add_word(const WordPlace& word) { words_.insert(word); }
  void add_section(const WordSection& section, std::uint32_t lock) {
    ends_.emplace(section.acquired, End{{.kind = Kind::acquire, .id = lock}, section.word});
    ends_.emplace(section.released, End{{.kind = Kind::release, .id = lock}, section.word});
  }

  void take(const Operation& operation, std::uint64_t number) {
    const WordPlace at{operation.id, operation.argument};
    if (const auto end = ends_.find(number); end != ends_.end()) {
      take_end(end->second, at);
    } else if (operation.is_memory() && words_.contains(at)) {
      look(at);
    } else if (waits_ && may_be_in_a_wait(operation)) {
      waiting_.push_back(operation);
    } else {
      end_wait(false);
      to_->append(stream_, operation);
    }
  }

  void finish() { end_wait(false); }

 private:
  // Limit on the operations that are held back until it is known whether the lock was acquired. A longer wait counts as
  // acquiring it.
  static constexpr std::size_t kLongestWait = 1 << 16;

  // The acquisition or release that replaces an operation.
  struct End {
    Operation operation;
    WordPlace word;
  };

  void take_end(const End& end, const WordPlace& at) {
    end_wait(end.operation.kind == Kind::acquire && waits_ && at == waits_for_);
    if (end.operation.kind == Kind::acquire) {
      held_.insert(end.word);
    } else {
      held_.erase(end.word);
    }
    to_->append(stream_, end.operation);
  }

  void look(const WordPlace& at) {
    if (!waits_ || at != waits_for_ || !turn_.ends_where_it_began()) end_wait(false);
    // `held_`: the thread's ticket was drawn earlier, so another read means that it waits, and what it did since the last read
    // can be dropped.
    if (held_.contains(at) || waiting_.size() > kLongestWait) waiting_.clear();
    waits_for_ = at;
    if (waits_) {
      turn_.begin();
    } else {
      turn_.begin_wait();
    }
    waits_ = true;
  }

  // Whether the operation may be part of a wait. A ticket's owner reads the word while it waits, and once more to release the
  // lock. Between these last two reads it works, which its accesses show.
  [[nodiscard]] bool may_be_in_a_wait(const Operation& operation) {
    const bool accesses = operation.kind == Kind::load || operation.kind == Kind::store;
    return !(accesses && held_.contains(waits_for_)) && turn_.may_have(operation);
  }

  // Ends the wait. Drops the held-back operations if the wait led to the lock (`had`) and left all functions that it entered;
  // otherwise writes them.
  void end_wait(bool had) {
    if (!had || !turn_.ends_where_it_began() || !turn_.is_mostly_short()) {
      for (const Operation& operation : waiting_) to_->append(stream_, operation);
    }
    waiting_.clear();
    waits_ = false;
  }

  std::uint32_t stream_;
  Writer* to_;
  std::set<WordPlace> words_;
  std::map<std::uint64_t, End> ends_;  // by number of the operation that is replaced
  std::set<WordPlace> held_;
  bool waits_ = false;
  WordPlace waits_for_;
  std::vector<Operation> waiting_;  // operations held back since the wait's first read
  TurnOfWait turn_;                 // operations since the wait's latest read
};

void copy_stream(const Reader& from, std::uint32_t stream, const std::vector<WordLock>& locks,
                 const std::vector<std::uint32_t>& ids, Writer& to) {
  LockedStream locked(stream, has_measured_instructions(from.summary().missing), to);
  for (const WordLock& it : locks) {
    locked.add_word(it.word);
    locked.add_word(it.tickets);
  }
  WordSections sections([&](const WordSection& section) {
    const auto lock = std::find_if(locks.begin(), locks.end(), [&](const WordLock& it) { return it.word == section.word; });
    if (lock != locks.end()) locked.add_section(section, ids[lock - locks.begin()]);
  });
  give_stream(from, stream, sections);
  give_stream(from, stream, locked);
  locked.finish();
}

// Words that several threads exchange or compare-exchange, except the trace's locks and those in `found`.
std::vector<WordPlace> exchanged_words(const Reader& reader, const std::vector<WordLock>& found) {
  std::map<WordPlace, std::set<std::uint32_t>> words;
  for (std::uint32_t stream = 0; stream < reader.symbols().streams.size(); ++stream) {
    Reader::Cursor cursor = reader.open(stream);
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      for (const Operation& operation : frame) {
        // A releasing exchange acts as a store, so it does not count.
        const bool exchanges = operation.kind == Kind::exchange && (operation.flags & kRelease) == 0;
        if (exchanges || operation.kind == Kind::compare_exchange) words[{operation.id, operation.argument}].insert(stream);
      }
    }
  }
  std::vector<WordPlace> others;
  for (const auto& entry : words) {
    const WordPlace& place = entry.first;
    const bool is_found = std::ranges::any_of(found, [&place](const WordLock& it) { return it.word == place; });
    if (entry.second.size() > 1 && !is_found && !is_known(reader.symbols(), place)) others.push_back(place);
  }
  return others;
}

}  // namespace

std::vector<WordLock> word_locks(const Reader& reader) {
  const Symbols& symbols = reader.symbols();
  std::map<WordPlace, WordFacts> words;
  Draws draws;
  for (std::uint32_t stream = 0; stream < symbols.streams.size(); ++stream) add_stream(reader, stream, words, draws);
  std::erase_if(words, [&](const auto& it) { return !is_lock(it.second) || is_known(symbols, it.first); });
  if (words.empty()) return {};
  add_misuses(reader, words);
  for (auto& [word, facts] : words) {
    if (facts.tickets != word) facts.misuses += draws[facts.tickets] - facts.sections;
  }
  std::vector<WordLock> locks;
  for (const auto& [word, facts] : words) {
    if (!is_lock(facts)) continue;
    locks.push_back({.lock = lock_at(symbols, word, facts),
                     .word = word,
                     .tickets = facts.tickets,
                     .acquisitions = facts.sections,
                     .retries = facts.retries,
                     .streams = facts.streams});
  }
  count_like_ones_together(symbols, locks);
  std::ranges::stable_sort(locks, [](const WordLock& a, const WordLock& b) { return a.acquisitions > b.acquisitions; });
  return locks;
}

std::string classification(const WordLock& word) {
  const std::string& algorithm = word.lock.algorithm;
  if (algorithm == kUncontended) return "runs as ttas, because nobody waited";
  if (algorithm == "ticket") return "runs as ticket, because threads draw from one word and wait for the other";
  if (algorithm == "tas") return "runs as tas, because threads that waited never looked before they tried";
  return "runs as " + algorithm + ", because threads looked at it before they tried";
}

std::vector<std::string> missing_beside(const Reader& reader, const std::vector<WordLock>& found) {
  std::vector<std::string> missing = reader.summary().missing;
  const auto own = std::ranges::find_if(missing, [](const auto& it) { return it.starts_with(kOwnLocks); });
  if (own == missing.end()) return missing;
  const std::vector<WordPlace> others = exchanged_words(reader, found);
  if (others.empty()) {
    missing.erase(own);
    return missing;
  }
  const auto& [object, offset] = others.front();
  std::string names = reader.symbols().place_name(object, static_cast<std::int64_t>(offset));
  names += others.size() > 1 ? " and " + std::to_string(others.size() - 1) + " more are any" : " is one";
  *own = std::string(kOwnLocks) + " in another way than those that are recognised, if " + names +
         ": they are plain operations, a spin as long as it was";
  return missing;
}

void copy_with_locks(const Reader& from, const std::vector<WordLock>& locks, Writer& to) {
  define_all(from.symbols(), to);
  std::vector<std::uint32_t> ids;
  for (const WordLock& it : locks) ids.push_back(to.define(it.lock));
  for (std::uint32_t stream = 0; stream < from.symbols().streams.size(); ++stream) copy_stream(from, stream, locks, ids, to);
  Summary summary = summary_of_copy(from);
  for (std::string& sentence : summary.missing) {
    if (sentence.starts_with(kOwnLocks)) sentence += "; those that were found are locks now";
  }
  to.finish(summary);
}

}  // namespace linebounce::trace
