#include "sim/steps/words_of_data.hpp"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace linebounce::sim {

namespace {

// The bytes of each keeper's copies, as far as they are known.
class KnownBytes {
 public:
  void set(const Endpoint& keeper, Address address, int bytes, Value value) {
    for (int i = 0; i < bytes; ++i) bytes_[key(keeper, address, i)] = static_cast<std::uint8_t>(value >> (8 * i));
  }
  [[nodiscard]] std::optional<Value> get(const Endpoint& keeper, Address address, int bytes) const {
    Value value = 0;
    for (int i = 0; i < bytes; ++i) {
      const auto found = bytes_.find(key(keeper, address, i));
      if (found == bytes_.end()) return std::nullopt;
      value |= Value{found->second} << (8 * i);
    }
    return value;
  }

 private:
  using Key = std::tuple<Endpoint::Kind, int, Address>;
  static Key key(const Endpoint& keeper, Address address, int byte) {
    return {keeper.kind, keeper.number, address + static_cast<Address>(byte)};
  }
  std::map<Key, std::uint8_t> bytes_;
};

Value value_at(const std::vector<std::byte>& taken, std::size_t begin, int bytes) {
  Value value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<Value>(std::to_integer<std::uint8_t>(taken[begin + i])) << (8 * i);
  return value;
}

}  // namespace

void keep_known_words(RecordedSteps& run) {
  std::set<std::pair<Address, int>> used;
  for (const RunStep& step : run.steps) {
    const bool of_word =
        step.kind == RunStepKind::access || step.kind == RunStepKind::operation || step.kind == RunStepKind::buffer;
    if (of_word && step.bytes > 0) used.emplace(step.where, step.bytes);
  }
  std::erase_if(run.facts.words, [&used](const auto& word) { return !used.contains(word.first); });
}

void tell_words_of_data(RecordedSteps& run, const std::vector<std::byte>& taken) {
  const auto line_bytes = static_cast<Address>(run.facts.line_bytes);
  KnownBytes known;
  std::vector<RunStep> steps;
  steps.reserve(run.steps.size());
  for (const RunStep& step : run.steps) {
    if (step.kind == RunStepKind::access && !step.far)
      known.set({Endpoint::Kind::cache, step.agent}, step.where, step.bytes, step.fresh);
    if (step.kind != RunStepKind::data) {
      steps.push_back(step);
      continue;
    }
    const Address begin = step.where * line_bytes;
    const auto end = run.facts.words.lower_bound({begin + line_bytes, 0});
    for (auto word = run.facts.words.lower_bound({begin, 0}); word != end; ++word) {
      const auto& [address, bytes] = word->first;
      RunStep one = step;
      one.where = address;
      one.bytes = static_cast<std::uint8_t>(bytes);
      one.fresh = value_at(taken, step.fresh + (address - begin), bytes);
      const std::optional<Value> before = known.get(step.from, address, bytes);
      known.set(step.from, address, bytes, one.fresh);
      // A cache may have lost its copy meanwhile; what stands in memory stays.
      if (before == one.fresh && step.from.kind != Endpoint::Kind::cache) continue;
      one.old = before.value_or(0);
      one.flag = before.has_value();
      steps.push_back(one);
    }
  }
  run.steps = std::move(steps);
}

}  // namespace linebounce::sim
