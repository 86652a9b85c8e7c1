#include "record/collector/function_names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <regex>
#include <string_view>

#include "record/collector/rust_names.hpp"

namespace linebounce::record {

namespace {

// A C function's name is as it is: `f` would be demangled, too, to the type `float`.
std::string demangled_cpp(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return name;
  std::string result = text;
  std::free(text);
  return result;
}

// Of copies and parts of functions, as compilers call them, as also of an OpenMP region. Go's names have dots of their own.
std::string without_clone(const std::string& name) {
  static const std::regex kClone(R"(^[^.]*\.\d+|\.(?:part|constprop|isra|cold|_omp_fn|localalias|lto_priv|llvm)\b)");
  std::smatch found;
  if (!std::regex_search(name, found, kClone)) return name;
  return name.substr(0, name.find('.', found.position()));
}

// Without the brackets that the text ends in, and what is between them.
std::string without_parameters(const std::string& name) {
  if (!name.ends_with(')')) return name;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? name : name.substr(0, at);
  }
  return name;
}

// Where the text says "operator" as a word.
bool is_operator(const std::string& name, std::size_t at) {
  constexpr std::string_view kWord = "operator";
  const auto is_letter = [&](std::size_t place) {
    return std::isalnum(static_cast<unsigned char>(name[place])) || name[place] == '_';
  };
  if (name.compare(at, kWord.size(), kWord) != 0 || (at > 0 && is_letter(at - 1))) return false;
  return at + kWord.size() == name.size() || !is_letter(at + kWord.size());
}

// A template's instance is demangled with its result before its name: "void work<int>".
std::string without_result(const std::string& name) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (depth == 0 && is_operator(name, at)) break;  // "operator unsigned long"
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (c == ' ' && depth == 0) begin = at + 1;
  }
  return name.substr(begin);
}

// What a std::thread runs is often inlined there: "main::{lambda()#1}" is of more use than
// "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run". Of std::async it is a member of
// the C++ library, whose type has the lambda somewhere in the middle.
std::string of_thread(const std::string& name) {
  constexpr std::string_view kBefore = "std::thread::_State_impl<std::thread::_Invoker<std::tuple<", kBehind = "> > >::_M_run";
  if (!name.starts_with(kBefore) || !name.ends_with(kBehind)) return name;
  const std::string runs = name.substr(kBefore.size(), name.size() - kBefore.size() - kBehind.size());
  const std::size_t lambda = std::min(runs.find("{lambda("), runs.find("::$_"));
  return lambda == std::string::npos || runs.find("::*)") != std::string::npos ? name : runs;
}

}  // namespace

std::string demangled_name(const std::string& linker_name) {
  return demangled_rust(linker_name).value_or(demangled_cpp(linker_name));
}

std::string short_function_name(const std::string& linker_name) {
  if (const auto rust = demangled_rust(linker_name)) return *rust;
  std::string name = demangled_cpp(linker_name);
  if (const auto clone = name.find(" [clone"); clone != std::string::npos) name.resize(clone);
  if (name == linker_name) return without_clone(name);
  if (name.ends_with(" const")) name.resize(name.size() - 6);
  return of_thread(without_result(without_parameters(name)));
}

}  // namespace linebounce::record
