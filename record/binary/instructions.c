#include "instructions.h"

#include <stdbool.h>

#include "channel.h"

static unsigned event_of_atomic(unsigned instruction) {
  switch (instruction) {
    case X86_INS_XCHG: return kExchange;
    case X86_INS_CMPXCHG:
    case X86_INS_CMPXCHG8B:
    case X86_INS_CMPXCHG16B: return kCompareExchange;
    default: return kFetchAdd;
  }
}

// Whether it adds or subtracts is known only from an immediate operand, because QEMU shows no registers. Only `xadd` returns
// the old value.
static unsigned detail_of_atomic(const cs_insn* instruction) {
  const cs_x86* x86 = &instruction->detail->x86;
  const bool is_known = x86->op_count == 2 && x86->operands[1].type == X86_OP_IMM;
  const bool is_negative = is_known && x86->operands[1].imm < 0;
  switch (instruction->id) {
    case X86_INS_INC: return kAddsAccess;
    case X86_INS_DEC: return kSubtractsAccess;
    case X86_INS_ADD: return is_known ? (is_negative ? kSubtractsAccess : kAddsAccess) : 0;
    case X86_INS_SUB: return is_known ? (is_negative ? kAddsAccess : kSubtractsAccess) : 0;
    case X86_INS_XADD: return kResultUsedAccess;
    case X86_INS_AND:
    case X86_INS_OR:
    case X86_INS_XOR:
    case X86_INS_BTS:
    case X86_INS_BTR:
    case X86_INS_BTC: return kAddsAccess | kSubtractsAccess;
    default: return 0;
  }
}

static bool is_locked(const cs_insn* instruction) {
  return instruction->detail->x86.prefix[0] == X86_PREFIX_LOCK;
}

// Whether this is `lock or $0, (%rsp)`, which compilers emit as a fence because it is faster than mfence.
static bool is_locked_fence(const cs_insn* instruction) {
  const cs_x86_op* operands = instruction->detail->x86.operands;
  const cs_x86_op* memory = memory_operand(instruction);
  return is_locked(instruction) && instruction->id == X86_INS_OR && memory->mem.base == X86_REG_RSP &&
         operands[1].type == X86_OP_IMM && operands[1].imm == 0;
}

static bool is_atomic(const cs_insn* instruction) {
  return is_locked(instruction) || (instruction->id == X86_INS_XCHG && memory_operand(instruction) != NULL);
}

static bool uses_fixed_word(const cs_insn* instruction) {
  const cs_x86_op* word = memory_operand(instruction);
  return word != NULL && word->mem.base == X86_REG_RIP;
}

static bool pushes_number(const cs_insn* instruction) {
  const cs_x86* x86 = &instruction->detail->x86;
  return x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;
}

// Stores relative to the stack or frame pointer probably write local variables. Optimised code may use the frame-pointer
// register for other data.
static bool is_storing(const cs_insn* instruction) {
  const cs_x86_op* memory = memory_operand(instruction);
  if (memory == NULL || (memory->access & CS_AC_WRITE) == 0) return false;
  const bool is_local = memory->mem.base == X86_REG_RBP && memory->mem.disp < 0;
  return memory->mem.base != X86_REG_RSP && !is_local;
}

// An instruction that capstone does not know counts as neither atomic nor a branch.
struct InstructionFacts facts_of(const void* code, size_t bytes) {
  const cs_insn* decoded = decode(0, code, bytes);
  if (decoded == NULL) return (struct InstructionFacts){kPlain, kNoEvent, 0};
  if (is_locked_fence(decoded)) return (struct InstructionFacts){kFenceInstruction, kNoEvent, 0};
  if (is_atomic(decoded)) return (struct InstructionFacts){kAtomic, event_of_atomic(decoded->id), detail_of_atomic(decoded)};
  switch (decoded->id) {
    case X86_INS_CALL: return (struct InstructionFacts){kCall, kNoEvent, 0};
    case X86_INS_RET: return (struct InstructionFacts){kReturn, kNoEvent, 0};
    case X86_INS_MFENCE: return (struct InstructionFacts){kFenceInstruction, kNoEvent, 0};
    case X86_INS_ENDBR64: return (struct InstructionFacts){kBranchTarget, kNoEvent, 0};
    case X86_INS_JMP: return (struct InstructionFacts){uses_fixed_word(decoded) ? kLinkageJump : kJump, kNoEvent, 0};
    case X86_INS_PUSH:
      if (pushes_number(decoded) || uses_fixed_word(decoded)) return (struct InstructionFacts){kLinkagePush, kNoEvent, 0};
      break;
    default: break;
  }
  return (struct InstructionFacts){is_storing(decoded) ? kStoring : kPlain, kNoEvent, 0};
}
