// A spec is a plain struct. Its initialisers are the defaults, and its bind() declares each member once: key, unit, legal
// values and meaning. Reading, checking, writing and describing a configuration all use bind():
//
//   struct DirectorySpec {
//     double latency_ns = 0;
//     void bind(SpecBinder& keys) { keys.ns("latency_ns", latency_ns, "look-up and update of a line's entry"); }
//   };
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "models/frequency.hpp"

namespace linebounce {

// The largest legal values of parameters.
constexpr int kMostCpus = 512;
constexpr int kLargestLine = 4096;  // bytes
constexpr int kMostNodes = 64;
constexpr double kMostCycles = 1e6;
constexpr double kMostNs = 1e7;
constexpr double kMostUs = 1e12;
constexpr double kMostMhz = 1e5;
constexpr double kMostMbPerS = 1e9;

// The value of a parameter that one part (one node, one direction of a link) does not set: the part then uses the value that
// applies to all parts.
constexpr double kAsTheRest = -1;
constexpr double own_or(double own, double rest) {
  return own < 0 ? rest : own;
}

// The value of a parameter that is not set. Its actual value then follows from other parameters, as its `meaning` states.
constexpr double kDerived = -1;

// The words for an enumeration's values in machine files, in order. Each such enumeration has a specialisation beside it.
template <class Enum>
constexpr auto kWordsOf = nullptr;

template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::string_view word_of(Enum value) {
  return kWordsOf<Enum>[static_cast<std::size_t>(value)];
}

template <class Enum>
constexpr std::optional<Enum> enum_named(std::string_view word) {
  for (std::size_t value = 0; value < kWordsOf<Enum>.size(); ++value) {
    if (kWordsOf<Enum>[value] == word) return static_cast<Enum>(value);
  }
  return std::nullopt;
}

struct ParameterTraits {
  bool required = false;    // true if the parameter has no default
  bool structural = false;  // true if the parameter defines the machine, so that only the machine's own file may set it
  // The path of another parameter, without which this one has no effect: it must differ from its default. Empty: this
  // parameter always has an effect.
  std::string_view needs = {};
};
constexpr ParameterTraits kRequired{.required = true};

// A spec's member of an enumeration type.
struct WordMember {
  std::string_view word;
  std::function<void(std::string_view)> assign;  // sets the member. REQUIRES: the argument is one of the legal words
};

struct SpecParameter {
  std::string path;  // the whole key, such as "machine.cache.L2.ways"
  std::string_view unit;
  std::variant<int*, double*, bool*, std::string*, Frequency*, WordMember> member;
  std::string_view meaning;
  ParameterTraits traits = {};
  double minimum = 0, maximum = 0;               // the legal range; for numbers only
  std::span<const std::string_view> words = {};  // the legal words of a WordMember
};

class SpecBinder {
 public:
  // Calls `visit` for every parameter, in the order in which the bind() functions declare them. `below`: only for those whose
  // paths begin with one of these prefixes, which end with a dot; empty: for all.
  explicit SpecBinder(std::function<void(const SpecParameter&)> visit, std::vector<std::string_view> below = {})
      : visit_(std::move(visit)), below_(std::move(below)) {}

  // Declares a number: an int, a double, or a Frequency in MHz.
  template <class Number>
  void number(const char* name, const char* unit, Number& member, double minimum, double maximum, const char* meaning,
              ParameterTraits traits = {}) {
    visit({{}, unit, &member, meaning, traits, minimum, maximum}, name);
  }
  void cycles(const char* name, int& member, const char* meaning) { number(name, "cycles", member, 0, kMostCycles, meaning); }
  void clocks(const char* name, int& member, const char* meaning) { number(name, "clocks", member, 0, kMostCycles, meaning); }
  void ns(const char* name, double& member, const char* meaning, ParameterTraits traits = {}) {
    number(name, "ns", member, 0, kMostNs, meaning, traits);
  }
  void flag(const char* name, bool& member, const char* meaning) { visit({{}, "", &member, meaning}, name); }
  // Declares a text. `unit` is the unit of the numbers in the text.
  void text(const char* name, std::string& member, const char* meaning, ParameterTraits traits = {}, const char* unit = "") {
    visit({{}, unit, &member, meaning, traits}, name);
  }
  template <class Enum>
  void word(const char* name, Enum& member, const char* meaning, ParameterTraits traits = {}) {
    const auto assign = [&member](std::string_view word) { member = enum_named<Enum>(word).value_or(member); };
    visit({{}, "", WordMember{word_of(member), assign}, meaning, traits, 0, 0, kWordsOf<Enum>}, name);
  }

  // Declares the parameters of a part, which has its own table. `needs` applies to parameters that set no `needs` themselves.
  template <class Part>
  void part(const std::string& name, Part& part, std::string_view needs = {}) {
    const std::string outer = prefix_;
    const std::string_view outer_needs = needs_;
    prefix_ += name + ".";
    if (!needs.empty()) needs_ = needs;
    if (is_wanted(prefix_)) part.bind(*this);
    prefix_ = outer;
    needs_ = outer_needs;
  }
  // Declares the parameters of several named parts, each with its own table.
  template <class Part>
  void parts(const std::string& name, std::vector<Part>& parts, std::string_view needs = {}) {
    for (Part& each : parts) part(name + "." + each.name, each, needs);
  }

 private:
  // True for a parameter's path that begins with a prefix of `below`, and for a part that has such parameters.
  [[nodiscard]] bool is_wanted(std::string_view path) const {
    return below_.empty() || std::ranges::any_of(below_, [path](std::string_view prefix) {
             return path.starts_with(prefix) || prefix.starts_with(path);
           });
  }
  void visit(SpecParameter parameter, const char* name) const {
    parameter.path = prefix_ + name;
    if (!is_wanted(parameter.path)) return;
    if (parameter.traits.needs.empty()) parameter.traits.needs = needs_;
    visit_(parameter);
  }

  std::function<void(const SpecParameter&)> visit_;
  std::vector<std::string_view> below_;
  std::string prefix_;
  std::string_view needs_;
};

}  // namespace linebounce
