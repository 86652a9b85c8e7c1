#include "record/collector/local_variables.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "record/collector/debug_entries.hpp"
#include "types/type_fields.hpp"

namespace linebounce::record {
namespace {

constexpr unsigned kFramePointerRegister = 6, kStackPointerRegister = 7;  // x86-64's

std::optional<std::uint64_t> value_of_register(unsigned number, const Frame& frame) {
  if (number == kStackPointerRegister) return frame.stack_pointer;
  if (number == kFramePointerRegister && frame.frame_pointer != 0) return frame.frame_pointer;
  return std::nullopt;
}

// Evaluates an expression of one operation that reads no memory. None for any other expression.
std::optional<std::uint64_t> address_of(const Dwarf_Op* operations, std::size_t count, const Frame& frame) {
  if (count != 1) return std::nullopt;
  const Dwarf_Op& only = operations[0];
  const auto with_offset = [&](unsigned number, std::uint64_t offset) {
    const auto value = value_of_register(number, frame);
    return value ? std::optional(*value + offset) : std::nullopt;
  };
  if (only.atom == DW_OP_bregx) return with_offset(static_cast<unsigned>(only.number), only.number2);
  if (only.atom >= DW_OP_breg0 && only.atom <= DW_OP_breg31) return with_offset(only.atom - DW_OP_breg0, only.number);
  if (only.atom >= DW_OP_reg0 && only.atom <= DW_OP_reg31) return with_offset(only.atom - DW_OP_reg0, 0);
  return std::nullopt;
}

// Finds the variable of one function that contains an address.
class VariableFinder {
 public:
  VariableFinder(const Frame& frame, std::optional<std::uint64_t> frame_end, Types& types)
      : frame_(frame), frame_end_(frame_end), types_(&types) {}

  // Empty if no variable contains the address.
  std::string find(Dwarf_Die& function, const std::string& name, std::uint64_t address) {
    base_ = frame_base(function);
    search(function, name, address);
    return found_;
  }

 private:
  std::optional<std::uint64_t> frame_base(Dwarf_Die& function) const {
    Dwarf_Attribute attribute;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    if (dwarf_getlocation(dwarf_attr(&function, DW_AT_frame_base, &attribute), &operations, &count) != 0) return std::nullopt;
    if (count == 1 && operations[0].atom == DW_OP_call_frame_cfa) return frame_end_;
    return address_of(operations, count, frame_);
  }

  // Also searches nested blocks and inlined functions.
  void search(Dwarf_Die& scope, const std::string& function, std::uint64_t address) {
    Dwarf_Die child;
    if (dwarf_child(&scope, &child) != 0) return;
    do {
      switch (dwarf_tag(&child)) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter: look_at(child, function, address); break;
        case DW_TAG_lexical_block: search(child, function, address); break;
        case DW_TAG_inlined_subroutine: search(child, function_of_scope(child), address); break;
        default: break;
      }
    } while (next_sibling(child));
  }

  // Variables with disjoint lifetimes may share a stack slot. Prefers the first that is a structure, class or array.
  void look_at(Dwarf_Die& variable, const std::string& function, std::uint64_t address) {
    const Type* type = types_->of(variable);
    if (type == nullptr || type->size <= 0 || is_certain_) return;
    const auto begin = begin_of(variable);
    const auto offset = static_cast<std::int64_t>(address - begin.value_or(0));
    if (!begin || address < *begin || offset >= type->size) return;
    is_certain_ = !type->members.empty() || type->element != nullptr;
    found_ = function + "::" + name_of(variable) + types::path_in(*type, offset);
  }

  std::optional<std::uint64_t> begin_of(Dwarf_Die& variable) const {
    Dwarf_Attribute attribute;
    Dwarf_Addr base = 0, start = 0, end = 0;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    if (dwarf_attr_integrate(&variable, DW_AT_location, &attribute) == nullptr) return std::nullopt;
    std::ptrdiff_t next = 0;
    while ((next = dwarf_getlocations(&attribute, next, &base, &start, &end, &operations, &count)) > 0) {
      if (count == 1 && operations[0].atom == DW_OP_fbreg) {
        return base_ ? std::optional(*base_ + operations[0].number) : std::nullopt;
      }
      const bool is_in_register = count == 1 && operations[0].atom >= DW_OP_reg0 && operations[0].atom <= DW_OP_reg31;
      if (const auto found = address_of(operations, count, frame_); found && !is_in_register) return found;
    }
    return std::nullopt;
  }

  Frame frame_;
  std::optional<std::uint64_t> frame_end_;
  std::optional<std::uint64_t> base_;
  Types* types_;
  std::string found_;
  bool is_certain_ = false;
};

std::optional<std::uint64_t> end_of(const Frame& frame, ProgramImage& image) {
  const std::vector<Dwarf_Op> rule = image.frame_end_rule(frame.code);
  return address_of(rule.data(), rule.size(), frame);
}

auto first_above(std::uint64_t address, std::span<const Frame> frames) {
  return std::ranges::find_if(frames, [&](const Frame& one) { return one.lowest <= address; });
}

}  // namespace

std::size_t frame_with(std::uint64_t address, std::span<const Frame> frames, ProgramImage& image) {
  const auto frame = first_above(address, frames);
  if (frame == frames.end()) return 0;
  const auto end = end_of(*frame, image);
  return end && address < *end ? static_cast<std::size_t>(frame - frames.begin()) + 1 : 0;
}

std::string local_variable(std::uint64_t address, std::span<const Frame> frames, ProgramImage& image, Types& types) {
  const auto frame = first_above(address, frames);
  if (frame == frames.end()) return "";
  const auto end = end_of(*frame, image);
  // Addresses beyond the outermost frame hold thread-local variables and the C library's data.
  if (end ? address >= *end : frame == frames.begin()) return "";
  std::vector<SourcePlace> places = image.source_places(frame->code);
  const std::string function = image.function(frame->code);
  std::string name;
  if (!places.empty()) name = VariableFinder(*frame, end, types).find(places.back().scope, function, address);
  return name.empty() ? fmt::format("{}::local{:+}", function, static_cast<std::int64_t>(address - frame->stack_pointer))
                      : name;
}

}  // namespace linebounce::record
