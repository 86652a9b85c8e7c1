// Conditions of herd's litmus tests, and tests in C11.
#include "sim/sources/litmus_condition.hpp"

#include <gmock/gmock.h>

#include "sim/sources/litmus_text.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string asks(const std::string& condition) {
  return read_herd_test("X86 T\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n" + condition + "\n",
                        "t")
      .asks;
}

HerdTest in_c(const std::string& first, const std::string& second) {
  return read_herd_test("C T\n{ [x] = 0; }\nP0 (atomic_int* x, atomic_int* y) {\n" + first +
                            "\n}\nP1 (atomic_int* x, atomic_int* y) {\n" + second + "\n}\nexists (1:r0=1)\n",
                        "t");
}

TEST(LitmusCondition, OrAndNotBecomeAlternatives) {
  EXPECT_EQ(asks("exists (0:EAX=0 /\\ 1:EAX=0)"), "r0=0 r1=0");
  EXPECT_EQ(asks("~exists (0:EAX=0 /\\ [x]=1)"), "r0=0 x=1");
  EXPECT_EQ(asks("exists (0:EAX=0 /\\ (1:EAX=0 \\/ x=2))"), "r0=0 r1=0 | r0=0 x=2");
  EXPECT_EQ(asks("exists (not (0:EAX=0 \\/ ~(1:EAX=0)))"), "r0!=0 r1=0");
}

TEST(LitmusCondition, ForallAsksForWhatBreaksIt) {
  EXPECT_EQ(asks("forall (0:EAX=1 \\/ 1:EAX=1)"), "r0!=1 r1!=1");
  EXPECT_EQ(asks("forall (x=1)"), "x!=1");
  EXPECT_TRUE(parse_condition("forall (x=1)").is_for_all);
  EXPECT_FALSE(parse_condition("~exists (x=1)").is_for_all);
}

TEST(LitmusCondition, WhatCannotBeReadIsNamed) {
  const auto said = [](const char* condition) {
    try {
      parse_condition(condition);
    } catch (const std::invalid_argument& problem) {
      return std::string(problem.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(said("exists (x=1"), HasSubstr("expected )"));
  EXPECT_THAT(said("exists (x)"), HasSubstr("expected NAME=NUMBER"));
  EXPECT_THAT(said("exists (x=1) (y=1)"), HasSubstr("expected /\\ or \\/"));
  EXPECT_THAT(said("maybe (x=1)"), HasSubstr("expected exists"));
}

TEST(LitmusOfC11, OrdersOfAtomicsAreKept) {
  EXPECT_THAT(in_c("atomic_store_explicit(x, 1, memory_order_relaxed);\n*y = 2;",
                   "int r0 = atomic_load_explicit(x, memory_order_acquire);\nint r1 = *y;")
                  .threads,
              ElementsAre("x = 1; y = 2", "r0 =acq x; r1 = y"));
  EXPECT_THAT(in_c("atomic_store(x, 1);", "int r0 = atomic_load(x);").threads, ElementsAre("x =rel 1; fence", "r0 =acq x"));
  EXPECT_THAT(in_c("int r1 = atomic_exchange_explicit(x, 1, memory_order_acq_rel);",
                   "atomic_thread_fence(memory_order_seq_cst);\nint r0 = atomic_load_explicit(x, memory_order_relaxed);")
                  .threads,
              ElementsAre("r0 = exchange x 1", "fence; r1 = x"));
  EXPECT_THAT(in_c("*x = 1;", "int r0 = *x;").doubt, HasSubstr("Linux"));
  EXPECT_THAT(in_c("atomic_store(x, 1);", "int r0 = *x;").doubt, HasSubstr("C11"));
}

TEST(LitmusOfC11, AStatementWithoutCounterpartIsRefusedAndNotDropped) {
  for (const char* statement : {"int r1 = atomic_fetch_add_explicit(x, 1, memory_order_relaxed);", "r1 = r2 + 1;", "x++;"})
    EXPECT_THROW(in_c(statement, "int r0 = *x;"), trace::TraceError) << statement;
}

}  // namespace
}  // namespace linebounce::sim
