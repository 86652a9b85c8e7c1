// The effects of an instruction, as far as a trace needs them.
#pragma once

#include <stddef.h>

#include "decoder.h"

enum InstructionKind {
  kPlain,
  kStoring,  // stores to memory that is probably not the stack
  kAtomic,   // has a lock prefix, or exchanges with memory
  kFenceInstruction,
  kCall,
  kReturn,
  kLinkageJump,   // in a procedure linkage table or equivalent code
  kBranchTarget,  // endbr64: with -fcf-protection each function begins with one
};

struct InstructionFacts {
  enum InstructionKind kind;
  unsigned event;   // the EventKind, for kAtomic
  unsigned detail;  // how it changes its word, as far as its own operands show
};

struct InstructionFacts facts_of(const void* code, size_t bytes);
