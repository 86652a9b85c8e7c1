#include "trace/symbols.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  const auto found = std::find_if(fields.begin(), fields.end(), [offset](const Field& field) {
    return offset >= field.offset && offset - field.offset < field.size;
  });
  return found == fields.end() ? nullptr : &*found;
}

std::string Symbols::place_name(std::uint32_t object, std::int64_t offset) const {
  const Object& whole = objects.at(object);
  const Field* field = field_at(whole, offset);
  if (field == nullptr) return fmt::format("{}+{}", whole.name, offset);
  const std::string name = whole.name + "." + field->name;
  return offset == field->offset ? name : fmt::format("{}+{}", name, offset - field->offset);
}

}  // namespace linebounce::trace
