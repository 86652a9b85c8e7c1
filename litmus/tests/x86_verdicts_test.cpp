// Verdicts of x86-TSO, of sequential consistency and of Itanium. Facts: Owens, Sarkar, Sewell (2009); Intel's manual, volume
// 3, 8.2.3.
#include "litmus/tests/shape.hpp"

namespace linebounce::sim::litmus {
namespace {

constexpr std::string_view kX86Missed = "0:EAX=0 /\\ 1:EAX=0";
constexpr std::string_view kX86Seen = "1:EAX=1 /\\ 1:EBX=0";

const std::vector<Shape>& x86_shapes() {
  static const std::vector<Shape> kShapes = {
      {"Loads pass stores", {"MOV [x],$1; MOV EAX,[y]", "MOV [y],$1; MOV EAX,[x]"}, kX86Missed, kAllowed},
      {"MFENCE stops that", {"MOV [x],$1; MFENCE; MOV EAX,[y]", "MOV [y],$1; MFENCE; MOV EAX,[x]"}, kX86Missed, kForbidden},
      {"LFENCE does not", {"MOV [x],$1; LFENCE; MOV EAX,[y]", "MOV [y],$1; LFENCE; MOV EAX,[x]"}, kX86Missed, kAllowed},
      {"A LOCKed addition of nothing to the stack does, as smp_mb() has it",
       {"MOV [x],$1; LOCK ADD [s],$0; MOV EAX,[y]", "MOV [y],$1; LOCK ADD [t],$0; MOV EAX,[x]"},
       kX86Missed,
       kForbidden},
      {"The same addition without LOCK does not",
       {"MOV [x],$1; ADD [s],$0; MOV EAX,[y]", "MOV [y],$1; ADD [t],$0; MOV EAX,[x]"},
       kX86Missed,
       kAllowed},
      {"XCHG is LOCKed by itself",
       {"MOV EBX,$1; XCHG [x],EBX; MOV EAX,[y]", "MOV EBX,$1; XCHG [y],EBX; MOV EAX,[x]"},
       kX86Missed,
       kForbidden},
      {"CMPXCHG that fails is a barrier, too",
       {"MOV [x],$1; MOV EAX,$5; MOV ECX,$6; LOCK CMPXCHG [s],ECX; MOV EAX,[y]", "MOV [y],$1; MFENCE; MOV EAX,[x]"},
       kX86Missed,
       kForbidden},
      {"Stores and loads keep their order", {"MOV [x],$1; MOV [y],$1", "MOV EAX,[y]; MOV EBX,[x]"}, kX86Seen, kForbidden},
      {"A CPU sees its own store early, other CPUs later",
       {"MOV [x],$1; MOV EAX,[x]; MOV EBX,[y]", "MOV [y],$1; MOV EAX,[y]; MOV EBX,[x]"},
       "0:EAX=1 /\\ 0:EBX=0 /\\ 1:EAX=1 /\\ 1:EBX=0",
       kAllowed},
      {"Readers agree on the order of stores",
       {"MOV [x],$1", "MOV [y],$1", "MOV EAX,[x]; MOV EBX,[y]", "MOV EAX,[y]; MOV EBX,[x]"},
       "2:EAX=1 /\\ 2:EBX=0 /\\ 3:EAX=1 /\\ 3:EBX=0",
       kForbidden},
      {"INC without LOCK loses a step", {"INC [x]", "INC [x]"}, "x=1", kAllowed},
      {"LOCK INC does not", {"LOCK INC [x]", "LOCK INC [x]"}, "x=1", kForbidden},
      {"XADD returns what was there", {"MOV EAX,$2; LOCK XADD [x],EAX"}, "0:EAX=5 /\\ x=7", kAllowed, "x=5;"},
      {"CMPXCHG loads EAX when it fails",
       {"MOV EAX,$1; MOV ECX,$9; LOCK CMPXCHG [x],ECX"},
       "0:EAX=5 /\\ x=5",
       kAllowed,
       "x=5;"},
      {"CMPXCHG stores when it succeeds", {"MOV EAX,$5; MOV ECX,$9; LOCK CMPXCHG [x],ECX"}, "x=9", kAllowed, "x=5;"},
      {"One of two CMPXCHG wins",
       {"MOV ECX,$1; LOCK CMPXCHG [x],ECX", "MOV ECX,$2; LOCK CMPXCHG [x],ECX"},
       "0:EAX=0 /\\ 1:EAX=0",
       kForbidden},
      {"The kernel's smp_mb() is a LOCKed addition to the stack",
       {"MOV [x],$1; LOCK ADDL $0,-4(%rsp); MOV EAX,[y]", "MOV [y],$1; LOCK ADD [RSP-4],$0; MOV EAX,[x]"},
       kX86Missed,
       kForbidden},
      {"A jump is taken or not",
       {"MOV EAX,[x]; CMP EAX,$1; JNE out; MOV [y],$1; out:", "MOV [x],$1"},
       "0:EAX=0 /\\ y=1",
       kForbidden},
      {"AT&T's order of operands", {"MOVL $1,(x); MOVL (y),%eax", "MOVL $1,(y); MOVL (x),%eax"}, kX86Missed, kAllowed},
      {"A register may hold the address",
       {"MOV [RAX],$1; MOV EBX,[y]", "MOV [y],$1; MOV EBX,[x]"},
       "0:EBX=0 /\\ 1:EBX=0",
       kAllowed,
       "uint64_t x; 0:RAX=x;"},
  };
  return kShapes;
}

TEST(X86TsoModel, JudgesItsShapes) {
  for (const Shape& shape : x86_shapes()) expect_verdict(shape, column_text("X86_64", shape), "x86-tso");
}

TEST(Models, DifferWhereTheirArchitecturesDo) {
  const Shape buffering{"Loads pass stores", {"MOV [x],$1; MOV EAX,[y]", "MOV [y],$1; MOV EAX,[x]"}, kX86Missed, kForbidden};
  expect_verdict(buffering, column_text("X86", buffering), "sc");
  const Shape same_word{
      "Itanium's plain loads of one word change places", {"MOV [x],$1", "MOV EAX,[x]; MOV EBX,[x]"}, kX86Seen, kAllowed};
  expect_verdict(same_word, column_text("X86", same_word), "ia64");
  Shape coherent = same_word;
  coherent.says = kForbidden;
  for (const char* const model : {"sc", "x86-tso", "aarch64", "linux-kernel"})
    expect_verdict(coherent, column_text("X86", coherent), model);
}

TEST(Judgement, NamesTheRuleThatForbids) {
  const Shape fenced{"", {"MOV [x],$1; MFENCE; MOV EAX,[y]", "MOV [y],$1; MFENCE; MOV EAX,[x]"}, kX86Missed, kForbidden};
  const Judgement judgement = judgement_of(column_text("X86", fenced), "x86-tso");
  ASSERT_TRUE(judgement.refusal);
  EXPECT_EQ(load_model("x86-tso").rules[judgement.refusal->rule].name, "memory-order");
  EXPECT_EQ(judgement.refusal->events.size(), 4U) << "the two stores and the two loads";
}

}  // namespace
}  // namespace linebounce::sim::litmus
