// Sets of events and relations between events, as bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace linebounce::sim::litmus {

class EventSet {
 public:
  EventSet() = default;
  explicit EventSet(int events) : words_((static_cast<std::size_t>(events) + 63) / 64) {}

  [[nodiscard]] bool has(int event) const { return (words_[event / 64] >> (event % 64) & 1) != 0; }
  void add(int event) { words_[event / 64] |= std::uint64_t{1} << (event % 64); }
  [[nodiscard]] std::vector<std::uint64_t>& words() { return words_; }
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

// All operands of an operation have the same number of events.
class Relation {
 public:
  Relation() = default;
  explicit Relation(int events)
      : events_(events), row_words_((static_cast<std::size_t>(events) + 63) / 64), bits_(row_words_ * events) {}

  [[nodiscard]] int events() const { return events_; }
  [[nodiscard]] bool has(int from, int to) const { return (row(from)[to / 64] >> (to % 64) & 1) != 0; }
  void add(int from, int to) { row(from)[to / 64] |= std::uint64_t{1} << (to % 64); }
  [[nodiscard]] std::size_t row_words() const { return row_words_; }
  [[nodiscard]] std::uint64_t* row(int event) { return bits_.data() + row_words_ * event; }
  [[nodiscard]] const std::uint64_t* row(int event) const { return bits_.data() + row_words_ * event; }
  [[nodiscard]] bool empty() const;
  bool operator==(const Relation&) const = default;

  Relation& operator|=(const Relation& other);
  Relation& operator&=(const Relation& other);
  Relation& operator-=(const Relation& other);
  // This relation, then `next`.
  [[nodiscard]] Relation then(const Relation& next) const;
  [[nodiscard]] Relation inverse() const;
  void close();  // becomes its transitive closure
  void add_identity();
  void keep_from(const EventSet& set);  // removes the pairs whose first event is not in the set
  void keep_to(const EventSet& set);
  [[nodiscard]] EventSet domain() const;
  [[nodiscard]] EventSet range() const;
  [[nodiscard]] bool is_irreflexive() const;
  [[nodiscard]] bool is_acyclic() const;
  // The events of a shortest cycle, in order; empty if there is none.
  [[nodiscard]] std::vector<int> cycle() const;

 private:
  int events_ = 0;
  std::size_t row_words_ = 0;
  std::vector<std::uint64_t> bits_;
};

// Calls `visit` with the number of each bit that is set.
template <class Visit>
void for_each_bit(const std::uint64_t* words, std::size_t count, Visit visit) {
  for (std::size_t word = 0; word < count; ++word) {
    for (std::uint64_t rest = words[word]; rest != 0; rest &= rest - 1)
      visit(static_cast<int>(word * 64) + __builtin_ctzll(rest));
  }
}

}  // namespace linebounce::sim::litmus
