// Replays a count that many threads change as another kind of counter, to predict what such a change of the program costs or
// gains.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace linebounce::workloads {

enum class CountForm : std::uint8_t {
  per_thread,  // each thread adds to a count of its own, without an atomic operation; a read sums them
  batched,     // as per_thread, but every kBatch-th add of a thread goes to the shared count, which a read loads
  striped,     // kStripes counts on lines of their own, to which threads add atomically; a read sums them
  removed      // no adds: readers are known by other means, such as RCU or hazard pointers
};
constexpr std::array<const char*, 4> kCountForms = {"per_thread", "batched", "striped", "removed"};
constexpr int kBatch = 64;
constexpr int kStripes = 8;

// Chooses the form of the word at an offset of every object with a layout: a structure's name, or the name of an object without
// structure.
struct CountChoice {
  CountForm form{};
  std::string layout;
  std::uint64_t offset = 0;
};

// Parses "per_thread keys_added+0; removed node+8"; an empty text gives none. Errors: std::invalid_argument.
std::vector<CountChoice> count_choices_of(const std::string& text);
std::string text_of(const std::vector<CountChoice>& choices);

}  // namespace linebounce::workloads
