#include "trace/symbols.hpp"

#include <fmt/format.h>

#include <type_traits>

namespace linebounce::trace {

namespace {

template <class T>
std::uint32_t append(std::vector<T>& list, const T& symbol) {
  list.push_back(symbol);
  return static_cast<std::uint32_t>(list.size() - 1);
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
        if constexpr (std::is_same_v<T, Stream>) return append(streams, it);
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

std::string Symbols::place_name(std::uint32_t object, std::int64_t offset) const {
  const Object& whole = objects.at(object);
  if (whole.structure != kNone) {
    for (const Field& field : structures.at(whole.structure).fields) {
      if (offset < field.offset || offset >= field.offset + field.size) continue;
      const std::string name = whole.name + "." + field.name;
      return offset == field.offset ? name : fmt::format("{}+{}", name, offset - field.offset);
    }
  }
  return fmt::format("{}+{}", whole.name, offset);
}

}  // namespace linebounce::trace
