#include "workloads/litmus/litmus_test.hpp"

#include <algorithm>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "models/text/whole_number.hpp"

namespace linebounce::workloads {
namespace {

using Words = std::vector<std::string>;

class Parser {
 public:
  explicit Parser(LitmusTest& test) : test_(test) {}

  void thread(std::string_view text) {
    test_.threads.emplace_back();
    std::istringstream statements{std::string(text)};
    for (std::string statement; std::getline(statements, statement, ';');) {
      test_.threads.back().push_back(parse(statement));
    }
  }

  void asks(std::string_view text) {
    for (const std::string& word : words(std::string(text))) {
      if (test_.asks.empty() || word == "|") test_.asks.emplace_back();
      if (word != "|") test_.asks.back().push_back(term(word));
    }
    for (const auto& terms : test_.asks) {
      if (terms.empty()) refuse(std::string(text));
    }
  }

 private:
  static Words words(const std::string& text) {
    std::istringstream in(text);
    Words found;
    for (std::string word; in >> word;) found.push_back(word);
    return found;
  }

  [[noreturn]] void refuse(const std::string& text) const {
    throw std::logic_error("litmus test " + test_.name + ": cannot read \"" + text + "\"");
  }

  LitmusTest::Term term(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) refuse(text);
    const bool differs = text[equals - 1] == '!';
    const std::string name = text.substr(0, equals - (differs ? 1 : 0));
    const int value = number(text.substr(equals + 1));
    if (is_register(name)) return {static_cast<std::size_t>(reg(name)), value, differs};
    const int asked = variable(name);
    auto& last = test_.last_values;
    const auto known = std::ranges::find(last, asked) - last.begin();
    if (known == std::ssize(last)) last.push_back(asked);
    return {static_cast<std::size_t>(test_.registers + known), value, differs};
  }

  int number(const std::string& digits) const {
    const auto value = whole_number(digits, 0, std::numeric_limits<int>::max());
    if (!value) refuse(digits);
    return static_cast<int>(*value);
  }

  static bool is_register(const std::string& word) { return word.size() > 1 && word.front() == 'r'; }

  int reg(const std::string& word) {
    const int place = number(word.substr(1));
    test_.registers = std::max(test_.registers, place + 1);
    return place;
  }

  int variable(const std::string& word) {
    const std::size_t place = word.size() == 1 ? kLitmusVariables.find(word.front()) : std::string_view::npos;
    if (place == std::string_view::npos) refuse(word);
    const int number = static_cast<int>(place);
    test_.variables = std::max(test_.variables, number + 1);
    return number;
  }

  LitmusStatement parse(const std::string& text) {
    const Words found = words(text);
    if (found == Words{"fence"}) return {};
    if (found.size() < 3) refuse(text);
    if (found[0] == "await") return parse_await(found, text);
    return is_register(found[0]) ? parse_read(found, text) : parse_store(found, text);
  }

  LitmusStatement parse_read(const Words& found, const std::string& text) {
    LitmusStatement read{.kind = LitmusStatement::Kind::load, .target = reg(found[0])};
    if (found[2] == "exchange") {
      if (found.size() != 5 || found[1] != "=") refuse(text);
      read.kind = LitmusStatement::Kind::exchange;
      read.variable = variable(found[3]);
      read.value = number(found[4]);
      return read;
    }
    if (found[1] != "=" && found[1] != "=acq") refuse(text);
    read.ordered = found[1] == "=acq";
    read.variable = variable(found[2]);
    if (found.size() == 5 && found[3] == "after") {
      read.after = reg(found[4]);
    } else if (found.size() != 3) {
      refuse(text);
    }
    return read;
  }

  LitmusStatement parse_await(const Words& found, const std::string& text) {
    if (found.size() != 3) refuse(text);
    return {.kind = LitmusStatement::Kind::await, .ordered = true, .variable = variable(found[1]), .value = number(found[2])};
  }

  LitmusStatement parse_store(const Words& found, const std::string& text) {
    if (found.size() != 3 || (found[1] != "=" && found[1] != "=rel")) refuse(text);
    LitmusStatement store{.kind = LitmusStatement::Kind::store, .ordered = found[1] == "=rel", .variable = variable(found[0])};
    if (is_register(found[2])) {
      store.value_from = reg(found[2]);
    } else {
      store.value = number(found[2]);
    }
    return store;
  }

  LitmusTest& test_;
};

}  // namespace

bool LitmusTest::asks_for(const LitmusOutcome& outcome) const {
  const auto holds = [&outcome](const Term& term) { return (outcome[term.position] == term.value) != term.differs; };
  return std::ranges::any_of(asks, [&](const auto& terms) { return std::ranges::all_of(terms, holds); });
}

std::string LitmusTest::outcome_name(const LitmusOutcome& outcome) const {
  std::string text;
  for (std::size_t i = 0; i < outcome.size(); ++i) {
    if (i > 0) text += '.';
    if (i < static_cast<std::size_t>(registers)) {
      text += "r" + std::to_string(i);
    } else {
      text += kLitmusVariables[last_values[i - registers]];
    }
    text += "_" + std::to_string(outcome[i]);
  }
  return text;
}

LitmusTest parse_litmus_test(std::string_view name, std::string_view title, const std::vector<std::string_view>& threads,
                             std::string_view asks) {
  LitmusTest test;
  test.name = name;
  test.title = title;
  Parser parser(test);
  for (const std::string_view thread : threads) parser.thread(thread);
  parser.asks(asks);
  return test;
}

namespace {

// Checks that a thread uses only registers that it has loaded before.
void check_registers(const LitmusTest& test) {
  std::vector<int> loaded_by(test.registers, LitmusStatement::kNone);
  for (int thread = 0; thread < static_cast<int>(test.threads.size()); ++thread) {
    for (const LitmusStatement& statement : test.threads[thread]) {
      for (const int used : {statement.value_from, statement.after}) {
        if (used != LitmusStatement::kNone && loaded_by[used] != thread)
          throw std::invalid_argument("register r" + std::to_string(used) + " is used before its thread has loaded it");
      }
      if (!statement.reads()) continue;
      if (loaded_by[statement.target] != LitmusStatement::kNone)
        throw std::invalid_argument("register r" + std::to_string(statement.target) + " is loaded twice; each is loaded once");
      loaded_by[statement.target] = thread;
    }
  }
  for (int number = 0; number < test.registers; ++number) {
    if (loaded_by[number] == LitmusStatement::kNone)
      throw std::invalid_argument("register r" + std::to_string(number) + " is loaded nowhere");
  }
}

}  // namespace

LitmusTest litmus_test_of(const std::string& threads, const std::string& asks) {
  constexpr std::string_view kBetween = "||";
  constexpr std::size_t kMostThreads = 8;
  constexpr int kMostRegisters = 32;
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= threads.size();) {
    const std::size_t end = std::min(threads.find(kBetween, begin), threads.size());
    parts.push_back(std::string_view(threads).substr(begin, end - begin));
    begin = end + kBetween.size();
  }
  if (parts.size() > kMostThreads)
    throw std::invalid_argument("a litmus test has at most " + std::to_string(kMostThreads) + " threads");
  try {
    LitmusTest test = parse_litmus_test("given", "", parts, asks);
    if (test.registers > kMostRegisters)
      throw std::invalid_argument("registers are r0 to r" + std::to_string(kMostRegisters - 1));
    if (test.asks.empty()) throw std::invalid_argument("the test asks for no outcome, as \"r0=0 x=1\" does");
    check_registers(test);
    return test;
  } catch (const std::invalid_argument&) {
    throw;
  } catch (const std::logic_error& error) {
    throw std::invalid_argument(error.what());
  }
}

LitmusTest find_litmus_test(std::string_view name) {
  const auto texts = litmus_texts();
  const auto found = std::ranges::find(texts, name, &LitmusText::name);
  if (found == texts.end()) throw std::out_of_range("no litmus test " + std::string(name));
  return found->parsed();
}

}  // namespace linebounce::workloads
