// The facts about an instruction that a trace needs.
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
  kJump,
  kLinkageJump,   // in a procedure linkage table or equivalent code
  kLinkagePush,   // of a number, or of a word at a fixed place, as before the jump to the loader there
  kBranchTarget,  // endbr64, with which each function begins under -fcf-protection
};

struct InstructionFacts {
  enum InstructionKind kind;
  unsigned event;   // the EventKind, for kAtomic
  unsigned detail;  // detail bits: how it changes its word, as far as the operands show
};

struct InstructionFacts facts_of(const void* code, size_t bytes);
