// The part of version 1 of QEMU's plugin interface that we use. Debian ships no header for it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t PluginId;
typedef struct qemu_plugin_tb Block;          // a translated sequence of instructions with one entry, its first
typedef struct qemu_plugin_insn Instruction;  // valid only while its block is being translated

enum { kPluginVersion = 1 };
enum Registers { kNoRegisters };
enum Direction { kReadsOrWrites = 3 };  // QEMU 7.2 ignores a request for only reads or only writes

typedef void OnTranslation(PluginId, Block*);
typedef void OnExecution(unsigned cpu, void* data);
typedef void OnAccess(unsigned cpu, uint32_t access, uint64_t address, void* data);  // called after the access
typedef void OnSystemCall(PluginId, unsigned cpu, int64_t number, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                          uint64_t, uint64_t);
typedef void OnSystemCallResult(PluginId, unsigned cpu, int64_t number, int64_t result);

void qemu_plugin_register_vcpu_tb_trans_cb(PluginId, OnTranslation*);
void qemu_plugin_register_vcpu_tb_exec_cb(Block*, OnExecution*, enum Registers, void* data);
void qemu_plugin_register_vcpu_insn_exec_cb(Instruction*, OnExecution*, enum Registers, void* data);
void qemu_plugin_register_vcpu_mem_cb(Instruction*, OnAccess*, enum Registers, enum Direction, void* data);
void qemu_plugin_register_vcpu_syscall_cb(PluginId, OnSystemCall*);
void qemu_plugin_register_vcpu_syscall_ret_cb(PluginId, OnSystemCallResult*);

size_t qemu_plugin_tb_n_insns(const Block*);
uint64_t qemu_plugin_tb_vaddr(const Block*);
Instruction* qemu_plugin_tb_get_insn(const Block*, size_t number);
const void* qemu_plugin_insn_data(const Instruction*);
size_t qemu_plugin_insn_size(const Instruction*);
uint64_t qemu_plugin_insn_vaddr(const Instruction*);
unsigned qemu_plugin_mem_size_shift(uint32_t access);
bool qemu_plugin_mem_is_store(uint32_t access);
