// The plugin's interface to capstone. QEMU translates one block at a time, so one decoder is enough.
#pragma once

#include <capstone/capstone.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Returns false on failure. REQUIRES: called first.
bool start_decoder(void);
// Returns NULL for an instruction that capstone does not know, such as a recent vector instruction. The result is valid until
// the next call.
const cs_insn* decode(uint64_t address, const void* code, size_t bytes);
// Returns NULL if the instruction has no memory operand.
const cs_x86_op* memory_operand(const cs_insn* instruction);
