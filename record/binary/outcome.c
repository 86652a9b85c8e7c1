#include "outcome.h"

// Where the program keeps the result of the compare-and-exchange ("it stored").
struct Kept {
  bool in_flag;         // in the zero flag
  x86_reg in_register;  // X86_REG_INVALID: in none
  bool flag_is_inverted, register_is_inverted;
};

static bool changes_flag(const cs_x86* x86) {
  const uint64_t kChanges =
      X86_EFLAGS_MODIFY_ZF | X86_EFLAGS_PRIOR_ZF | X86_EFLAGS_UNDEFINED_ZF | X86_EFLAGS_RESET_ZF | X86_EFLAGS_SET_ZF;
  return (x86->eflags & kChanges) != 0;
}

static bool writes_register(const cs_x86* x86) {
  for (unsigned i = 0; i < x86->op_count; ++i) {
    if (x86->operands[i].type == X86_OP_REG && (x86->operands[i].access & CS_AC_WRITE) != 0) return true;
  }
  return false;
}

// Whether the instruction is `test %al, %al` or `test $1, %al`, for the tested register.
static bool tests_register(const cs_insn* instruction, x86_reg tested) {
  const cs_x86_op* operands = instruction->detail->x86.operands;
  if (instruction->id != X86_INS_TEST || tested == X86_REG_INVALID) return false;
  const bool is_whole =
      operands[1].type == X86_OP_REG ? operands[1].reg == tested : operands[1].type == X86_OP_IMM && operands[1].imm == 1;
  return is_whole && operands[0].type == X86_OP_REG && operands[0].reg == tested;
}

// `sete %al`, `setne %al`
static bool copies_flag(const cs_insn* instruction) {
  const bool copies = instruction->id == X86_INS_SETE || instruction->id == X86_INS_SETNE;
  return copies && instruction->detail->x86.operands[0].type == X86_OP_REG;
}

// Follows the result through one instruction. Handles the sequences that compilers emit; a write to any register counts as
// overwriting the result.
static void pass(struct Kept* kept, const cs_insn* instruction) {
  const cs_x86* x86 = &instruction->detail->x86;
  if (copies_flag(instruction) && kept->in_flag) {
    kept->in_register = x86->operands[0].reg;
    kept->register_is_inverted = kept->flag_is_inverted != (instruction->id == X86_INS_SETNE);
  } else if (tests_register(instruction, kept->in_register)) {
    kept->in_flag = true;
    kept->flag_is_inverted = !kept->register_is_inverted;  // zero means false
  } else {
    if (changes_flag(x86)) kept->in_flag = false;
    if (writes_register(x86)) kept->in_register = X86_REG_INVALID;
  }
}

static struct Outcome of_branch(const struct Kept* kept, const cs_insn* branch) {
  const uint64_t taken = (uint64_t)branch->detail->x86.operands[0].imm;
  const uint64_t next = branch->address + branch->size;
  const bool is_taken_if_stored = (branch->id == X86_INS_JE) != kept->flag_is_inverted;
  return is_taken_if_stored ? (struct Outcome){taken, next} : (struct Outcome){next, taken};
}

// Returns NULL if capstone does not know the instruction.
static const cs_insn* decode_in(const Block* block, size_t number) {
  const Instruction* it = qemu_plugin_tb_get_insn(block, number);
  return decode(qemu_plugin_insn_vaddr(it), qemu_plugin_insn_data(it), qemu_plugin_insn_size(it));
}

bool flags_are_read(const Block* block, size_t number) {
  const uint64_t kReads = X86_EFLAGS_TEST_ZF | X86_EFLAGS_TEST_SF | X86_EFLAGS_TEST_CF | X86_EFLAGS_TEST_OF;
  for (size_t i = number + 1; i < qemu_plugin_tb_n_insns(block); ++i) {
    const cs_insn* decoded = decode_in(block, i);
    if (decoded == NULL || (decoded->detail->x86.eflags & kReads) != 0) return true;
    if (changes_flag(&decoded->detail->x86)) return false;
  }
  return false;
}

struct Outcome outcome_of(const Block* block, size_t number) {
  struct Kept kept = {.in_flag = true};
  for (size_t i = number + 1; i < qemu_plugin_tb_n_insns(block); ++i) {
    const cs_insn* decoded = decode_in(block, i);
    if (decoded == NULL) break;
    const bool is_branch = decoded->id == X86_INS_JE || decoded->id == X86_INS_JNE;
    if (is_branch && kept.in_flag) return of_branch(&kept, decoded);
    pass(&kept, decoded);
  }
  return (struct Outcome){0, 0};
}
