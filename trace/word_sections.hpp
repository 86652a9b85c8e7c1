// Finds, in one stream, the sections that a word guards as a lock would: taken by an exchange, a compare-and-exchange or a
// ticket, and given back by the same thread with a store.
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
  WordPlace word;                            // whose store gives it back
  WordPlace tickets;                         // the word that tickets come from; without tickets the same as `word`
  std::uint64_t acquired = 0, released = 0;  // numbers of the stream's operations
  std::uint64_t retries = 0;                 // failed attempts before it
  std::uint64_t looks = 0;                   // loads of the word while it was not had
  int bytes = 0;                             // of `word`
};

class WordSections {
 public:
  // Gets each section when it ends.
  using Sink = std::function<void(const WordSection&)>;

  // `watched`: words of which every store and fetch-and-add outside a section is a misuse; of others only those of threads that
  // take them.
  explicit WordSections(Sink sink, std::set<WordPlace> watched = {}) : sink_(std::move(sink)), watched_(std::move(watched)) {}

  // The stream's operations in order. `number`: from 0.
  void take(const Operation& operation, std::uint64_t number);
  // How often a word was used as no lock is: stored to without being had, or taken twice.
  [[nodiscard]] const std::map<WordPlace, std::uint64_t>& misuses() const { return misuses_; }
  // Fetch-and-adds of each word: of one that tickets come from no more than there are sections.
  [[nodiscard]] const std::map<WordPlace, std::uint64_t>& draws() const { return draws_; }

 private:
  struct Use {
    bool held = false;
    bool by_comparing = false;
    std::uint64_t acquired = 0, retries = 0, looks = 0;
    std::uint64_t looks_since = 0;  // its latest exchange: of a wait, if another one comes
  };
  // A fetch-and-add that may have drawn a ticket: the first word near it that is looked at may be what is served now.
  struct Ticket {
    WordPlace drawn_from;
    std::uint64_t number = 0;
    bool looked = false;
    std::uint64_t serving = 0;  // offset, if looked at
    std::uint64_t looks = 0;
  };

  void take_load(const WordPlace& at);
  void take_exchange(const WordPlace& at, int bytes, std::uint64_t number);
  void take_compare_exchange(const WordPlace& at, bool failed, std::uint64_t number);
  // `releases`: an atomic store that releases, which a ticket lock needs.
  void take_store(const WordPlace& at, int bytes, bool releases, std::uint64_t number);
  void end_section(const WordPlace& at, Use& use, int bytes, std::uint64_t number);
  void take_fetch_add(const WordPlace& at, int bytes, std::uint64_t number);
  bool ends_ticket(const WordPlace& at, int bytes, std::uint64_t number);

  Sink sink_;
  std::set<WordPlace> watched_;
  std::map<WordPlace, Use> uses_;
  std::vector<Ticket> tickets_;  // the newest last
  std::set<WordPlace> served_;   // words that tickets have waited for
  std::map<WordPlace, std::uint64_t> misuses_, draws_;
};

}  // namespace linebounce::trace
