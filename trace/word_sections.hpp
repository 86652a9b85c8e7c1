// Finds critical sections that a word guards like a lock, in one stream. The thread enters by an exchange, a compare-exchange
// or a ticket, and leaves by a store to the word.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "trace/operation.hpp"

namespace linebounce::trace {

struct WordPlace {
  std::uint32_t object = 0;
  std::uint64_t offset = 0;
  friend auto operator<=>(const WordPlace&, const WordPlace&) = default;
};

struct WordSection {
  WordPlace word;                            // the word whose store releases the lock
  WordPlace tickets;                         // the word that tickets are drawn from; `word` if there are no tickets
  std::uint64_t acquired = 0, released = 0;  // numbers of the operations in the stream
  std::uint64_t retries = 0;                 // failed attempts before the lock was acquired
  std::uint64_t looks = 0;                   // loads of the word by the waiting thread
  int bytes = 0;                             // of `word`
};

class WordSections {
 public:
  // Called with each section when it ends.
  using Sink = std::function<void(const WordSection&)>;

  // `watched`: words for which a store or fetch-and-add outside a section always is a misuse. For other words it is one only if
  // the thread also acquires them.
  explicit WordSections(Sink sink, std::set<WordPlace> watched = {}) : sink_(std::move(sink)), watched_(std::move(watched)) {}

  // Takes the stream's next operation. `number`: counted from 0.
  void take(const Operation& operation, std::uint64_t number);
  // By word: uses that no lock has, that is, stores without holding it, and acquiring it twice.
  [[nodiscard]] const std::map<WordPlace, std::uint64_t>& misuses() const { return misuses_; }
  // By word: the number of fetch-and-adds. For a lock's tickets it is about the number of its sections.
  [[nodiscard]] const std::map<WordPlace, std::uint64_t>& draws() const { return draws_; }

 private:
  struct Use {
    bool held = false;
    bool by_comparing = false;
    std::uint64_t acquired = 0, retries = 0, looks = 0;
    std::uint64_t looks_since = 0;  // loads since the latest exchange; they are part of a wait if another exchange follows
  };
  // A fetch-and-add that may have drawn a ticket. The first word near it that the thread then reads may be the number being
  // served.
  struct Ticket {
    WordPlace drawn_from;
    std::uint64_t number = 0;
    bool looked = false;
    std::uint64_t serving = 0;  // its offset, once read
    std::uint64_t looks = 0;
  };

  void take_load(const WordPlace& at);
  void take_exchange(const WordPlace& at, int bytes, std::uint64_t number);
  void take_compare_exchange(const WordPlace& at, bool failed, std::uint64_t number);
  // `releases`: it is an atomic store with release order, as a ticket lock's release must be.
  void take_store(const WordPlace& at, int bytes, bool releases, std::uint64_t number);
  void end_section(const WordPlace& at, Use& use, int bytes, std::uint64_t number);
  void take_fetch_add(const WordPlace& at, int bytes, std::uint64_t number);
  bool ends_ticket(const WordPlace& at, int bytes, std::uint64_t number);

  Sink sink_;
  std::set<WordPlace> watched_;
  std::map<WordPlace, Use> uses_;
  std::vector<Ticket> tickets_;  // newest last
  std::set<WordPlace> served_;   // words that show the ticket being served
  std::map<WordPlace, std::uint64_t> misuses_, draws_;
};

}  // namespace linebounce::trace
