// Finds, in one stream, sections that a word guards like a lock: acquired by an exchange, a compare-exchange or a ticket, and
// released by the same thread with a store.
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
  WordPlace tickets;                         // the word that tickets are drawn from; without tickets the same as `word`
  std::uint64_t acquired = 0, released = 0;  // operation numbers in the stream
  std::uint64_t retries = 0;                 // failed attempts before the acquisition
  std::uint64_t looks = 0;                   // loads of the word while the lock was not held
  int bytes = 0;                             // of `word`
};

class WordSections {
 public:
  // Called with each section when it ends.
  using Sink = std::function<void(const WordSection&)>;

  // `watched`: words for which every store and fetch-and-add outside a section is a misuse; for other words only those by
  // threads that acquire them.
  explicit WordSections(Sink sink, std::set<WordPlace> watched = {}) : sink_(std::move(sink)), watched_(std::move(watched)) {}

  // Takes the stream's operations in order. `number`: from 0.
  void take(const Operation& operation, std::uint64_t number);
  // How often a word was used in a way that no lock is: stored to without being held, or taken twice.
  [[nodiscard]] const std::map<WordPlace, std::uint64_t>& misuses() const { return misuses_; }
  // Fetch-and-adds of each word: a word with tickets has at most as many as sections.
  [[nodiscard]] const std::map<WordPlace, std::uint64_t>& draws() const { return draws_; }

 private:
  struct Use {
    bool held = false;
    bool by_comparing = false;
    std::uint64_t acquired = 0, retries = 0, looks = 0;
    std::uint64_t looks_since = 0;  // since its latest exchange; part of a wait if another exchange follows
  };
  // A fetch-and-add that may have drawn a ticket: the first word near it that is read may be the number now served.
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
  // `releases`: an atomic store with release order, which a ticket lock needs.
  void take_store(const WordPlace& at, int bytes, bool releases, std::uint64_t number);
  void end_section(const WordPlace& at, Use& use, int bytes, std::uint64_t number);
  void take_fetch_add(const WordPlace& at, int bytes, std::uint64_t number);
  bool ends_ticket(const WordPlace& at, int bytes, std::uint64_t number);

  Sink sink_;
  std::set<WordPlace> watched_;
  std::map<WordPlace, Use> uses_;
  std::vector<Ticket> tickets_;  // newest last
  std::set<WordPlace> served_;   // words that tickets have waited for
  std::map<WordPlace, std::uint64_t> misuses_, draws_;
};

}  // namespace linebounce::trace
