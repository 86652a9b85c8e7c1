// What limits a verdict about the program that a trace was recorded from. Every command that judges a recording states these
// limits before its verdict, and gives none where they could reverse it.
#pragma once

#include <string>
#include <vector>

#include "trace/losses.hpp"
#include "trace/profile.hpp"
#include "trace/reader.hpp"

namespace linebounce::trace {

struct Limit {
  std::string name;  // of its row in kLossKinds, or of what the operations themselves show: "one_thread_seen"
  Bearing bearing = Bearing::none;
  std::string sentence;  // a whole one
  friend bool operator==(const Limit&, const Limit&) = default;
};

class Limits {
 public:
  Limits() = default;
  explicit Limits(std::vector<Limit> all) : all_(std::move(all)) {}

  [[nodiscard]] const std::vector<Limit>& all() const { return all_; }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  // True if something may be worth changing that was not recorded. "Nothing was found" is then no verdict.
  [[nodiscard]] bool may_add() const { return any_from(Bearing::may_add); }
  // True if what was recorded says nothing reliable about the program. There is then no verdict.
  [[nodiscard]] bool may_reverse() const { return any_from(Bearing::may_reverse); }
  // All sentences in one line, the most serious first; empty if there are no limits.
  [[nodiscard]] std::string text() const;
  // Adds the limits of another recording of the same program that are not known yet.
  void add(const Limits& others);
  friend bool operator==(const Limits&, const Limits&) = default;

 private:
  [[nodiscard]] bool any_from(Bearing least) const;

  std::vector<Limit> all_;
};

// What the trace's summary and its damage say.
Limits stated_limits(const Reader& reader);
// stated_limits(), and what the operations show of the threads. Without a profile, reads all operations once. Errors:
// TraceError.
Limits limits_of(const Reader& reader);
Limits limits_of(const Reader& reader, const Profile& profile);

// The sentences of Summary::missing that are no limits, to be listed after a verdict.
std::vector<std::string> missing_beside_limits(const std::vector<std::string>& missing);

}  // namespace linebounce::trace
