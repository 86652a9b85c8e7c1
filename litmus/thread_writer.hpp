// Writes a thread's instructions, for the readers of assembly languages.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "litmus/program.hpp"
#include "litmus/read_test.hpp"

namespace linebounce::sim::litmus {

// An operation by its name in an instruction.
struct NamedOp {
  std::string_view name;
  Expression::Op op;
};
template <class Table>
const NamedOp* find_op(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &NamedOp::name);
  return found == table.end() ? nullptr : &*found;
}

class ThreadWriter {
 public:
  explicit ThreadWriter(Thread& thread) : thread_(&thread) {}

  // Writes what `read(text)` makes of each cell. Errors: those of refuse_line(), for what `read` throws as
  // std::invalid_argument, and for a label that is missing.
  template <class Read>
  void write(const std::vector<Cell>& cells, const Read& read) {
    try {
      for (const Cell& cell : cells) {
        line_ = cell.line;
        read(cell.text);
      }
      finish();
    } catch (const std::invalid_argument& problem) {
      refuse_line(line_, problem.what());
    }
  }

  int reg(std::string_view name) { return thread_->reg(name); }
  // A register that no instruction of the test can name.
  int hidden(std::string_view name) { return thread_->reg(std::string(".") + std::string(name)); }

  Instruction& add(Instruction one) {
    one.line = line_;
    thread_->instructions.push_back(std::move(one));
    return thread_->instructions.back();
  }
  void assign(int target, Expr value) { add({.kind = Instruction::Kind::assign, .target = target, .value = std::move(value)}); }
  void fence(Tags tags) { add({.kind = Instruction::Kind::fence, .tags = tags}); }

  void label(const std::string& name) {
    if (!labels_.emplace(name, thread_->instructions.size()).second)
      throw std::invalid_argument(fmt::format("the label {} is there twice", name));
  }
  // Jumps if the condition is not 0.
  void jump(Expr condition, const std::string& label) {
    jumps_.push_back({thread_->instructions.size(), label, line_});
    add({.kind = Instruction::Kind::branch, .condition = std::move(condition)});
  }

 private:
  // Resolves the labels.
  void finish() {
    for (const auto& [instruction, label, at] : jumps_) {
      line_ = at;
      const auto found = labels_.find(label);
      if (found == labels_.end()) throw std::invalid_argument(fmt::format("there is no label {}", label));
      thread_->instructions[instruction].to = static_cast<int>(found->second);
    }
  }

  Thread* thread_;
  int line_ = 0;
  std::map<std::string, std::size_t> labels_;
  struct Jump {
    std::size_t instruction;
    std::string label;
    int line;
  };
  std::vector<Jump> jumps_;
};

}  // namespace linebounce::sim::litmus
