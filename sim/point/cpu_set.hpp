// A set of CPUs, with Linux's text form: "0-3,8".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/spec_binder.hpp"

namespace linebounce::sim {

// Of up to kMostCpus CPUs, whose numbers are the members. Small where they are below 64: a run has a set for each line.
class CpuSet {
 public:
  void set(std::size_t cpu);
  [[nodiscard]] bool operator[](std::size_t cpu) const {
    const std::size_t word = cpu / kOfWord;
    return word <= more_.size() && (words(word) >> cpu % kOfWord & 1) != 0;
  }
  [[nodiscard]] static constexpr std::size_t size() { return kMostCpus; }
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] bool none() const { return count() == 0; }
  CpuSet& operator|=(const CpuSet& other);
  friend bool operator==(const CpuSet&, const CpuSet&) = default;

 private:
  static constexpr std::size_t kOfWord = 64;
  [[nodiscard]] std::uint64_t words(std::size_t word) const { return word == 0 ? first_ : more_[word - 1]; }

  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> more_;  // of CPU 64 and on; its last word is not 0
};

std::string cpu_list(const CpuSet& cpus);
// None if the text is not a list of CPUs.
std::optional<CpuSet> read_cpu_list(std::string_view text);

}  // namespace linebounce::sim
