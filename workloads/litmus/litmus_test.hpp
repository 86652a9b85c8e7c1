// A litmus test: a few threads of a few memory operations, and the question whether they can end in a certain way.
//
// The text of a thread, statements between semicolons:
//   - stores: `x = 1`, `x =rel 1` (releasing), `x = r0` (what r0 holds)
//   - loads: `r0 = x`, `r0 =acq x` (acquiring), `r0 = x after r1` (its address depends on r1)
//   - `r0 = exchange x 1`: atomic, and a fence, as Cpu::exchange is
//   - `await x 1`: loads x again and again until it is 1, as Cpu::spin_until_acquire does
//   - `fence`
// Variables x, y, z, a, b, ... (kLitmusVariables) are words that hold 0 at first. Registers r0, r1, ... belong to the test,
// each is written once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::workloads {

// The names of variables, by number. `r` is not one of them, because registers begin with it.
inline constexpr std::string_view kLitmusVariables = "xyzabcdefghijklmnopqstuvw";

struct LitmusStatement {
  enum class Kind : std::uint8_t { load, store, exchange, await, fence };
  static constexpr int kNone = -1;

  Kind kind = Kind::fence;
  bool ordered = false;    // an acquiring load, or a releasing store
  int variable = kNone;    // used by all statements except fence
  int target = kNone;      // load, exchange: the register that it writes
  int value = 0;           // store, exchange, await
  int value_from = kNone;  // store: the register that holds the value
  int after = kNone;       // load: the register on which the address depends

  [[nodiscard]] bool reads() const { return target != kNone; }
  [[nodiscard]] bool writes() const { return kind == Kind::store || kind == Kind::exchange; }
};

// The values of the registers in order, then the last values of the variables that the test asks for.
using LitmusOutcome = std::vector<int>;

struct LitmusTest {
  std::string name;
  std::string title;
  std::vector<std::vector<LitmusStatement>> threads;
  int variables = 0;
  int registers = 0;
  std::vector<int> last_values;  // variables whose last value belongs to the outcome
  // The test asks for outcomes that satisfy all terms of at least one of these lists.
  struct Term {
    std::size_t position = 0;  // in the outcome
    int value = 0;
    bool differs = false;  // true: the outcome has another value
  };
  std::vector<std::vector<Term>> asks;

  [[nodiscard]] bool asks_for(const LitmusOutcome& outcome) const;
  // The outcome as a part of a metric's name: "r0_1.r1_0.x_2".
  [[nodiscard]] std::string outcome_name(const LitmusOutcome& outcome) const;
};

// `asks`: the outcomes that the test is about, "r0=1 r1=0 x=2", or several: "r0=1 x!=2 | r0=0 r1=1". Errors: std::logic_error,
// naming the statement.
LitmusTest parse_litmus_test(std::string_view name, std::string_view title, const std::vector<std::string_view>& threads,
                             std::string_view asks);

// Parses a user's test, whose threads are separated by `||`. Errors: std::invalid_argument, naming the statement.
LitmusTest litmus_test_of(const std::string& threads, const std::string& asks);

// A test of the catalogue, not yet parsed.
struct LitmusText {
  std::string_view name;
  std::string_view title;
  std::vector<std::string_view> threads;
  std::string_view asks;

  [[nodiscard]] LitmusTest parsed() const { return parse_litmus_test(name, title, threads, asks); }
};

// The catalogue, in the order of `list`.
std::span<const LitmusText> litmus_texts();
// Errors: std::out_of_range.
LitmusTest find_litmus_test(std::string_view name);

}  // namespace linebounce::workloads
