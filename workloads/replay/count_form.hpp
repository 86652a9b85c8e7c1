// A count that many threads change, replayed as another kind of counter: what a change of the program would cost or gain.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace linebounce::workloads {

enum class CountForm : std::uint8_t {
  per_thread,  // each thread adds to a count of its own, without an atomic operation; a read sums them
  batched,     // likewise, and every kBatch-th add of a thread goes to the shared count; a read reads that
  striped,     // kStripes counts on lines of their own, to which threads add atomically; a read sums them
  removed      // nobody adds: readers are known by other means, such as RCU or hazard pointers
};
constexpr std::array<const char*, 4> kCountForms = {"per_thread", "batched", "striped", "removed"};
constexpr int kBatch = 64;
constexpr int kStripes = 8;

// The word at an offset of every object of a layout: of a structure, or of an object without one, by its name.
struct CountChoice {
  CountForm form{};
  std::string layout;
  std::uint64_t offset = 0;
};

// "per_thread keys_added+0; removed node+8"; none for an empty text. Errors: std::invalid_argument.
std::vector<CountChoice> count_choices_of(const std::string& text);
std::string text_of(const std::vector<CountChoice>& choices);

}  // namespace linebounce::workloads
