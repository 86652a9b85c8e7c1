#include "trace/symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <type_traits>

namespace linebounce::trace {
namespace {

template <class T>
std::uint32_t append(std::vector<T>& list, const T& symbol) {
  list.push_back(symbol);
  return static_cast<std::uint32_t>(list.size() - 1);
}

// largest size and offset in bytes, more than the address space of a 64-bit program
constexpr std::int64_t kLargest = std::int64_t{1} << 48;
constexpr int kMostCpus = 1 << 16;
constexpr int kLargestAlignment = 1 << 20;
constexpr int kSmallestPage = 1 << 12, kLargestPage = 1 << 30;

bool is_alignment(int bytes) {
  return bytes > 0 && bytes <= kLargestAlignment && std::has_single_bit(static_cast<unsigned>(bytes));
}

bool is_page(int bytes) {
  return bytes >= kSmallestPage && bytes <= kLargestPage && std::has_single_bit(static_cast<unsigned>(bytes));
}

bool is_word(int bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

bool is_home(std::string_view home) {
  if (home.empty() || home == "first_touch" || home == "interleaved" || home == "local") return true;
  if (!home.starts_with("node ")) return false;
  int node = 0;
  const auto [end, error] = std::from_chars(home.data() + 5, home.data() + home.size(), node);
  return error == std::errc{} && end == home.data() + home.size() && node >= 0;
}

std::string size_complaint(std::int64_t size) {
  return size >= 0 && size <= kLargest ? "" : fmt::format("its size is {}; legal: 0 to 2^48 bytes", size);
}

// The error in a word of `bytes` bytes at `offset` of an object; empty if there is none.
std::string place_complaint(const Symbols& before, std::uint32_t object, std::int64_t offset, int bytes) {
  if (!is_word(bytes)) return fmt::format("it has {} bytes; legal: 1, 2, 4, 8", bytes);
  if (object >= before.objects.size()) {
    return fmt::format("it lies in object {}; so far {} are defined", object, before.objects.size());
  }
  const Object& whole = before.objects[object];
  if (offset < 0 || offset > whole.size - bytes) {
    return fmt::format("its {} bytes at {} are outside {:?}, which has {}", bytes, offset, whole.name, whole.size);
  }
  return "";
}

std::string wrong_with(const Symbols&, const Structure& it) {
  if (const std::string wrong = size_complaint(it.size); !wrong.empty()) return wrong;
  if (!is_alignment(it.alignment)) return fmt::format("its alignment is {}; legal: powers of two up to 2^20", it.alignment);
  if (it.base_offset && (*it.base_offset < 0 || *it.base_offset > kLargestAlignment)) {
    return fmt::format("its base_offset is {}; legal: 0 to 2^20", *it.base_offset);
  }
  for (const auto* fields : {&it.fields, &it.unexplained}) {
    for (const Field& field : *fields) {
      if (field.offset < 0 || field.size < 0 || field.offset > it.size || field.size > it.size - field.offset) {
        return fmt::format("its field {:?} has {} bytes at {}; the structure has {}", field.name, field.size, field.offset,
                           it.size);
      }
      if (field.alignment != 0 && !is_alignment(field.alignment)) {
        return fmt::format("the alignment of its field {:?} is {}; legal: 0 and powers of two up to 2^20", field.name,
                           field.alignment);
      }
    }
  }
  return "";
}

std::string wrong_with(const Symbols& before, const Object& it) {
  if (const std::string wrong = size_complaint(it.size); !wrong.empty()) return wrong;
  if (it.alignment != 0 && !is_alignment(it.alignment)) {
    return fmt::format("its alignment is {}; legal: 0 and powers of two up to 2^20", it.alignment);
  }
  if (it.structure != kNone && it.structure >= before.structures.size()) {
    return fmt::format("its structure is number {}; so far {} are defined", it.structure, before.structures.size());
  }
  if (it.structure != kNone && it.size != before.structures[it.structure].size) {
    return fmt::format("it has {} bytes, its structure {}", it.size, before.structures[it.structure].size);
  }
  if (it.page_bytes != 0 && !is_page(it.page_bytes)) {
    return fmt::format("its page_bytes are {}; legal: 0 and powers of two from 2^12 to 2^30", it.page_bytes);
  }
  if (!is_home(it.home)) return fmt::format("its home is {:?}; legal: node N, first_touch, interleaved, local", it.home);
  return "";
}

std::string wrong_with(const Symbols& before, const Lock& it) {
  for (const WaitsIn& waits : it.waits_in) {
    const std::uint32_t last = waits.taker == kNone ? waits.function : std::max(waits.taker, waits.function);
    if (last >= before.functions.size()) {
      return fmt::format("waits_in names function {}; so far {} are defined", last, before.functions.size());
    }
  }
  if (it.object != kNone) return place_complaint(before, it.object, it.offset, it.word_bytes);
  // Refused, because negative values have no meaning and the text form has no sign.
  if (it.offset < 0) return fmt::format("its offset is {}; legal: 0 to 2^63 - 1", it.offset);
  return it.word_bytes < 0 ? fmt::format("its word_bytes are {}; legal: 0 to 2^31 - 1", it.word_bytes) : "";
}

std::string wrong_with(const Symbols& before, const Word& it) {
  return place_complaint(before, it.object, it.offset, it.bytes);
}

std::string wrong_with(const Symbols&, const Barrier& it) {
  return it.parties > 0 ? "" : fmt::format("its parties are {}; legal: 1 and more", it.parties);
}

std::string wrong_with(const Symbols&, const Stream& it) {
  if (it.cpu < -1 || it.cpu >= kMostCpus) return fmt::format("its cpu is {}; legal: -1 (not known) to 65535", it.cpu);
  if (it.vector < -1 || it.vector >= kMostCpus) {
    return fmt::format("its vector is {}; legal: -1 (no handlers) to 65535", it.vector);
  }
  return "";
}

std::string wrong_with(const Symbols&, const Function&) {
  return "";
}
std::string wrong_with(const Symbols&, const Event&) {
  return "";
}

}  // namespace

std::uint32_t Symbols::define(const Symbol& symbol) {
  return std::visit(
      [this](const auto& it) {
        using T = std::decay_t<decltype(it)>;
        if constexpr (std::is_same_v<T, Structure>) return append(structures, it);
        if constexpr (std::is_same_v<T, Function>) return append(functions, it);
        if constexpr (std::is_same_v<T, Event>) return append(events, it);
        if constexpr (std::is_same_v<T, Word>) return append(words, it);
        if constexpr (std::is_same_v<T, Stream>) {
          if (it.cpu >= 0) cpus.insert(static_cast<std::uint32_t>(it.cpu));
          return append(streams, it);
        }
        if constexpr (std::is_same_v<T, Object>) {
          const std::uint32_t id = append(objects, it);
          if (it.of_lock == kNone) placed.push_back({Placed::What::object, id});
          return id;
        }
        if constexpr (std::is_same_v<T, Lock>) {
          placed.push_back({Placed::What::lock, append(locks, it)});
          return placed.back().id;
        }
        if constexpr (std::is_same_v<T, Barrier>) {
          placed.push_back({Placed::What::barrier, append(barriers, it)});
          return placed.back().id;
        }
      },
      symbol);
}

const Field* Symbols::field_at(const Object& object, std::int64_t offset) const {
  if (object.structure == kNone) return nullptr;
  const std::vector<Field>& fields = structures.at(object.structure).fields;
  const auto found = std::ranges::find_if(
      fields, [offset](const Field& field) { return offset >= field.offset && offset - field.offset < field.size; });
  return found == fields.end() ? nullptr : &*found;
}

std::string Symbols::place_name(std::uint32_t object, std::int64_t offset) const {
  const Object& whole = objects.at(object);
  const Field* field = field_at(whole, offset);
  if (field == nullptr) return fmt::format("{}+{}", whole.name, offset);
  const std::string name = whole.name + "." + field->name;
  return offset == field->offset ? name : fmt::format("{}+{}", name, offset - field->offset);
}

std::string complaint(const Symbols& before, const Symbol& symbol) {
  return std::visit([&before](const auto& it) { return wrong_with(before, it); }, symbol);
}

}  // namespace linebounce::trace
