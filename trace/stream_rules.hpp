// What one stream's operations have to be, whatever other streams do.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/operation.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// What a stream has begun and has to end: locks that it holds, a handler. Every operation costs the same, however many they
// are.
class Unended {
 public:
  explicit Unended(const Symbols& symbols) : symbols_(symbols) {}

  // Errors: FormatError, of what cannot be begun or ended now.
  void follow(const Operation& it);
  [[nodiscard]] bool empty() const { return endings_.empty(); }
  // The name of the lock that was taken last; nullptr: it holds none.
  [[nodiscard]] const std::string* latest_lock() const;
  // What ends all of it, the latest first.
  [[nodiscard]] std::vector<Operation> endings() const;

 private:
  using Moment = std::uint64_t;  // counts what was begun
  void take(std::uint32_t lock, bool shared);
  void give_back(std::uint32_t lock, bool shared);
  void turn_handler(bool begins);
  Moment begin(Kind ended_by, std::uint32_t id);

  const Symbols& symbols_;
  Moment next_ = 0;
  std::map<Moment, Operation> endings_;                 // of each, by when it was begun
  std::map<std::uint32_t, std::vector<Moment>> holds_;  // of each lock: shared holds may nest
  std::optional<Moment> handler_;
};

class StreamRules {
 public:
  StreamRules(const Symbols& symbols, std::uint32_t stream);

  // The stream's next operation. Errors: FormatError, of one that breaks a rule.
  void follow(const Operation& it);
  [[nodiscard]] const Unended& unended() const { return unended_; }

 private:
  void check_access(const Operation& it) const;
  void check_name(const Operation& it, Names names) const;
  void check_other(const Operation& it);
  void check_created(std::uint32_t stream) const;
  void check_target(const Operation& it, std::uint32_t cpu) const;

  const Symbols& symbols_;
  std::uint32_t stream_;
  const Stream& facts_;
  Unended unended_;
  std::uint64_t functions_ = 0;
};

}  // namespace linebounce::trace
