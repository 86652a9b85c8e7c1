// The rules for a single stream's operations, independent of other streams.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/operation.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// What a stream has begun and must end: locks that it holds, a handler. Every operation costs the same, however many there are.
class Unended {
 public:
  explicit Unended(const Symbols& symbols) : symbols_(symbols) {}

  // Errors: FormatError for operations that cannot begin or end now.
  void follow(const Operation& it);
  [[nodiscard]] bool empty() const { return endings_.empty(); }
  // The name of the lock taken last; nullptr if none is held.
  [[nodiscard]] const std::string* latest_lock() const;
  // The operations that end everything, latest first.
  [[nodiscard]] std::vector<Operation> endings() const;

 private:
  using Moment = std::uint64_t;  // a counter of begun locks and handlers
  void take(std::uint32_t lock, bool shared);
  void give_back(std::uint32_t lock, bool shared);
  void turn_handler(bool begins);
  Moment begin(Kind ended_by, std::uint32_t id);

  const Symbols& symbols_;
  Moment next_ = 0;
  std::map<Moment, Operation> endings_;                 // what ends each held lock or handler, by the moment it began
  std::map<std::uint32_t, std::vector<Moment>> holds_;  // by lock: shared holds may nest
  std::optional<Moment> handler_;
};

class StreamRules {
 public:
  StreamRules(const Symbols& symbols, std::uint32_t stream);

  // Takes the stream's next operation. Errors: FormatError if it breaks a rule.
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
