// HMAT, the firmware's table of latencies and bandwidths of memory, as `iasl -d` prints it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim {

// Reads from memory of the proximity domain `to` by CPUs of `from`.
struct HmatPair {
  int from = 0, to = 0;
  bool is_latency = true;  // else a bandwidth
  double figure = 0;       // ns, or MB/s
};

// Takes a table's lines one after the other: "[058h 0088   2]   Entry : 0064".
class HmatTable {
 public:
  // `refuse`: throws, with what is wrong with the current line.
  explicit HmatTable(std::function<void(const std::string&)> refuse) : refuse_(std::move(refuse)) {}

  // Returns false if the line is none of HMAT's.
  bool take(std::string_view line);
  // The pairs with a figure. Errors: as `refuse`, if the table is cut off.
  std::vector<HmatPair> finished();

 private:
  void field(std::string_view name, std::string_view value);
  void end_structure();
  [[nodiscard]] double figure(std::uint64_t entry, bool is_latency) const;

  std::function<void(const std::string&)> refuse_;
  bool is_inside_ = false;  // of HMAT, not of another table in the same text
  std::uint64_t revision_ = 2;
  // The structure of latencies or bandwidths that is being read.
  bool is_locality_ = false;
  std::uint64_t hierarchy_ = 0, data_type_ = 0, unit_ = 0;
  std::size_t initiators_stated_ = 0, targets_stated_ = 0;
  std::vector<int> initiators_, targets_;
  std::vector<std::uint64_t> entries_;  // by initiator, then target
  std::vector<HmatPair> pairs_;
};

}  // namespace linebounce::sim
