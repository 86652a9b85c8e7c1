// Counts what streams need from each other: how often all streams together do what some stream waits for.
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

// A position of an operation in the trace.
struct Spot {
  std::uint32_t stream = kNone;
  std::uint64_t operation = 0;
};

// Counts only how often each thing happens and is waited for. Ignores the order of operations in different streams.
class Supplies {
 public:
  explicit Supplies(const Symbols& symbols);

  // Counts the next operation of a stream; streams are counted one after another. REQUIRES: the stream is sound on its own.
  // Errors: FormatError for a second `create` of a stream, and for a counted write of a word that no stream awaits.
  void count(const Spot& at, const Operation& it) {
    if (at.operation == 0) begin(at.stream);
    if (!it.is_memory() || (it.flags & kCounted) != 0) count_supply(at, it);
  }
  // Adds what another object has counted, in other streams. Returns false if both have counted the `create` of one stream.
  bool add(const Supplies& other);
  // Undoes what a counted operation supplied, but not what it waits for. REQUIRES: first_debt() is not called afterwards.
  void forget(std::uint32_t stream, const Operation& it);

  struct Debt {
    Spot where;
    std::string what;
  };
  // The first wait that the trace can't satisfy, because what it waits for happens too rarely; none if there is no such wait.
  // REQUIRES: all streams were counted.
  [[nodiscard]] std::optional<Debt> first_debt() const;

  // How often the trace supplies what this operation of `stream` waits for. REQUIRES: it is a wait, await, sleep, barrier or
  // handler.
  [[nodiscard]] std::uint64_t comes(const Operation& it, std::uint32_t stream) const;
  // A name for what the operation waits for.
  [[nodiscard]] std::string awaited(const Operation& it, std::uint32_t stream) const;
  [[nodiscard]] bool creates(std::uint32_t stream) const { return creations_[stream]; }
  [[nodiscard]] bool has_operations(std::uint32_t stream) const { return has_operations_[stream]; }

 private:
  void begin(std::uint32_t stream);
  void count_supply(const Spot& at, const Operation& it);
  // How often something happens, the highest number of times that a stream waits for, and the place of that wait.
  struct Supply {
    std::uint64_t count = 0;
    std::uint64_t demand = 0;
    Spot where;
  };
  Supply* brought_by(std::uint32_t stream, const Operation& it);
  Supply* written_by(const Operation& it);
  void await(const Spot& at, const Operation& it);
  void create(std::uint32_t stream);
  static void demand(Supply& supply, const Spot& at, std::uint64_t count);
  [[nodiscard]] static std::optional<Debt> unpaid(const Supply& supply, std::string_view kind, const std::string& what);
  [[nodiscard]] std::optional<Debt> unpaid_barrier(std::uint32_t id) const;
  [[nodiscard]] std::optional<Debt> uncreated(std::uint32_t id) const;

  const Symbols& symbols_;
  bool awaits_several_ = false;  // the last await belongs together with the next one
  std::vector<Supply> events_, words_, arrivals_;
  std::map<std::uint32_t, Supply> wakes_;       // by CPU
  std::map<std::uint32_t, Supply> interrupts_;  // by CPU * 2^16 + vector
  std::vector<bool> creations_;
  std::vector<bool> has_operations_;
  std::vector<Spot> joins_;  // by stream: the first operation that joins it
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> word_at_;
};

}  // namespace linebounce::trace
