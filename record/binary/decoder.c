#include "decoder.h"

static csh disassembler;
static cs_insn* decoded;

bool start_decoder(void) {
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &disassembler) != CS_ERR_OK) return false;
  if (cs_option(disassembler, CS_OPT_DETAIL, CS_OPT_ON) != CS_ERR_OK) return false;
  decoded = cs_malloc(disassembler);
  return decoded != NULL;
}

const cs_insn* decode(uint64_t address, const void* code, size_t bytes) {
  const uint8_t* next = code;
  return cs_disasm_iter(disassembler, &next, &bytes, &address, decoded) ? decoded : NULL;
}

const cs_x86_op* memory_operand(const cs_insn* instruction) {
  const cs_x86* x86 = &instruction->detail->x86;
  for (unsigned i = 0; i < x86->op_count; ++i) {
    if (x86->operands[i].type == X86_OP_MEM) return &x86->operands[i];
  }
  return NULL;
}
