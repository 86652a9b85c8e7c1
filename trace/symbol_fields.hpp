// Members of all symbols and the summary, by name. JSON, the text form and their readers use this single list.
#pragma once

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "trace/summary.hpp"
#include "trace/symbols.hpp"

namespace linebounce::trace {

template <class T, class M>
struct Member {
  std::string_view key;
  M T::*at;
};
template <class T, class M>
Member(std::string_view, M T::*) -> Member<T, M>;

// Names of the kinds of symbol, in the order of Symbol's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<Symbol>> kSymbolKinds = {
    "structure", "object", "function", "lock", "barrier", "event", "word", "stream"};

constexpr auto members(std::type_identity<Field>) {
  return std::tuple{Member{"name", &Field::name}, Member{"offset", &Field::offset}, Member{"size", &Field::size},
                    Member{"alignment", &Field::alignment}};
}

constexpr auto members(std::type_identity<Structure>) {
  return std::tuple{Member{"name", &Structure::name},           Member{"size", &Structure::size},
                    Member{"alignment", &Structure::alignment}, Member{"base_offset", &Structure::base_offset},
                    Member{"subsystem", &Structure::subsystem}, Member{"source", &Structure::source},
                    Member{"fields", &Structure::fields},       Member{"unexplained", &Structure::unexplained}};
}

constexpr auto members(std::type_identity<Object>) {
  return std::tuple{Member{"name", &Object::name},
                    Member{"structure", &Object::structure},
                    Member{"size", &Object::size},
                    Member{"alignment", &Object::alignment},
                    Member{"home", &Object::home},
                    Member{"address", &Object::address},
                    Member{"page_bytes", &Object::page_bytes},
                    Member{"of_lock", &Object::of_lock},
                    Member{"movable", &Object::movable},
                    Member{"source", &Object::source}};
}

constexpr auto members(std::type_identity<Function>) {
  return std::tuple{Member{"name", &Function::name}, Member{"user", &Function::user}};
}

constexpr auto members(std::type_identity<WaitsIn>) {
  return std::tuple{Member{"taker", &WaitsIn::taker}, Member{"function", &WaitsIn::function}};
}

constexpr auto members(std::type_identity<Lock>) {
  return std::tuple{Member{"name", &Lock::name},
                    Member{"algorithm", &Lock::algorithm},
                    Member{"sleeps", &Lock::sleeps},
                    Member{"object", &Lock::object},
                    Member{"offset", &Lock::offset},
                    Member{"word_bytes", &Lock::word_bytes},
                    Member{"figures", &Lock::figures},
                    Member{"waits_in", &Lock::waits_in},
                    Member{"in_handlers", &Lock::in_handlers},
                    Member{"readers_write", &Lock::readers_write},
                    Member{"readers_follow", &Lock::readers_follow}};
}

constexpr auto members(std::type_identity<Barrier>) {
  return std::tuple{Member{"name", &Barrier::name}, Member{"parties", &Barrier::parties}};
}

constexpr auto members(std::type_identity<Event>) {
  return std::tuple{Member{"name", &Event::name}};
}

constexpr auto members(std::type_identity<Word>) {
  return std::tuple{Member{"object", &Word::object}, Member{"offset", &Word::offset}, Member{"bytes", &Word::bytes}};
}

constexpr auto members(std::type_identity<Stream>) {
  return std::tuple{Member{"name", &Stream::name}, Member{"cpu", &Stream::cpu}, Member{"vector", &Stream::vector},
                    Member{"created", &Stream::created}};
}

constexpr auto members(std::type_identity<Summary>) {
  return std::tuple{Member{"program", &Summary::program},
                    Member{"recorder", &Summary::recorder},
                    Member{"machine", &Summary::machine},
                    Member{"misses", &Summary::misses},
                    Member{"configuration", &Summary::configuration},
                    Member{"missing", &Summary::missing}};
}

// Calls see(member) for each listed member of T.
template <class T, class See>
void for_each_member(See&& see) {
  std::apply([&see](const auto&... each) { (see(each), ...); }, members(std::type_identity<T>{}));
}

}  // namespace linebounce::trace
