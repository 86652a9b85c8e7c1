// The table that exercises and exams ask for: for each access its number, CPU and operation, each cache's state before and
// after, the transactions, who supplied the line, and hit or class of miss.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/course/atomic_bus.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

// An access as its source writes it.
struct NamedAccess {
  int cpu = 0;
  Address address = 0;  // where it lies on the bus
  int bytes = 0;
  bool writes = false;
  bool linked = false;     // a load-linked or store-conditional
  std::string place = {};  // "0x100", "x"
  std::string line = {};   // the line's name, if it is evicted: "0x100", "x"
};

// Runs the access on the bus. Errors: as for AtomicBus::access().
const AtomicAccess& run_access(AtomicBus& bus, const NamedAccess& access);

class StateTable {
 public:
  // REQUIRES: `protocol` outlives this object. `cpus`: the CPUs that have a column. Errors: as for AtomicBus.
  StateTable(const Protocol& protocol, std::vector<int> cpus, const AtomicCacheSpec& spec);

  // Runs an access and adds its row. Errors: as for AtomicBus::access().
  void add(const NamedAccess& access);

  [[nodiscard]] std::size_t rows() const { return rows_.size(); }
  // The texts of the table: the columns' titles, then a row for each access.
  [[nodiscard]] std::vector<std::vector<std::string>> cells() const;
  // `paint`: for a drawn table, or one in Markdown.
  [[nodiscard]] std::string text(const Painter& paint) const;
  [[nodiscard]] std::string csv() const;

 private:
  struct Row {
    int cpu = 0;
    std::string operation = {}, place = {};
    std::vector<StateId> before = {}, after = {};  // by column
    std::string bus = {}, supplier = {}, to_memory = {};
    std::string result = {};
    MissClass miss = MissClass::none;
    std::string evicted = {}, evicted_state = {};
  };
  [[nodiscard]] std::vector<StateId> states(LineAddr line) const;
  [[nodiscard]] const std::string& state_name(StateId state) const { return protocol_.cache.states[state].name; }
  // `had_copy`: the CPU's cache could read the line before the access.
  void tell_transactions(const AtomicAccess& ran, bool had_copy, Row& row) const;
  void follow_miss(const NamedAccess& access, LineAddr line, const AtomicAccess& ran);
  [[nodiscard]] std::string states_text(const Row& row, std::size_t column) const;
  [[nodiscard]] std::string result_text(const Row& row) const;

  const Protocol& protocol_;
  const std::vector<int> cpus_;
  const int line_bytes_;
  ClassCounters counters_;
  AtomicBus bus_;
  std::vector<Row> rows_;
  std::map<std::uint64_t, std::string> lines_;                        // by line: its name
  std::map<std::pair<int, std::uint64_t>, std::size_t> latest_miss_;  // by cache and line: the row
};

}  // namespace linebounce::sim
