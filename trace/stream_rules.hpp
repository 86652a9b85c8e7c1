// What one stream's operations have to be, whatever other streams do.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trace/kinds.hpp"
#include "trace/operation.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// What a stream holds so far. Errors: FormatError.
class HeldLocks {
 public:
  explicit HeldLocks(const Symbols& symbols) : symbols_(symbols) {}

  void follow(const Operation& it);
  [[nodiscard]] bool empty() const { return held_.empty(); }
  // Of the lock that was taken last. REQUIRES: !empty().
  [[nodiscard]] const std::string& latest() const { return symbols_.locks[held_.back().lock].name; }
  // All of them given back, the latest first.
  [[nodiscard]] std::vector<Operation> releases() const;

 private:
  struct Held {
    std::uint32_t lock;
    bool shared;
  };
  void take(std::uint32_t lock, bool shared);
  void give_back(std::uint32_t lock, bool shared);

  const Symbols& symbols_;
  std::vector<Held> held_;
};

class StreamRules {
 public:
  StreamRules(const Symbols& symbols, std::uint32_t stream);

  // The stream's next operation. Errors: FormatError, of one that breaks a rule.
  void follow(const Operation& it);
  [[nodiscard]] const HeldLocks& held() const { return held_; }

 private:
  void check_access(const Operation& it) const;
  void check_name(const Operation& it, Names names) const;
  void check_other(const Operation& it);
  void check_created(std::uint32_t stream) const;
  void check_target(const Operation& it, std::uint32_t cpu) const;
  void turn_handler(bool begins);

  const Symbols& symbols_;
  std::uint32_t stream_;
  const Stream& facts_;
  std::set<std::uint32_t> cpus_;  // on which any stream ran
  HeldLocks held_;
  std::uint64_t functions_ = 0;
  bool in_handler_ = false;
};

}  // namespace linebounce::trace
