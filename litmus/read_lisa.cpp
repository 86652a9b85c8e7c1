// LISA, the language of herd's generic litmus tests: "r[acquire] r1 x", "w[once] x 1", "f[mb]". The words in brackets are names
// of the Linux kernel's primitives.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "forms/line_file.hpp"
#include "litmus/read_test.hpp"
#include "litmus/scanner.hpp"
#include "litmus/thread_writer.hpp"
#include "models/text/visible.hpp"

namespace linebounce::sim::litmus {
namespace {

using Op = Expression::Op;

class Lisa {
 public:
  Lisa(Program& program, Thread& thread) : program_(program), out_(thread) {}

  void read(const std::vector<Cell>& cells) {
    out_.write(cells, [this](std::string_view text) { instruction(text); });
  }

 private:
  [[noreturn]] static void unknown() {
    throw std::invalid_argument(
        "has no counterpart here: known are r[], w[], b[], mov, and f[] with mb, rmb, wmb, rb_dep, rcu_read_lock, "
        "rcu_read_unlock and "
        "sync; once, acquire, release, deref, lderef and assign in the brackets of r and w");
  }

  void instruction(std::string_view text) {
    if (text.ends_with(':')) return out_.label(std::string(trimmed(text.substr(0, text.size() - 1))));
    Scanner scanner(text);
    const std::string name(scanner.name());
    std::string order;
    if (scanner.taken("[")) {
      order = scanner.name();
      scanner.expect("]");
    }
    if (name == "r") {
      const int target = reg(scanner);
      out_.add({.kind = Instruction::Kind::load, .target = target, .address = place(scanner), .tags = load_tags(order)});
    } else if (name == "w") {
      const Expr address = place(scanner);
      out_.add({.kind = Instruction::Kind::store, .address = address, .value = value(scanner), .tags = store_tags(order)});
    } else if (name == "f") {
      fence(order);
    } else if (name == "mov") {
      const int target = reg(scanner);
      out_.assign(target, value(scanner));
    } else if (name == "b") {
      const Expr condition = value(scanner);
      out_.jump(condition, std::string(scanner.name()));
    } else {
      unknown();
    }
    if (!scanner.at_end()) scanner.wanted("the end of the instruction");
  }

  static Tags load_tags(const std::string& order) {
    if (order == "acquire") return tag(Tag::acquire);
    if (order == "" || order == "once" || order == "deref" || order == "lderef") return tag(Tag::once);
    unknown();
  }
  static Tags store_tags(const std::string& order) {
    if (order == "release" || order == "assign") return tag(Tag::release);
    if (order == "" || order == "once") return tag(Tag::once);
    unknown();
  }

  void fence(const std::string& order) {
    struct NamedFence {
      std::string_view name;
      Tag kind;
    };
    static constexpr std::array<NamedFence, 6> kFences = {{{"mb", Tag::full_fence},
                                                           {"rmb", Tag::load_fence},
                                                           {"wmb", Tag::store_fence},
                                                           {"rcu_read_lock", Tag::rcu_lock},
                                                           {"rcu_read_unlock", Tag::rcu_unlock},
                                                           {"sync", Tag::rcu_grace}}};
    if (order == "rb_dep") return;  // orders nothing that a dependency does not order anyway
    const auto found = std::ranges::find(kFences, order, &NamedFence::name);
    if (found == kFences.end()) unknown();
    out_.fence(tag(found->kind));
  }

  int reg(Scanner& scanner) {
    const std::string_view name = scanner.name();
    if (name.empty()) scanner.wanted("a register");
    return out_.reg(name);
  }

  static bool is_register(std::string_view name) {
    return name.size() > 1 && name.front() == 'r' && decimal(name.substr(1)).has_value();
  }

  Expr named(std::string_view name) {
    if (is_register(name)) return register_expr(out_.reg(name));
    return number_expr(address_of(program_.variable(name)));
  }

  Expr place(Scanner& scanner) {
    const std::string_view name = scanner.name();
    if (name.empty()) scanner.wanted("a variable, or a register that holds its address");
    Expr base = named(name);
    // "x+r2": a dependency that changes nothing
    return scanner.taken("+") ? binary_expr(Op::add, std::move(base), value(scanner)) : base;
  }

  // "1", "r1", "x" or "(eq r1 0)"
  Expr value(Scanner& scanner) {
    if (scanner.taken("(")) {
      const std::string_view name = scanner.name();
      static constexpr std::array<NamedOp, 7> kOps = {{{"eq", Op::equal},
                                                       {"neq", Op::unequal},
                                                       {"add", Op::add},
                                                       {"sub", Op::subtract},
                                                       {"xor", Op::bit_xor},
                                                       {"and", Op::bit_and},
                                                       {"or", Op::bit_or}}};
      const NamedOp* const found = find_op(kOps, name);
      if (found == nullptr) throw std::invalid_argument(fmt::format("{} has no counterpart here", visible_name(name)));
      constexpr int kDeepest = 64;
      if (++depth_ > kDeepest) throw std::invalid_argument("nested too deeply");
      Expr left = value(scanner);
      Expr right = value(scanner);
      --depth_;
      scanner.expect(")");
      return binary_expr(found->op, std::move(left), std::move(right));
    }
    if (const auto number = scanner.number()) return number_expr(*number);
    const std::string_view name = scanner.name();
    if (name.empty()) scanner.wanted("a number or a register");
    return named(name);
  }

  Program& program_;
  ThreadWriter out_;
  int depth_ = 0;  // of brackets
};

}  // namespace

void read_lisa_thread(Program& program, std::size_t thread, const std::vector<Cell>& cells) {
  Lisa(program, program.threads[thread]).read(cells);
}

}  // namespace linebounce::sim::litmus
