// Rules for a stream's operations that don't depend on other streams.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/operation.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// What a stream has begun and not yet ended: locks that it holds, and a handler. Each operation takes the same time, however
// many locks are held.
class Unended {
 public:
  explicit Unended(const Symbols& symbols) : symbols_(symbols) {}

  // Errors: FormatError for an operation that can't begin or end anything now.
  void follow(const Operation& it);
  [[nodiscard]] bool empty() const { return endings_.empty(); }
  // The name of the lock that was acquired last; nullptr if none is held.
  [[nodiscard]] const std::string* latest_lock() const;
  // Operations that would end everything, the latest beginning first.
  [[nodiscard]] std::vector<Operation> endings() const;

 private:
  using Moment = std::uint64_t;  // number of locks and handlers begun so far
  void take(std::uint32_t lock, bool shared);
  void give_back(std::uint32_t lock, bool shared);
  void turn_handler(bool begins);
  Moment begin(Kind ended_by, std::uint32_t id);

  const Symbols& symbols_;
  Moment next_ = 0;
  std::map<Moment, Operation> endings_;  // the operations that end what is held or under way, by the moment at which that began
  std::map<std::uint32_t, std::vector<Moment>> holds_;  // by lock; several moments, because shared holds may nest
  std::optional<Moment> handler_;
};

class StreamRules {
 public:
  StreamRules(const Symbols& symbols, std::uint32_t stream);

  // Checks the stream's next operation. Errors: FormatError if it breaks a rule.
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
