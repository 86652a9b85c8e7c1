// The models' axioms against machines that try every order (workloads/litmus/reference.hpp): each random test must have the
// same outcomes, and the timed machine may show no other. LINEBOUNCE_LITMUS_CASES sets how many tests; LINEBOUNCE_LITMUS_FIRST
// the first one's number.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "litmus/shipped_models.hpp"
#include "litmus/tests/compared_programs.hpp"
#include "tests/workloads/litmus/litmus_support.hpp"
#include "workloads/litmus/reference.hpp"
#include "workloads/program/random.hpp"

namespace linebounce::sim::litmus {
namespace {

using workloads::LitmusOutcome;
using workloads::LitmusStatement;
using workloads::LitmusTest;

// One to four threads, mostly two, of one to four operations on two or three variables. Half of the operations after a store
// load another variable, because that is what a store buffer reorders; each store has a value of its own, so that outcomes
// tell which store a load has seen.
class RandomTest {
 public:
  RandomTest(std::uint64_t number, Consistency model) : random_(number, 1, 75), model_(model) {}

  LitmusTest make() {
    const std::uint64_t drawn = 1 + random_.below(12), threads = drawn > 4 ? 2 : drawn;
    const std::uint64_t most = threads > 3 ? 2 : threads == 3 ? 3 : 4;
    test_.variables = 2 + static_cast<int>(random_.below(2));
    for (std::uint64_t i = 0; i < threads; ++i) thread(1 + random_.below(most));
    for (int variable = 0; variable < test_.variables; ++variable) test_.last_values.push_back(variable);
    return test_;
  }

 private:
  void thread(std::uint64_t operations) {
    test_.threads.emplace_back();
    loaded_.clear();
    stored_ = -1;
    for (std::uint64_t i = 0; i < operations; ++i) {
      test_.threads.back().push_back(statement());
      if (random_.below(8) == 0) test_.threads.back().push_back({.kind = LitmusStatement::Kind::fence});
    }
  }

  LitmusStatement statement() {
    LitmusStatement one;
    one.variable = static_cast<int>(random_.below(test_.variables));
    std::uint64_t kind = random_.below(9);
    if (stored_ >= 0 && random_.below(2) == 0) {
      kind = 0;
      one.variable = (stored_ + 1 + static_cast<int>(random_.below(test_.variables - 1))) % test_.variables;
    }
    stored_ = kind < 4 || kind == 8 ? -1 : one.variable;
    if (kind < 4) {
      one.kind = LitmusStatement::Kind::load;
      one.target = test_.registers++;
      if (!loaded_.empty() && random_.below(3) == 0) one.after = loaded_[random_.below(loaded_.size())];
      loaded_.push_back(one.target);
    } else if (kind < 8) {
      one.kind = LitmusStatement::Kind::store;
      one.value = ++values_;
      if (!loaded_.empty() && random_.below(3) == 0) one.value_from = loaded_[random_.below(loaded_.size())];
    } else {
      one.kind = LitmusStatement::Kind::exchange;
      one.value = ++values_;
      one.target = test_.registers++;
      loaded_.push_back(one.target);
    }
    // On x86, no load acquires and no store releases: there are no such instructions.
    const bool may_be_ordered = model_ == Consistency::ia64 && one.kind != LitmusStatement::Kind::exchange;
    one.ordered = may_be_ordered && random_.below(3) == 0;
    return one;
  }

  workloads::Random random_;
  Consistency model_;
  LitmusTest test_;
  std::vector<int> loaded_;
  int stored_ = -1;  // the variable, if the operation before was a store
  int values_ = 0;
};

Instruction instruction_of(const LitmusStatement& one, const std::vector<int>& registers) {
  Instruction result;
  if (one.kind == LitmusStatement::Kind::fence) return {.kind = Instruction::Kind::fence, .tags = tag(Tag::full_fence)};
  result.address = number_expr(address_of(one.variable));
  result.value = one.value_from >= 0 ? register_expr(registers[one.value_from]) : number_expr(one.value);
  if (one.after >= 0) {
    const Expr reg = register_expr(registers[one.after]);
    result.address = binary_expr(Expression::Op::add, result.address, binary_expr(Expression::Op::bit_xor, reg, reg));
  }
  if (one.target >= 0) result.target = registers[one.target];
  switch (one.kind) {
    case LitmusStatement::Kind::load:
      result.kind = Instruction::Kind::load;
      result.tags = one.ordered ? tag(Tag::acquire) : 0;
      break;
    case LitmusStatement::Kind::store:
      result.kind = Instruction::Kind::store;
      result.tags = one.ordered ? tag(Tag::release) : 0;
      break;
    default: result.kind = Instruction::Kind::update; result.tags = result.store_tags = tag(Tag::locked);
  }
  return result;
}

std::set<LitmusOutcome> outcomes_of_axioms(const LitmusTest& test, const Model& model) {
  std::set<LitmusOutcome> outcomes;
  for (const Outcome& outcome : outcomes_by(program_that_mentions_all(test, instruction_of), model))
    outcomes.emplace(outcome.begin(), outcome.end());
  return outcomes;
}

std::string text_of(const LitmusTest& test) {
  std::string text;
  for (const auto& thread : test.threads) {
    for (const LitmusStatement& one : thread)
      text += fmt::format("[{} {} r{} ={} from r{} after r{}{}] ", static_cast<int>(one.kind), one.variable, one.target,
                          one.value, one.value_from, one.after, one.ordered ? " ordered" : "");
    text += "|| ";
  }
  return text;
}

// How a model is compared.
struct Comparison {
  const char* model;
  Consistency consistency;
  std::uint64_t tests;  // usually
  std::int64_t rounds;  // of each test on the timed machine
};

void compare(const Comparison& comparison) {
  const Model model = load_model(comparison.model);
  const std::uint64_t first = number_in("LINEBOUNCE_LITMUS_FIRST", 0);
  const std::uint64_t tests = number_in("LINEBOUNCE_LITMUS_CASES", comparison.tests);
  std::uint64_t compared = 0, relaxed = 0;
  for (std::uint64_t number = first; number < first + tests; ++number) {
    const LitmusTest test = RandomTest(number, comparison.consistency).make();
    std::set<LitmusOutcome> orders, interleavings;
    try {
      orders = workloads::allowed_outcomes(test, comparison.consistency);
      interleavings = workloads::allowed_outcomes(test, Consistency::sc);
    } catch (const workloads::TooManyOrders&) {
      continue;
    }
    ++compared;
    relaxed += orders.size() > interleavings.size() ? 1 : 0;
    ASSERT_EQ(outcomes_of_axioms(test, model), orders) << number << ": " << text_of(test);
    const auto seen = test::run_litmus(test, test::litmus_machine(comparison.consistency),
                                       {.rounds = comparison.rounds, .origin = workloads::LitmusOrigin::user});
    ASSERT_EQ(seen.rounds, comparison.rounds);
    const std::set<std::string> allowed = test::names_of(test, orders);
    ASSERT_TRUE(std::ranges::includes(allowed, seen.outcomes)) << number << ": " << text_of(test);
  }
  testing::Test::RecordProperty("relaxed", static_cast<int>(relaxed));
  EXPECT_GT(compared, tests * 9 / 10);
  if (comparison.consistency == Consistency::sc) return;
  EXPECT_GT(relaxed, tests / 20) << "the tests are too simple to tell a model from interleavings";
}

TEST(RandomLitmus, SequentialConsistencyHasTheOutcomesOfInterleavings) {
  compare({"sc", Consistency::sc, 200, 10});
}
TEST(RandomLitmus, X86TsoHasTheOutcomesOfStoreBuffers) {
  compare({"x86-tso", Consistency::tso, 200, 10});
}
TEST(RandomLitmus, ItaniumHasTheOutcomesOfItsVisibilityOrders) {
  compare({"ia64", Consistency::ia64, 150, 10});
}

}  // namespace
}  // namespace linebounce::sim::litmus
