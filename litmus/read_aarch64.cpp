// Instructions of AArch64. W and X registers are one: a test's variables have one width.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "forms/line_file.hpp"
#include "litmus/read_test.hpp"
#include "litmus/scanner.hpp"
#include "litmus/thread_writer.hpp"
#include "models/text/visible.hpp"

namespace linebounce::sim::litmus {

std::string aarch64_register(std::string_view text) {
  const std::string name = upper_case(text);
  if (name == "WZR" || name == "XZR") return "XZR";
  if (name.size() < 2 || (name[0] != 'W' && name[0] != 'X')) return "";
  const auto number = decimal(std::string_view(name).substr(1));
  return number && *number <= 30 ? fmt::format("X{}", *number) : "";
}

namespace {

using Op = Expression::Op;
using Kind = Instruction::Kind;
using Words = std::vector<std::string>;

constexpr std::array<NamedOp, 8> kArmArithmetic = {{{"ADD", Op::add},
                                                    {"SUB", Op::subtract},
                                                    {"AND", Op::bit_and},
                                                    {"ORR", Op::bit_or},
                                                    {"EOR", Op::bit_xor},
                                                    {"LSL", Op::shift_left},
                                                    {"LSR", Op::shift_right},
                                                    {"MUL", Op::multiply}}};
constexpr std::array<NamedOp, 6> kArmFlagSetting = {{{"SUBS", Op::subtract},
                                                     {"ANDS", Op::bit_and},
                                                     {"CMP", Op::subtract},
                                                     {"CMN", Op::add},
                                                     {"TST", Op::bit_and},
                                                     {"ADDS", Op::add}}};
constexpr std::array<NamedOp, 6> kArmConditions = {{{"EQ", Op::equal},
                                                    {"NE", Op::unequal},
                                                    {"LT", Op::less},
                                                    {"LE", Op::less_equal},
                                                    {"GT", Op::greater},
                                                    {"GE", Op::greater_equal}}};
// LDADD and ST(ADD) and their kin: what the atomic instruction stores.
constexpr std::array<NamedOp, 3> kArmAtomics = {{{"ADD", Op::add}, {"EOR", Op::bit_xor}, {"SET", Op::bit_or}}};

class AArch64 {
 public:
  AArch64(Program& program, Thread& thread) : program_(program), out_(thread) {}

  void read(const std::vector<Cell>& cells) {
    out_.write(cells, [this](std::string_view text) { cell_text(text); });
  }

 private:
  void cell_text(std::string_view text) {
    if (const std::size_t colon = text.find(':'); colon != text.npos) {
      out_.label(std::string(trimmed(text.substr(0, colon))));
      text = trimmed(text.substr(colon + 1));
    }
    if (text.empty()) return;
    const std::string name = upper_case(take_word(text));
    Words operands = text.empty() ? Words() : split_outside_brackets(text, ',');
    if (!barrier(name, operands) && !branch(name, operands) && !arithmetic(name, operands) && !access(name, operands) &&
        !atomic(name, operands) && name != "NOP")
      unknown(name);
  }

  [[noreturn]] static void unknown(const std::string& name) {
    throw std::invalid_argument(
        fmt::format("{} has no counterpart here: known are MOV, arithmetic, CMP, CSEL, branches, LDR, LDAR, LDAPR, STR, STLR, "
                    "LDXR, STXR and "
                    "their kin, CAS, SWP, LDADD and their kin, DMB, DSB and ISB",
                    visible_name(name)));
  }

  // ---- Operands ----

  int reg(std::string_view text) {
    const std::string name = aarch64_register(text);
    if (name.empty()) throw std::invalid_argument(fmt::format("{} is no register", visible_name(text)));
    return out_.reg(name);
  }
  static bool is_zero_register(std::string_view text) { return aarch64_register(text) == "XZR"; }
  // What an instruction writes to the zero register is lost.
  int target(std::string_view text) { return is_zero_register(text) ? -1 : reg(text); }

  Expr value(std::string_view text) {
    if (text.starts_with('#')) text.remove_prefix(1);
    if (const auto number = whole_text_number(text)) return number_expr(*number);
    if (is_zero_register(text)) return number_expr(0);
    return register_expr(reg(text));
  }

  // "[X1]", "[X1,#0]", "[X1,W3,SXTW]", "[X1,X3]"
  Expr address(std::string_view text) {
    if (text.size() < 3 || text.front() != '[' || text.back() != ']')
      throw std::invalid_argument(fmt::format("{} is no place: expected [REGISTER]", visible_name(text)));
    const Words parts = split_outside_brackets(text.substr(1, text.size() - 2), ',');
    Expr place = is_variable(parts[0]) ? number_expr(address_of(program_.variable(parts[0]))) : register_expr(reg(parts[0]));
    if (parts.size() > 3 || (parts.size() == 3 && !is_extension(parts[2])))
      throw std::invalid_argument(fmt::format("{} is no place: expected [REGISTER, OFFSET, SXTW]", visible_name(text)));
    if (parts.size() == 1) return place;
    Expr offset = value(parts[1]);
    if (offset->op == Op::number && offset->number != 0)
      throw std::invalid_argument(
          fmt::format("{}: a part of a variable, or an array, has no counterpart here", visible_name(text)));
    return binary_expr(Op::add, std::move(place), std::move(offset));
  }
  static bool is_variable(const std::string& text) {
    return aarch64_register(text).empty() && !text.empty() && text.front() >= 'a' && text.front() <= 'z';
  }
  static bool is_extension(std::string_view text) {
    const std::string upper = upper_case(text);
    return upper == "SXTW" || upper == "UXTW" || upper == "LSL #0" || upper == "SXTX" || upper == "SXTW #0";
  }

  static void expect(const Words& operands, std::size_t least, std::size_t most) {
    if (operands.size() < least || operands.size() > most)
      throw std::invalid_argument(fmt::format("expected {} operands, found {}", least, operands.size()));
  }

  // ---- Barriers and branches ----

  bool barrier(const std::string& name, const Words& operands) {
    if (name == "ISB") {
      out_.fence(tag(Tag::instruction_fence));
      return true;
    }
    if (name != "DMB" && name != "DSB") return false;
    expect(operands, 1, 1);
    std::string domain = upper_case(operands[0]);
    Tag kind = Tag::full_fence;
    if (domain.ends_with("LD")) kind = Tag::load_fence;
    if (domain.ends_with("ST")) kind = Tag::store_fence;
    if (kind != Tag::full_fence) domain.resize(domain.size() - 2);
    if (domain != "ISH" && domain != "OSH" && domain != "NSH" && domain != (kind == Tag::full_fence ? "SY" : ""))
      throw std::invalid_argument("known barriers are SY, ISH, OSH and NSH, and these with LD and ST");
    out_.fence(tag(kind) | (name == "DSB" ? tag(Tag::completes) : 0));
    return true;
  }

  Expr flags_are(std::string_view condition) {
    const NamedOp* const found = find_op(kArmConditions, upper_case(condition));
    if (found == nullptr)
      throw std::invalid_argument(fmt::format("the condition {} has no counterpart here", visible_name(condition)));
    return binary_expr(found->op, register_expr(out_.hidden("flags")), number_expr(0));
  }

  bool branch(const std::string& name, const Words& operands) {
    if (name == "B") {
      expect(operands, 1, 1);
      out_.jump(number_expr(1), operands[0]);
    } else if (name.starts_with("B.") ||
               (name.size() == 3 && find_op(kArmConditions, std::string_view(name).substr(1)) && name[0] == 'B')) {
      expect(operands, 1, 1);
      out_.jump(flags_are(std::string_view(name).substr(name[1] == '.' ? 2 : 1)), operands[0]);
    } else if (name == "CBZ" || name == "CBNZ") {
      expect(operands, 2, 2);
      out_.jump(binary_expr(name == "CBZ" ? Op::equal : Op::unequal, value(operands[0]), number_expr(0)), operands[1]);
    } else {
      return false;
    }
    return true;
  }

  // ---- Registers alone ----

  bool arithmetic(const std::string& name, Words operands) {
    if (name == "MOV") {
      expect(operands, 2, 2);
      out_.assign(reg(operands[0]), value(operands[1]));
      return true;
    }
    if (name == "MVN" || name == "NEG") {
      expect(operands, 2, 2);
      out_.assign(reg(operands[0]), unary_expr(name == "NEG" ? Op::negate : Op::invert, value(operands[1])));
      return true;
    }
    if (name == "CSEL" || name == "CSET") return chooses(name, operands);
    if (const NamedOp* const found = find_op(kArmFlagSetting, name)) {
      const bool keeps_result = name.ends_with('S');
      const std::size_t first = keeps_result ? 1 : 0;
      expect(operands, first + 2, first + 2);
      const Expr result = binary_expr(found->op, value(operands[first]), value(operands[first + 1]));
      out_.assign(out_.hidden("flags"), result);
      if (keeps_result && target(operands[0]) >= 0) out_.assign(target(operands[0]), register_expr(out_.hidden("flags")));
      return true;
    }
    const NamedOp* const found = find_op(kArmArithmetic, name);
    if (found == nullptr) return false;
    // "ADD W1,W2,W3,SXTW"
    if (operands.size() == 4 && is_extension(operands[3])) operands.pop_back();
    expect(operands, 3, 3);
    out_.assign(reg(operands[0]), binary_expr(found->op, value(operands[1]), value(operands[2])));
    return true;
  }

  bool chooses(const std::string& name, const Words& operands) {
    const bool is_set = name == "CSET";
    expect(operands, is_set ? 2 : 4, is_set ? 2 : 4);
    Instruction one{.kind = Instruction::Kind::choose, .target = reg(operands[0])};
    one.value = is_set ? number_expr(1) : value(operands[1]);
    one.other = is_set ? number_expr(0) : value(operands[2]);
    one.condition = flags_are(operands.back());
    out_.add(std::move(one));
    return true;
  }

  // ---- Loads and stores ----

  bool access(const std::string& name, const Words& operands) {
    struct Access {
      std::string_view name;
      Instruction::Kind kind;
      Tags tags;
    };
    static constexpr std::array<Access, 12> kAccesses = {{{"LDR", Kind::load, 0},
                                                          {"LDUR", Kind::load, 0},
                                                          {"LDAR", Kind::load, tag(Tag::acquire)},
                                                          {"LDAPR", Kind::load, tag(Tag::acquire_pc)},
                                                          {"LDAPUR", Kind::load, tag(Tag::acquire_pc)},
                                                          {"LDXR", Kind::load_exclusive, 0},
                                                          {"LDAXR", Kind::load_exclusive, tag(Tag::acquire)},
                                                          {"STR", Kind::store, 0},
                                                          {"STUR", Kind::store, 0},
                                                          {"STLR", Kind::store, tag(Tag::release)},
                                                          {"STXR", Kind::store_exclusive, 0},
                                                          {"STLXR", Kind::store_exclusive, tag(Tag::release)}}};
    const auto found = std::ranges::find(kAccesses, name, &Access::name);
    if (found == kAccesses.end()) return false;
    const std::size_t status = found->kind == Kind::store_exclusive ? 1 : 0;
    expect(operands, status + 2, status + 3);
    Instruction one{.kind = found->kind, .address = address(operands[status + 1]), .tags = found->tags};
    if (found->kind == Kind::load || found->kind == Kind::load_exclusive) {
      one.target = target(operands[0]);
    } else {
      one.value = value(operands[status]);
    }
    if (status == 1) one.target = target(operands[0]);
    out_.add(std::move(one));
    if (operands.size() == status + 3) move_base(operands[status + 1], operands[status + 2]);
    return true;
  }

  // "STR W2,[X3],#4" moves X3 after the access.
  void move_base(std::string_view place, std::string_view step) {
    const int base = reg(place.substr(1, place.size() - 2));
    out_.assign(base, binary_expr(Op::add, register_expr(base), value(step)));
  }

  // ---- Atomic instructions ----

  // CAS, SWP, LDADD, STADD ..., with A, L or AL behind the name.
  bool atomic(const std::string& name, const Words& operands) {
    std::string_view stem;
    for (const std::string_view known :
         {"CAS", "SWP", "LDADD", "LDEOR", "LDSET", "LDCLR", "STADD", "STEOR", "STSET", "STCLR"}) {
      if (name.starts_with(known)) stem = known;
    }
    if (stem.empty()) return false;
    const std::string order = name.substr(stem.size());
    if (order != "" && order != "A" && order != "L" && order != "AL") return false;
    const bool acquires = order.starts_with('A'), releases = order.ends_with('L');
    const bool returns_nothing = stem.starts_with("ST");
    expect(operands, returns_nothing ? 2 : 3, returns_nothing ? 2 : 3);
    const bool is_compared = stem == "CAS";
    const std::string& result = returns_nothing ? "WZR" : operands[is_compared ? 0 : 1];
    const bool is_lost = returns_nothing || is_zero_register(result);
    const int old = out_.hidden("old");
    Instruction one{.kind = Instruction::Kind::update, .target = old, .address = address(operands.back())};
    one.value = stored(stem, register_expr(old), value(operands[is_compared ? 1 : 0]));
    one.tags = is_lost ? tag(Tag::no_return) : acquires ? tag(Tag::acquire) : 0;
    one.failed_tags = one.tags;
    one.store_tags = releases ? tag(Tag::release) : 0;
    if (is_compared) {
      one.expected = value(operands[0]);
      one.keeps_expected = !is_lost;
    }
    out_.add(std::move(one));
    if (!is_lost) out_.assign(reg(result), register_expr(old));
    return true;
  }

  static Expr stored(std::string_view stem, Expr old, Expr operand) {
    if (stem == "CAS" || stem == "SWP") return operand;
    if (stem.ends_with("CLR")) return binary_expr(Op::bit_and, std::move(old), unary_expr(Op::invert, std::move(operand)));
    return binary_expr(find_op(kArmAtomics, stem.substr(2))->op, std::move(old), std::move(operand));
  }

  Program& program_;
  ThreadWriter out_;
};

}  // namespace

void read_aarch64_thread(Program& program, std::size_t thread, const std::vector<Cell>& cells) {
  AArch64(program, program.threads[thread]).read(cells);
}

}  // namespace linebounce::sim::litmus
