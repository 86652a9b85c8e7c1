#include "record/collector/result_use.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include "record/collector/shared_channel.hpp"

namespace linebounce::record {
namespace {

constexpr std::size_t kMostSteps = 200;

bool is_result(std::uint16_t reg) {
  return reg == X86_REG_RAX || reg == X86_REG_EAX || reg == X86_REG_AX || reg == X86_REG_AL || reg == X86_REG_AH;
}

enum class Does { nothing, reads, overwrites };

// Whether the instruction clears the register by `xor` or `sub` with itself, which does not use the old value.
bool clears_result(const cs_insn& it) {
  const cs_x86& x86 = it.detail->x86;
  const bool clears = it.id == X86_INS_XOR || it.id == X86_INS_SUB;
  return clears && x86.op_count == 2 && x86.operands[0].type == X86_OP_REG && x86.operands[1].type == X86_OP_REG &&
         x86.operands[0].reg == x86.operands[1].reg && is_result(x86.operands[0].reg);
}

Does what_it_does(csh decoder, const cs_insn& it) {
  if (it.id == X86_INS_NOP) return Does::nothing;  // padding; its operands are not real reads
  if (clears_result(it)) return Does::overwrites;
  cs_regs read, written;
  std::uint8_t reads = 0, writes = 0;
  if (cs_regs_access(decoder, &it, read, &reads, written, &writes) != CS_ERR_OK) return Does::reads;
  if (std::any_of(read, read + reads, is_result)) return Does::reads;
  const bool whole = std::any_of(written, written + writes, [](auto reg) { return reg == X86_REG_RAX || reg == X86_REG_EAX; });
  return whole ? Does::overwrites : Does::nothing;
}

bool is_of_group(const cs_insn& it, unsigned group) {
  const cs_detail& detail = *it.detail;
  return std::find(detail.groups, detail.groups + detail.groups_count, group) != detail.groups + detail.groups_count;
}

}  // namespace

ResultUse::~ResultUse() {
  if (decoder_ != 0) cs_close(&decoder_);
}

bool ResultUse::is_used(std::uint64_t return_address) {
  const auto [entry, is_new] = known_.try_emplace(return_address, true);
  if (!is_new) return entry->second;
  if (decoder_ == 0) {
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder_) != CS_ERR_OK)
      throw RecordError("the disassembler (capstone) does not start");
    cs_option(decoder_, CS_OPT_DETAIL, CS_OPT_ON);
  }
  std::set<std::uint64_t> seen;
  return entry->second = may_read(return_address, seen);
}

bool ResultUse::may_read(std::uint64_t address, std::set<std::uint64_t>& seen) {
  const std::span<const std::uint8_t> code = image_->code(address);
  const std::uint8_t* next = code.data();
  std::size_t left = code.size();
  const auto free_one = [](cs_insn* it) { cs_free(it, 1); };
  const std::unique_ptr<cs_insn, decltype(free_one)> it(cs_malloc(decoder_), free_one);
  while (seen.size() < kMostSteps) {
    if (!seen.insert(address).second) return false;  // a loop
    if (!cs_disasm_iter(decoder_, &next, &left, &address, it.get())) return true;
    const Does does = what_it_does(decoder_, *it);
    if (does != Does::nothing) return does == Does::reads;
    if (is_of_group(*it, CS_GRP_CALL)) return false;  // a called function may overwrite rax, so the result is lost
    if (is_of_group(*it, CS_GRP_RET) || is_of_group(*it, CS_GRP_INT)) return true;
    if (!is_of_group(*it, CS_GRP_JUMP)) continue;
    const cs_x86_op& target = it->detail->x86.operands[0];
    if (target.type != X86_OP_IMM) return true;
    const auto there = static_cast<std::uint64_t>(target.imm);
    if (it->id == X86_INS_JMP) return may_read(there, seen);
    if (may_read(there, seen)) return true;
  }
  return true;
}

}  // namespace linebounce::record
