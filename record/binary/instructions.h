// What an instruction does, as far as it matters to a trace.
#pragma once

#include <stddef.h>

#include "decoder.h"

enum InstructionKind {
  kPlain,
  kStoring,  // to memory that is not likely to be the stack
  kAtomic,   // locked, or an exchange with memory
  kFenceInstruction,
  kCall,
  kReturn,
  kLinkageJump,   // of a procedure linkage table, or of what works like one
  kBranchTarget,  // endbr64: with -fcf-protection each function begins with one
};

struct InstructionFacts {
  enum InstructionKind kind;
  unsigned event;   // EventKind, of kAtomic
  unsigned detail;  // how it changes its word, as far as its own operands say
};

struct InstructionFacts facts_of(const void* code, size_t bytes);
