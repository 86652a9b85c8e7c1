// What streams owe each other: how often all of them together do what somebody waits for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/operation.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

// An operation of the trace.
struct Spot {
  std::uint32_t stream = kNone;
  std::uint64_t operation = 0;
};

// The order between streams is not known here, only how often anything happens at all.
class Supplies {
 public:
  explicit Supplies(const Symbols& symbols);

  // The next operation of a stream, whose own rules it keeps; stream after stream. Errors: FormatError, of a second `create`
  // and of a counted write of what nobody awaits.
  void count(const Spot& at, const Operation& it);

  struct Debt {
    Spot where;
    std::string what;
  };
  // Of whom, at the end of all streams, something is awaited that has not come.
  [[nodiscard]] std::optional<Debt> first_debt() const;

  // How often that comes which an operation of `stream` waits for: a wait, await, sleep, barrier or handler. / Its name.
  [[nodiscard]] std::uint64_t comes(const Operation& it, std::uint32_t stream) const;
  [[nodiscard]] std::string awaited(const Operation& it, std::uint32_t stream) const;
  [[nodiscard]] bool creates(std::uint32_t stream) const { return creations_[stream]; }
  [[nodiscard]] bool has_operations(std::uint32_t stream) const { return has_operations_[stream]; }

 private:
  // What the trace has of something, the most that anybody waits for, and where.
  struct Supply {
    std::uint64_t count = 0;
    std::uint64_t demand = 0;
    Spot where;
  };
  void count_write(const Operation& it);
  void await(const Spot& at, const Operation& it);
  void create(std::uint32_t stream);
  static void demand(Supply& supply, const Spot& at, std::uint64_t count);
  [[nodiscard]] static std::optional<Debt> unpaid(const Supply& supply, std::string_view kind, const std::string& what);
  [[nodiscard]] std::optional<Debt> unpaid_barrier(std::uint32_t id) const;
  [[nodiscard]] std::optional<Debt> uncreated(std::uint32_t id) const;

  const Symbols& symbols_;
  bool awaits_several_ = false;  // the last await goes on with the next
  std::vector<Supply> events_, words_, arrivals_;
  std::map<std::uint32_t, Supply> wakes_;       // by CPU
  std::map<std::uint32_t, Supply> interrupts_;  // by CPU * 2^16 + vector
  std::vector<bool> creations_;
  std::vector<bool> has_operations_;
  std::vector<Spot> joins_;  // the first, of each stream
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> word_at_;
};

}  // namespace linebounce::trace
