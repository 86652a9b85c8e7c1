// Reading litmus tests, and models.
#include <gmock/gmock.h>

#include "litmus/machine_program.hpp"
#include "litmus/tests/shape.hpp"
#include "trace/error.hpp"

namespace linebounce::sim::litmus {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

std::string refusal_of(const std::string& text) {
  try {
    read_test(text, "t.litmus");
  } catch (const trace::TraceError& problem) {
    return problem.what();
  }
  return "";
}

std::string x86(const std::string& initial, const std::string& rows, const std::string& end) {
  return "X86 T\n" + initial + "\n P0 | P1 ;\n" + rows + end + "\n";
}
const std::string kRow = " MOV [x],$1 | MOV EAX,[x] ;\n";

TEST(LitmusReader, WhatCannotBeReadIsRefusedWithItsLine) {
  EXPECT_THAT(refusal_of("PPC T\n{ }\n P0 ;\nexists (x=1)\n"),
              AllOf(HasSubstr("line 1: PPC has no memory model"), HasSubstr("PPC T")));
  EXPECT_THAT(refusal_of(x86("{\n x=0;\n int a[2]={1,2};\n}", kRow, "exists (x=1)")),
              AllOf(HasSubstr("line 4: arrays"), HasSubstr("int a[2]")));
  EXPECT_THAT(refusal_of(x86("{ }", kRow + " CLFLUSH [x] | ;\n", "exists (x=1)")),
              HasSubstr("line 5: CLFLUSH has no counterpart"));
  EXPECT_THAT(refusal_of(x86("{ }", kRow + " JMP out | ;\n", "exists (x=1)")), HasSubstr("line 5: there is no label out"));
  EXPECT_THAT(refusal_of(x86("{ }", kRow, "exists (x=1")), HasSubstr("line 5: expected \")\""));
  EXPECT_THAT(refusal_of(x86("{ }", kRow, "exists (x)")), HasSubstr("line 5: expected \"=\" before"));
  EXPECT_THAT(refusal_of(x86("{ }", kRow, "exists (7:EAX=1)")), HasSubstr("there is no thread P7"));
  EXPECT_THAT(refusal_of("C t\n{ }\nP0(int *x)\n{\n\twhile (READ_ONCE(*x) == 0);\n}\nexists (x=1)\n"),
              HasSubstr("line 5: while has no counterpart"));
  EXPECT_THAT(refusal_of("C t\n{ }\nP0(int *x)\n{\n\tcall_rcu(x);\n}\nexists (x=1)\n"),
              HasSubstr("line 5: call_rcu() has no counterpart"));
  EXPECT_THAT(refusal_of("C t\n{ }\nP0(int *x)\n{\n\tint r0 = READ_ONCE(*x);\n}\nexists (0:r1=1)\n"),
              HasSubstr("line 7: 0:r1 is a register"));
  EXPECT_THAT(refusal_of("AArch64 t\n{ }\n P0 ;\n LDP W0,W1,[x] ;\nexists (x=1)\n"),
              HasSubstr("line 4: LDP has no counterpart"));
  EXPECT_THAT(refusal_of("AArch64 t\n{ 0:X1=x; }\n P0 ;\n LDR W0,[X1,#4] ;\nexists (x=1)\n"),
              HasSubstr("line 4: [X1,#4]: a part of a variable"));
  EXPECT_THAT(refusal_of("X86 T\n{ x=0;\n P0 ;\n"), HasSubstr("the test is cut off"));
}

TEST(LitmusReader, CommentsAreLeftOutInEveryPart) {
  const std::string text =
      "C t (* a *)\n(* b (* nested *) { *)\n{ x=1; (* c *) }\n// d\nP0(int *x) // e {\n{\n\t/* f; } */ int r0 = READ_ONCE(*x); "
      "// g\n}\n"
      "exists (* h *) (0:r0=1 /\\ (* i *) x=1) (* j *)\n";
  EXPECT_EQ(judgement_of(text, "linux-kernel").observation, Observation::always);
}

TEST(LitmusReader, TheStatedResultIsTakenFromTheComment) {
  const auto stated = [](const std::string& comment) {
    const Program program =
        read_test("C t\n(* " + comment + " *)\n{ }\nP0(int *x) { WRITE_ONCE(*x, 1); }\nexists (x=1)\n", "t");
    return program.stated + (program.states_race ? " race" : "");
  };
  EXPECT_EQ(stated("Result: Never"), "Never");
  EXPECT_EQ(stated("Result: Sometimes DATARACE"), "Sometimes race");
  EXPECT_EQ(stated("Result: DEADLOCK"), "Deadlock");
  EXPECT_THAT(stated("Result: Maybe"), IsEmpty());
  EXPECT_THAT(stated("Result: Sometimes (but requires modeling the compiler)"), IsEmpty());
}

TEST(LitmusReader, InitialValuesMayBeNumbersAndAddresses) {
  const std::string text =
      "AArch64 t\n{\n  int a=5; int *q=&a;\n  0:X1=a; 0: X2 = q; P0:X3=0x10; uint64_t 0:X4;\n}\n P0 ;\n LDR X0,[X2] ;\n LDR "
      "W5,[X0] ;\n"
      "exists (0:X0=a /\\ 0:X5=5 /\\ 0:X3=16 /\\ 0:X1=0:X0)\n";
  EXPECT_EQ(judgement_of(text, "aarch64").observation, Observation::always);
}

TEST(LitmusReader, AFilterLeavesExecutionsOut) {
  const std::string text =
      "C t\n{ }\nP0(int *x) { WRITE_ONCE(*x, 1); }\nP1(int *x) { int r0 = READ_ONCE(*x); }\nlocations [x;]\n";
  EXPECT_EQ(judgement_of(text + "exists (1:r0=0)\n", "linux-kernel").observation, Observation::sometimes);
  EXPECT_EQ(judgement_of(text + "filter (1:r0=1)\nexists (1:r0=0)\n", "linux-kernel").observation, Observation::never);
}

TEST(LitmusReader, BothSidesOfAndRunAsInC) {
  const std::string text =
      "C t\n{ x=1; }\nP0(int *x, int *y) { int r0; int r1 = 7; if (READ_ONCE(*x) && (r0 = 0, 0)) r1 = 1; }\nexists (0:r1=7)\n";
  EXPECT_THAT(refusal_of(text), HasSubstr("line 3")) << "the comma is no operator here";
  const std::string lazy =
      "C t\n{ }\nP0(int *x, int *y) { int r1 = 0; if (READ_ONCE(*x) && atomic_inc_return(y)) r1 = 1; }\nexists (0:r1=1 \\/ "
      "y=1)\n";
  EXPECT_EQ(judgement_of(lazy, "linux-kernel").observation, Observation::never);
}

TEST(LitmusReader, LongConditionsAreReadAndDeepOnesRefused) {
  std::string terms = "x=1";
  for (int i = 0; i < 20'000; ++i) terms += " \\/ x=2";
  EXPECT_EQ(judgement_of(x86("{ }", kRow, "exists (" + terms + ")"), "x86-tso").observation, Observation::always);
  const std::string deep(1000, '(');
  EXPECT_THAT(refusal_of(x86("{ }", kRow, "exists " + deep + "x=1" + std::string(1000, ')'))), HasSubstr("nested too deeply"));
  std::string implied;
  for (int i = 0; i < 1000; ++i) implied += "x=1 => ";
  EXPECT_THAT(refusal_of(x86("{ }", kRow, "exists (" + implied + "x=1)")), HasSubstr("nested too deeply"));
}

TEST(LitmusReader, ALoopThatCountsRunsToItsEndAndOneThatWaitsRunsTwice) {
  const std::string counts = "AArch64 t\n{ }\n P0 ;\n MOV W0,#10 ;\nL: ;\n ADD W1,W1,#1 ;\n SUB W0,W0,#1 ;\n CBNZ W0,L ;\n";
  EXPECT_EQ(judgement_of(counts + "forall (0:X1=10)\n", "aarch64").observation, Observation::always);
  const Program counting = read_test(counts + "forall (0:X1=10)\n", "t");
  EXPECT_FALSE(paths_of(counting).has_cut_loops);
  const std::string tries =
      "AArch64 t\n{ }\n P0 | P1 ;\nL: | ;\n LDXR W1,[x] | MOV W1,#5 ;\n ADD W1,W1,#1 | STR W1,[x] ;\n STXR W2,W1,[x] | ;\n"
      " CBNZ W2,L | ;\n";
  EXPECT_EQ(judgement_of(tries + "exists (0:X1=6 /\\ x=6)\n", "aarch64").observation, Observation::sometimes);
  EXPECT_TRUE(paths_of(read_test(tries + "exists (x=6)\n", "t")).has_cut_loops);
}

// ---- The machine ----

std::string machine_refusal(const std::string& text) {
  const Program program = read_test(text, "t.litmus");
  try {
    machine_program(program);
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
  return "";
}

TEST(MachineProgram, IsTheTestInTheWorkloadsNotation) {
  const Program program =
      read_test(x86("{ }", " MOV [x],$1 | MOV EAX,[y] ;\n MOV EBX,[y] | MFENCE ;\n MOV ECX,EBX | MOV [y],EAX ;\n",
                    "exists (0:ECX=0 /\\ (1:EAX=1 \\/ not (y=0)))"),
                "t");
  const MachineProgram machine = machine_program(program);
  EXPECT_EQ(machine.threads, "x = 1; r0 = y || r1 = y; fence; y = r1");
  EXPECT_EQ(machine.asks, "r0=0 r1=1 | r0=0 y!=0");
  EXPECT_EQ(machine.consistency, "tso");
  // The places are 0:EBX, 0:ECX, 1:EAX and y.
  EXPECT_EQ(machine.outcome("r0_4.r1_5.y_6"), (Outcome{4, 4, 5, 6}));
}

TEST(MachineProgram, AnArmAcquireWaitsForTheReleaseBeforeIt) {
  const auto threads = [](const char* load) {
    const Program program = read_test(fmt::format("AArch64 t\n{{ }}\n P0 ;\n MOV W2,#1 ;\n STLR W2,[x] ;\n {} W1,[y] ;\n"
                                                  "exists (0:X1=0)\n",
                                                  load),
                                      "t");
    return machine_program(program).threads;
  };
  EXPECT_EQ(threads("LDAR"), "x =rel 1; fence; r0 =acq y");
  EXPECT_EQ(threads("LDAPR"), "x =rel 1; r0 =acq y");
  const Program kernel = read_test(
      "C t\n{ }\nP0(int *x, int *y) { int r; smp_store_release(x, 1); r = smp_load_acquire(y); }\n"
      "exists (0:r=0)\n",
      "t");
  EXPECT_EQ(machine_program(kernel).threads, "x =rel 1; r0 =acq y");
}

TEST(MachineProgram, SaysWhatTheMachineCannotDo) {
  EXPECT_THAT(machine_refusal(x86("{ x=3; }", kRow, "exists (x=1)")), HasSubstr("variables start at 0"));
  EXPECT_THAT(machine_refusal(x86("{ }", kRow + " INC [x] | ;\n", "exists (x=1)")), HasSubstr("the exchange alone"));
  EXPECT_THAT(machine_refusal("C t\n{ }\nP0(spinlock_t *l) { spin_lock(l); }\nexists (l=1)\n"), HasSubstr("spinlocks"));
  EXPECT_THAT(machine_refusal("C t\n{ }\nP0(int *x) { if (READ_ONCE(*x)) WRITE_ONCE(*x, 2); }\nexists (x=1)\n"),
              HasSubstr("branches"));
}

// ---- Models ----

std::string model_refusal(const std::string& text) {
  try {
    parse_model(text, "mine");
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
  return "";
}

TEST(ModelText, ErrorsNameTheLine) {
  const std::string head = "title \"mine\"\n";
  EXPECT_THAT(model_refusal("let a = po\n"), HasSubstr("no title"));
  EXPECT_THAT(model_refusal(head), HasSubstr("no rule"));
  EXPECT_THAT(model_refusal(head + "rule r: acyclic nothing \"why\"\n"), HasSubstr("mine: line 2: nothing is not defined"));
  EXPECT_THAT(model_refusal(head + "rule r: acyclic R \"why\"\n"), HasSubstr("a relation is needed"));
  EXPECT_THAT(model_refusal(head + "let a = po | R\n"), HasSubstr("one operand is a set"));
  EXPECT_THAT(model_refusal(head + "let po = rf\n"), HasSubstr("po is defined already"));
  EXPECT_THAT(model_refusal(head + "rule r: acyclic po\n"), HasSubstr("needs its reason"));
  EXPECT_THAT(model_refusal(head + "let rec a = po \\ a\n"), HasSubstr("may not subtract"));
  EXPECT_THAT(model_refusal(head + "let a = " + std::string(200, '(') + "po\n"), HasSubstr("nested too deeply"));
  EXPECT_THAT(model_refusal(head + "rule r: cyclic po \"why\"\n"), HasSubstr("expected acyclic"));
}

TEST(ModelText, ARecursiveDefinitionIsTheLeastRelation) {
  const std::string text =
      column_text("X86", {"", {"MOV [x],$1; MOV EAX,[y]", "MOV [y],$1; MOV EAX,[x]"}, "0:EAX=0 /\\ 1:EAX=0", Says::allowed});
  const Program program = read_test(text, "t");
  const Model closed = parse_model("title \"t\" rule r: acyclic (po | rf | co | fr)+ \"w\"", "closed");
  const Model recursive =
      parse_model("title \"t\" let rec all = po | rf | co | fr | all ; all rule r: irreflexive all \"w\"", "recursive");
  EXPECT_EQ(Judge(program, closed).judgement().outcomes, Judge(program, recursive).judgement().outcomes);
  EXPECT_EQ(Judge(program, recursive).judgement().observation, Observation::never);
}

}  // namespace
}  // namespace linebounce::sim::litmus
