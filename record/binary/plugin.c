// QEMU's plugin: records the instructions of an unmodified program. preload.c records its locks, allocations and threads.
#include <stdlib.h>
#include <sys/syscall.h>

#include "announce.h"
#include "atomic_words.h"
#include "code_owner.h"
#include "follower.h"
#include "instructions.h"
#include "outcome.h"
#include "qemu_plugin.h"
#include "system_calls.h"

// A release must be ordered before the store. If before_store() did not yet know that this instruction releases, the order is
// recorded here, late.
static void record_in_atomic_word(bool stores, bool is_ordered, unsigned size, uint64_t address) {
  if (stores && !is_ordered) record_order();
  record(stores ? kStore : kLoad, size | kAtomicAccess | (stores ? kReleaseAccess : 0), address);
  if (!stores) record_order();
}

static void on_access(unsigned cpu, uint32_t access, uint64_t address, void* data) {
  (void)cpu, (void)data;
  if (!is_followed()) return;
  write_many_instructions();
  const bool stores = qemu_plugin_mem_is_store(access);
  const unsigned size = qemu_plugin_mem_size_shift(access);
  if (is_in_atomic_word(address)) {
    record_in_atomic_word(stores, false, size, address);
  } else {
    record(stores ? kStore : kLoad, size, address);
  }
}

// Before an order: what the thread has executed belongs to the time before.
static void record_order_of_work(void) {
  write_instructions();
  record_order();
}

static void before_store(unsigned cpu, void* releases) {
  (void)cpu;
  if (__atomic_load_n((uint8_t*)releases, __ATOMIC_RELAXED) && is_followed()) record_order_of_work();
}

// An instruction that loads, changes and stores a word calls this for both accesses. Only the store releases.
static void on_store(unsigned cpu, uint32_t access, uint64_t address, void* releases) {
  const bool releases_now = qemu_plugin_mem_is_store(access) && is_in_atomic_word(address);
  if (!releases_now || !is_followed()) return on_access(cpu, access, address, NULL);
  const bool is_ordered = __atomic_exchange_n((uint8_t*)releases, 1, __ATOMIC_RELAXED);
  record_in_atomic_word(true, is_ordered, qemu_plugin_mem_size_shift(access), address);
}

// On x86 every atomic instruction acquires and releases.
static void before_atomic(unsigned cpu, void* data) {
  (void)cpu, (void)data;
  if (is_followed()) record_order_of_work();
}

// Skips the load of an atomic instruction. QEMU reports load and store separately while the program has only one thread.
static bool is_followed_atomic(uint32_t access) {
  return qemu_plugin_mem_is_store(access) && is_followed();
}

// Packs an atomic operation's event and flags into a callback's argument.
enum { kEventBits = 8 };

static void on_atomic(unsigned cpu, uint32_t access, uint64_t address, void* what) {
  (void)cpu;
  if (!is_followed_atomic(access)) return;
  remember_atomic(address);
  const unsigned event = (uintptr_t)what & ((1U << kEventBits) - 1), flags = (unsigned)((uintptr_t)what >> kEventBits);
  record(event, qemu_plugin_mem_size_shift(access) | kAtomicAccess | flags, address);
  record_order();
}

static void on_compare_exchange(unsigned cpu, uint32_t access, uint64_t address, void* outcome) {
  (void)cpu;
  if (!is_followed_atomic(access)) return;
  remember_atomic(address);
  compared_and_exchanged(qemu_plugin_mem_size_shift(access) | kAtomicAccess, address, outcome);
  record_order();
}

static void on_fence(unsigned cpu, void* data) {
  (void)cpu, (void)data;
  if (!is_followed()) return;
  record_order_of_work();
  record(kFence, 0, 0);
  record_order();
}

// True between a call or return instruction and its own stack access. In QEMU 7.2 the callbacks of a call or return stay in
// force for later accesses that have none, such as QEMU's own writes of a signal frame. The callbacks ignore such accesses by
// this flag.
THREAD_LOCAL bool calls_or_returns;

static void before_call_or_return(unsigned cpu, void* data) {
  (void)cpu, (void)data;
  calls_or_returns = true;
}

static void on_call_in_runtime(unsigned cpu, uint32_t access, uint64_t stack, void* return_address) {
  (void)cpu;
  if (!calls_or_returns || !qemu_plugin_mem_is_store(access)) return;
  calls_or_returns = false;
  if (is_followed()) called(stack, (uintptr_t)return_address);
}

// A call through a pointer in memory also reads that pointer.
static void on_call(unsigned cpu, uint32_t access, uint64_t stack, void* return_address) {
  if (calls_or_returns) on_access(cpu, access, stack, NULL);
  on_call_in_runtime(cpu, access, stack, return_address);
}

static void on_return_elsewhere(unsigned cpu, uint32_t access, uint64_t stack, void* data) {
  (void)cpu, (void)access, (void)data;
  if (calls_or_returns) returned(stack);
  calls_or_returns = false;
}

static void on_return(unsigned cpu, uint32_t access, uint64_t stack, void* data) {
  if (calls_or_returns) on_access(cpu, access, stack, NULL);
  on_return_elsewhere(cpu, access, stack, data);
}

static void on_nothing(unsigned cpu, uint32_t access, uint64_t address, void* data) {
  (void)cpu, (void)access, (void)address, (void)data;
}

// A block's address, with the number of its instructions above it. A block counts as a whole when it is entered: the few that
// a signal or an exception cuts short are counted too high.
static uint64_t address_of(const void* block) { return (uintptr_t)block & EVENT_VALUE_MASK; }
static unsigned instructions_of(const void* block) { return (unsigned)((uintptr_t)block >> kValueBits); }

static void on_block(unsigned cpu, void* block) {
  (void)cpu;
  if (is_followed()) {
    came_to(address_of(block));
    executed(instructions_of(block));
  } else if (is_allocating()) {
    executed(instructions_of(block));
  }
}

static void on_linkage(unsigned cpu, void* block) {
  (void)cpu;
  if (!is_followed()) return;
  came_through(address_of(block));
  executed(instructions_of(block));
}

// The loader's code that binds functions when they are first called.
static void on_loader(unsigned cpu, void* block) {
  (void)cpu;
  if (is_followed()) executed(instructions_of(block));
}

static void on_runtime_function(unsigned cpu, void* data) {
  (void)cpu, (void)data;
  if (is_followed()) came_to_runtime();
}

// Returns a copy that is never freed, because QEMU does not say when it discards a block.
static void* kept_outcome(const Block* block, size_t number) {
  static struct Outcome unknown;
  struct Outcome* kept = malloc(sizeof(struct Outcome));
  if (kept == NULL) return &unknown;
  *kept = outcome_of(block, number);
  return kept;
}

static unsigned flags_of_atomic(const Block* block, size_t number, struct InstructionFacts facts) {
  if (facts.event != kFetchAdd || (facts.detail & kResultUsedAccess) != 0) return facts.detail;
  return facts.detail | (flags_are_read(block, number) ? kResultUsedAccess : kResultUnusedAccess);
}

static void follow_atomic(const Block* block, size_t number, struct InstructionFacts facts) {
  Instruction* instruction = qemu_plugin_tb_get_insn(block, number);
  qemu_plugin_register_vcpu_insn_exec_cb(instruction, before_atomic, kNoRegisters, NULL);
  if (facts.event == kCompareExchange) {
    qemu_plugin_register_vcpu_mem_cb(instruction, on_compare_exchange, kNoRegisters, kReadsOrWrites,
                                     kept_outcome(block, number));
  } else {
    const uintptr_t what = facts.event | (uintptr_t)flags_of_atomic(block, number, facts) << kEventBits;
    qemu_plugin_register_vcpu_mem_cb(instruction, on_atomic, kNoRegisters, kReadsOrWrites, (void*)what);
  }
}

static void follow_branch(Instruction* instruction, OnAccess* callback) {
  const uint64_t next = qemu_plugin_insn_vaddr(instruction) + qemu_plugin_insn_size(instruction);
  qemu_plugin_register_vcpu_insn_exec_cb(instruction, before_call_or_return, kNoRegisters, NULL);
  qemu_plugin_register_vcpu_mem_cb(instruction, callback, kNoRegisters, kReadsOrWrites, (void*)(uintptr_t)next);
}

static void follow_in_program(const Block* block, size_t number, struct InstructionFacts facts) {
  Instruction* instruction = qemu_plugin_tb_get_insn(block, number);
  switch (facts.kind) {
    case kAtomic: follow_atomic(block, number, facts); break;
    case kStoring: {
      uint8_t* releasing = releases(qemu_plugin_insn_vaddr(instruction));
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, before_store, kNoRegisters, releasing);
      qemu_plugin_register_vcpu_mem_cb(instruction, on_store, kNoRegisters, kReadsOrWrites, releasing);
      break;
    }
    case kFenceInstruction:
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_fence, kNoRegisters, NULL);
      qemu_plugin_register_vcpu_mem_cb(instruction, on_nothing, kNoRegisters, kReadsOrWrites, NULL);
      break;
    case kCall: follow_branch(instruction, on_call); break;
    case kReturn: follow_branch(instruction, on_return); break;
    default: qemu_plugin_register_vcpu_mem_cb(instruction, on_access, kNoRegisters, kReadsOrWrites, NULL);
  }
}

// In code of the loader or runtime, only two things matter: returns, and the runtime's calls of program functions, such as a
// thread's start function. Every other instruction gets an empty callback, because QEMU would otherwise keep using the previous
// call's or return's callback.
static void follow_elsewhere(Instruction* instruction, enum InstructionKind kind, enum CodeOwner owner) {
  if (kind == kReturn) {
    follow_branch(instruction, on_return_elsewhere);
  } else if (kind == kCall && owner == kRuntime) {
    follow_branch(instruction, on_call_in_runtime);
  } else {
    qemu_plugin_register_vcpu_mem_cb(instruction, on_nothing, kNoRegisters, kReadsOrWrites, NULL);
  }
}

static struct InstructionFacts facts_in(const Block* block, size_t number) {
  const Instruction* instruction = qemu_plugin_tb_get_insn(block, number);
  return facts_of(qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction));
}

// Whether the block is code of the procedure linkage table. Its stub jumps to the function; the first time, before the loader
// has bound the function, to code that pushes the function's number and jumps to the loader.
static bool is_linkage(const Block* block) {
  const size_t instructions = qemu_plugin_tb_n_insns(block);
  const size_t first = facts_in(block, 0).kind == kBranchTarget && instructions > 1 ? 1 : 0;
  const enum InstructionKind begin = facts_in(block, first).kind, end = facts_in(block, instructions - 1).kind;
  return begin == kLinkageJump || (begin == kLinkagePush && (end == kJump || end == kLinkageJump));
}

static void follow_block(Block* block, enum CodeOwner owner) {
  void* what = (void*)(uintptr_t)(qemu_plugin_tb_vaddr(block) | (uint64_t)qemu_plugin_tb_n_insns(block) << kValueBits);
  if (owner == kProgram)
    qemu_plugin_register_vcpu_tb_exec_cb(block, is_linkage(block) ? on_linkage : on_block, kNoRegisters, what);
  if (owner == kLoader) qemu_plugin_register_vcpu_tb_exec_cb(block, on_loader, kNoRegisters, what);
  if (owner == kRuntime && facts_in(block, 0).kind == kBranchTarget)
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_runtime_function, kNoRegisters, NULL);
}

static void on_translation(PluginId id, Block* block) {
  (void)id;
  const enum CodeOwner owner = owner_of(qemu_plugin_tb_vaddr(block));
  follow_block(block, owner);
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    const struct InstructionFacts facts = facts_in(block, i);
    if (owner == kProgram) {
      follow_in_program(block, i, facts);
    } else {
      follow_elsewhere(qemu_plugin_tb_get_insn(block, i), facts.kind, owner);
    }
  }
}

static void on_system_call(PluginId id, unsigned cpu, int64_t number, uint64_t first, uint64_t second, uint64_t a3, uint64_t a4,
                           uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)cpu, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
  if (number == ANNOUNCE_THREAD) follow((struct Thread*)(uintptr_t)first, (struct Channel*)(uintptr_t)second);
  if (number == ANNOUNCE_CALLBACK) called_back((uint64_t*)(uintptr_t)first, second != 0);
  calls_system(number);
}

// After a fork, the child stops recording, because it would write into its parent's rings. A new thread never gets here: it
// does not return from the system call.
static void on_system_call_result(PluginId id, unsigned cpu, int64_t number, int64_t result) {
  (void)id, (void)cpu;
  system_has_returned();
  const bool forks = number == SYS_clone || number == SYS_clone3 || number == SYS_fork || number == SYS_vfork;
  if (forks && result == 0) follow_no_more();
}

EXPORTED extern int qemu_plugin_version;
int qemu_plugin_version = kPluginVersion;

EXPORTED int qemu_plugin_install(PluginId id, const void* about, int count, char** arguments);
int qemu_plugin_install(PluginId id, const void* about, int count, char** arguments) {
  (void)about, (void)count, (void)arguments;
  if (!start_decoder()) return -1;  // QEMU then ends before the program has begun
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
  qemu_plugin_register_vcpu_syscall_ret_cb(id, on_system_call_result);
  return 0;
}
