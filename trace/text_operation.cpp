#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "trace/operation.hpp"
#include "trace/symbol_json.hpp"
#include "trace/text_names.hpp"

namespace linebounce::trace {
namespace {

// Reads an operation: its kind and what follows.
class OperationReader {
 public:
  OperationReader(const Symbols& symbols, const TextNames& names, Scanner& line)
      : symbols_(symbols), names_(names), line_(line) {}

  Operation read() {
    const std::string name = word("the kind of the operation");
    const auto kind = std::find_if(kKindFacts.begin() + 1, kKindFacts.end(), [&](const auto& it) { return it.name == name; });
    if (kind == kKindFacts.end()) {
      std::vector<std::string_view> legal;
      for (const KindFacts& facts : kKindFacts) legal.push_back(facts.name);
      legal.erase(legal.begin());
      throw FormatError(fmt::format("no operation is called {:?}; legal: {}", name, fmt::join(legal, ", ")));
    }
    Operation operation;
    operation.kind = static_cast<Kind>(kind - kKindFacts.begin());
    read_operands(operation, *kind);
    while (!line_.at_end()) read_extra(operation);
    return operation;
  }

 private:
  void expect(std::string_view what) {
    if (line_.at_end()) throw FormatError(fmt::format("{} is missing", what));
  }
  std::string word(std::string_view what) {
    expect(what);
    return line_.name(kNameMarks);
  }
  template <class T>
  T number(std::string_view what) {
    expect(what);
    return line_.number_of<T>(what);
  }

  void read_operands(Operation& it, const KindFacts& facts) {
    if (it.is_memory()) {
      expect("the place in memory");
      std::tie(it.id, it.argument) = names_.read_place(symbols_, line_);
      it.bytes = number<std::uint8_t>("the number of bytes");
      return;
    }
    if (facts.names != Names::nothing) it.id = read_id(facts.names);
    if (facts.has_argument) it.argument = number<std::uint64_t>("the argument");
  }

  std::uint32_t read_id(Names names) {
    switch (names) {
      case Names::cpu: return number<std::uint32_t>("the CPU");
      case Names::vector: return number<std::uint32_t>("the vector");
      case Names::tally: return number<std::uint32_t>("the event's number");
      case Names::cpu_and_vector: {
        const std::uint32_t cpu = number<std::uint16_t>("the CPU");
        if (!line_.skip(':')) throw FormatError("an interrupt's target is CPU:VECTOR");
        return (cpu << 16) + number<std::uint16_t>("the vector");
      }
      default: expect("a name"); return names_.read(symbols_, line_, names);
    }
  }

  // Reads flags, and members that operations of this kind do not use but may have.
  void read_extra(Operation& it) {
    const std::string name = line_.name(kNameMarks);
    const auto names = flag_names(it.kind);
    const auto flag = std::ranges::find(names, name);
    if (flag != names.end()) {
      it.flags |= static_cast<std::uint16_t>(1 << (flag - names.begin()));
    } else if (!line_.skip('=')) {
      throw FormatError(fmt::format("{:?} is not known here; known are {}, repeats=N", name + std::string(line_.rest_of_word()),
                                    fmt::join(names, ", ")));
    } else if (name == "repeats") {
      const auto repeats = line_.number(name);
      if (repeats > kMostRepeats) throw FormatError(fmt::format("repeats is {}; legal: 0 to {}", repeats, kMostRepeats));
      it.flags |= static_cast<std::uint16_t>(repeats << kRepeatShift);
    } else if (name == "argument") {
      it.argument = line_.number(name);
    } else if (name == "bytes") {
      it.bytes = line_.number_of<std::uint8_t>(name);
    } else if (name == "id") {
      it.id = line_.number_of<std::uint32_t>(name);
    } else {
      throw FormatError(fmt::format("{:?} is not known; known are repeats=, argument=, bytes=, id=", name + "="));
    }
  }

  const Symbols& symbols_;
  const TextNames& names_;
  Scanner& line_;
};

}  // namespace

Operation read_operation(const Symbols& symbols, const TextNames& names, Scanner& line) {
  return OperationReader(symbols, names, line).read();
}

}  // namespace linebounce::trace
