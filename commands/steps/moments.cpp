#include "commands/steps/moments.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "commands/steps/names.hpp"
#include "models/text/spelling.hpp"

namespace linebounce::sim {
namespace {

constexpr const char* kForms =
    "start; end; step N; X is STATE in CPU N; X is STATE at home N (directory N, controller N, group N, memory); X is VALUE; "
    "X is VALUE in CPU N; CPU N loads X; CPU N stores X; CPU N misses X; CPU N runs line N; first miss of function F; "
    "MESSAGE for X; a value is stale. X is a word or an object. \"before \" may precede each form, and \", 2nd time\" follow "
    "it";

// True if the moment comes with this step. May depend on earlier steps, so every step must be tested.
using Test = std::function<bool(const RunStep&)>;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::optional<std::uint64_t> number(const std::string& text) {
  const bool hexadecimal = text.size() > 2 && text[0] == '0' && text[1] == 'x';
  const std::string digits = hexadecimal ? text.substr(2) : text;
  if (digits.empty() || digits.size() > 19) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : hexadecimal && c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return std::nullopt;
    value = value * (hexadecimal ? 16 : 10) + static_cast<std::uint64_t>(digit);
  }
  return value;
}

class Finder {
 public:
  Finder(const RecordedSteps& run, const std::string& text) : run_(run), text_(text), names_(run) {}

  std::optional<std::size_t> find(std::size_t from) {
    std::vector<std::string> words = split(without_count());
    const bool before = !words.empty() && words.front() == "before";
    if (before) words.erase(words.begin());
    if (words.size() == 1 && words[0] == "start") return 0;
    if (words.size() == 1 && words[0] == "end") return run_.steps.size();
    if (words.size() == 2 && words[0] == "step") return step(words[1]);
    if (fmt::format("{}", fmt::join(words, " ")) == "a value is stale") return stale();
    const Test test = test_of(words);
    for (std::size_t i = 0; i < run_.steps.size(); ++i) {
      const RunStep& one = run_.steps[i];
      follow(one);
      // Every step is tested, because tests keep state. But only a step from `from` on can be the result.
      if (!test(one) || i < from) continue;
      if (--times_ == 0) return before ? i : i + 1;
    }
    return std::nullopt;
  }

 private:
  // Removes ", 2nd time".
  std::string without_count() {
    const std::size_t comma = text_.rfind(',');
    if (comma == std::string::npos) return text_;
    const std::vector<std::string> words = split(text_.substr(comma + 1));
    if (words.size() != 2 || words[1] != "time" || words[0].size() < 3)
      refuse("after the comma, expected a count such as \"2nd time\"");
    const std::optional<std::uint64_t> count = number(words[0].substr(0, words[0].size() - 2));
    if (!count || *count == 0) refuse("after the comma, expected a count such as \"2nd time\"");
    times_ = *count;
    return text_.substr(0, comma);
  }

  [[noreturn]] void refuse(const std::string& why) const { throw MomentError(fmt::format("moment \"{}\": {}", text_, why)); }

  std::optional<std::size_t> step(const std::string& word) const {
    const std::optional<std::uint64_t> wanted = number(word);
    if (!wanted) refuse("expected the number of a step");
    if (*wanted > run_.steps.size()) refuse(fmt::format("the run has {} steps", run_.steps.size()));
    return *wanted;
  }

  // The engine stops at a stale value, so it is the run's last step.
  [[nodiscard]] std::optional<std::size_t> stale() const {
    if (run_.error.find("stale value") == std::string::npos) return std::nullopt;
    return run_.steps.size();
  }

  Test test_of(const std::vector<std::string>& words) {
    const auto is = [&words](std::size_t at, const char* word) { return at < words.size() && words[at] == word; };
    if (words.size() >= 4 && is(0, "CPU")) return of_cpu(words);
    if (words.size() == 5 && is(0, "first") && is(1, "miss") && is(2, "of") && is(3, "function")) return miss_of(words[4]);
    if (words.size() == 3 && is(1, "for")) return message(words[0], words[2]);
    if (words.size() == 3 && is(1, "is")) return value(words[0], words[2]);
    if (words.size() == 6 && is(1, "is") && is(3, "in") && is(4, "CPU")) return in_cpu(words[0], words[2], words[5]);
    if (words.size() >= 5 && words.size() <= 6 && is(1, "is") && is(3, "at"))
      return at_place(words[0], words[2], words[4], words.size() == 6 ? words[5] : "0");
    refuse(fmt::format("this form is not known; legal: {}", kForms));
  }

  // ---- reading parts of a moment's text ----

  int cpu(const std::string& word) const {
    const std::optional<std::uint64_t> wanted = number(word);
    if (!wanted || *wanted >= run_.places.size())
      refuse(fmt::format("CPU {} is out of range; legal: 0 to {}", word, run_.places.size() - 1));
    return static_cast<int>(*wanted);
  }
  [[nodiscard]] int core_of(int cpu) const { return run_.places[cpu].core; }

  std::vector<std::pair<Address, int>> words_called(const std::string& name) const {
    std::vector<std::pair<Address, int>> words = names_.called(name);
    if (words.empty()) {
      const std::vector<std::string> names = names_.names();
      const std::string near = nearest(name, names);
      refuse(fmt::format("word \"{}\" is not known in this run{}; known: {}", name,
                         near.empty() ? "" : fmt::format("; did you mean {}?", near), fmt::join(names, ", ")));
    }
    return words;
  }
  std::vector<std::uint64_t> lines_called(const std::string& name) const {
    std::vector<std::uint64_t> lines;
    for (const auto& word : words_called(name)) lines.push_back(run_.line_of(word.first).value);
    return lines;
  }

  StateId state(Controller controller, const std::string& name) const {
    const std::vector<StateInfo>& states = run_.table(controller).states;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < states.size(); ++i) {
      if (states[i].name == name || plain_state(states[i].name) == name) return static_cast<StateId>(i);
      names.push_back(states[i].name);
    }
    refuse(fmt::format("{} is not a state there; its states: {}", name, fmt::join(names, ", ")));
  }

  static bool contains(const std::vector<std::uint64_t>& lines, std::uint64_t line) {
    return std::ranges::find(lines, line) != lines.end();
  }

  // ---- tests for each form of moment ----

  Test of_cpu(const std::vector<std::string>& words) const {
    const int wanted = cpu(words[1]);
    if (words.size() == 5 && words[2] == "runs" && words[3] == "line") {
      const std::optional<std::uint64_t> line = number(words[4]);
      if (!line) refuse("expected the number of a line");
      return [wanted, line](const RunStep& step) {
        return step.kind == RunStepKind::operation && step.cpu == wanted &&
               step.source_line == static_cast<std::int64_t>(*line);
      };
    }
    if (words.size() != 4) refuse(fmt::format("this form is not known; legal: {}", kForms));
    if (words[2] == "misses") return miss_at(wanted, lines_called(words[3]));
    const bool loads = words[2] == "loads";
    if (!loads && words[2] != "stores") refuse("a CPU loads, stores, misses or runs");
    const auto called = words_called(words[3]);
    return [wanted, loads, called](const RunStep& step) {
      const bool load = static_cast<AccessKind>(step.what) == AccessKind::load;
      return step.kind == RunStepKind::access && step.cpu == wanted && load == loads &&
             std::ranges::any_of(called, [&step](const auto& word) { return word.first == step.where; });
    };
  }

  // True if the step is a cache's own request to the bus for an access.
  [[nodiscard]] bool is_miss(const RunStep& step) const {
    if (step.kind != RunStepKind::row || static_cast<Controller>(step.what) != Controller::cache) return false;
    const ControllerTable& table = run_.table(Controller::cache);
    if (step.event >= table.base_events[kEvict].first) return false;
    const Row& row = table.row(step.state, step.event);
    return access_result(row) == AccessResult::issued;
  }

  Test miss_at(int wanted, const std::vector<std::uint64_t>& lines) const {
    const int core = core_of(wanted);
    return
        [this, core, lines](const RunStep& step) { return is_miss(step) && step.agent == core && contains(lines, step.where); };
  }

  Test miss_of(const std::string& function) const {
    const auto found = std::ranges::find(run_.facts.functions, function);
    if (found == run_.facts.functions.end())
      refuse(
          fmt::format("function \"{}\" is not known in this run; known: {}", function, fmt::join(run_.facts.functions, ", ")));
    const auto wanted = static_cast<FunctionId>(found - run_.facts.functions.begin());
    return [this, wanted](const RunStep& step) {
      if (!is_miss(step)) return false;
      const auto runs = runs_on_core_.find(step.agent);
      return runs != runs_on_core_.end() && runs->second == wanted;
    };
  }

  Test message(const std::string& name, const std::string& word) const {
    const std::vector<std::string> names = message_names(run_);
    if (std::ranges::find(names, name) == names.end())
      refuse(fmt::format("message \"{}\" is not known; known: {}", name, fmt::join(names, ", ")));
    return [this, names, name, lines = lines_called(word)](const RunStep& step) {
      return step.kind == RunStepKind::message && contains(lines, step.where) && names[message_number(run_, step)] == name;
    };
  }

  // The word takes this value and had another before. Its first access shows its initial value.
  Test value(const std::string& name, const std::string& text) const {
    const std::optional<std::uint64_t> wanted = number(text);
    if (!wanted) refuse(fmt::format("{} is neither a value nor a state with its place, such as \"in CPU 0\"", text));
    const auto called = words_called(name);
    auto last = std::make_shared<std::map<Address, Value>>();
    return [wanted, called, last](const RunStep& step) {
      if (step.kind != RunStepKind::access) return false;
      const bool one = std::ranges::any_of(called, [&step](const auto& word) { return word.first == step.where; });
      if (!one) return false;
      const auto before = last->find(step.where);
      const bool held = before != last->end() && before->second == *wanted;
      (*last)[step.where] = step.fresh;
      return step.fresh == *wanted && !held;
    };
  }

  Test in_cpu(const std::string& name, const std::string& what, const std::string& cpu_word) const {
    const int wanted = cpu(cpu_word);
    if (const std::optional<std::uint64_t> value = number(what)) {
      const auto called = words_called(name);
      return [wanted, value, called](const RunStep& step) {
        return step.kind == RunStepKind::access && step.cpu == wanted && step.fresh == *value &&
               std::ranges::any_of(called, [&step](const auto& word) { return word.first == step.where; });
      };
    }
    return becomes(Controller::cache, core_of(wanted), lines_called(name), state(Controller::cache, what));
  }

  Test at_place(const std::string& name, const std::string& what, const std::string& place,
                const std::string& number_word) const {
    static const std::map<std::string, Controller> kPlaces = {{"home", Controller::directory},
                                                              {"directory", Controller::directory},
                                                              {"controller", Controller::node},
                                                              {"group", Controller::group},
                                                              {"memory", Controller::memory}};
    const auto found = kPlaces.find(place);
    if (found == kPlaces.end()) refuse(fmt::format("{} is not a place", place));
    if (run_.table(found->second).states.empty()) refuse(fmt::format("this machine has no {}", place));
    const std::optional<std::uint64_t> agent = number(number_word);
    if (!agent) refuse("expected the number of a place");
    return becomes(found->second, static_cast<int>(*agent), lines_called(name), state(found->second, what));
  }

  static Test becomes(Controller controller, int agent, const std::vector<std::uint64_t>& lines, StateId state) {
    return [controller, agent, lines, state](const RunStep& step) {
      return step.kind == RunStepKind::row && static_cast<Controller>(step.what) == controller && step.agent == agent &&
             step.next == state && step.state != state && contains(lines, step.where);
    };
  }

  // Keeps track of the function and line that each core's program is in.
  void follow(const RunStep& step) {
    if (step.kind == RunStepKind::operation) runs_on_core_[core_of(step.cpu)] = step.function;
  }

  const RecordedSteps& run_;
  const std::string text_;
  const WordNames names_;
  std::uint64_t times_ = 1;
  std::map<int, FunctionId> runs_on_core_;
};

}  // namespace

std::optional<std::size_t> find_moment(const RecordedSteps& run, const std::string& text, std::size_t from) {
  return Finder(run, text).find(from);
}

}  // namespace linebounce::sim
