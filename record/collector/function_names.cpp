#include "record/collector/function_names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>

namespace linebounce::record {
namespace {

// ---- names as Rust's compiler mangles them ----

// Decodes the escapes that Rust's compiler uses for characters that linkers reject. "$u20$" names a character by its
// hexadecimal code.
std::string rust_escape(std::string_view code) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kCodes = {
      {{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"}, {"GT", ">"}, {"LP", "("}, {"RP", ")"}, {"C", ","}}};
  const auto known = std::ranges::find_if(kCodes, [&](const auto& one) { return one.first == code; });
  if (known != kCodes.end()) return std::string(known->second);
  unsigned character = 0;
  constexpr int kHexadecimal = 16;
  if (!code.starts_with('u')) return "";
  const auto [end, error] = std::from_chars(code.data() + 1, code.data() + code.size(), character, kHexadecimal);
  const bool is_ascii = error == std::errc() && end == code.data() + code.size() && character >= ' ' && character <= '~';
  return is_ascii ? std::string(1, static_cast<char>(character)) : "";
}

// "_$LT$app..Table$u20$as$u20$app..Insert$GT$" -> "<app::Table as app::Insert>"
std::string rust_part(std::string_view text) {
  if (text.starts_with("_$")) text.remove_prefix(1);
  std::string name;
  while (!text.empty()) {
    const std::size_t end = text.front() == '$' ? text.find('$', 1) : text.npos;
    const std::string escaped = end == text.npos ? "" : rust_escape(text.substr(1, end - 1));
    if (!escaped.empty()) {
      name += escaped;
      text.remove_prefix(end + 1);
    } else if (text.starts_with("..")) {
      name += "::";
      text.remove_prefix(2);
    } else {
      name += text.front();
      text.remove_prefix(1);
    }
  }
  return name;
}

// "17h0123456789abcdefE": every Rust symbol ends with such a hash, which tells apart symbols with the same path.
bool is_rust_hash(std::string_view part) {
  constexpr std::size_t kDigits = 16;
  return part.size() == 1 + kDigits && part.front() == 'h' &&
         std::all_of(part.begin() + 1, part.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

// "3app4work17h0123456789abcdefE" -> "app::work"
std::optional<std::string> demangled_legacy(std::string_view text) {
  std::string name;
  for (;;) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(end - text.data());
    if (length > text.size()) return std::nullopt;
    const std::string_view part = text.substr(0, length);
    text.remove_prefix(length);
    if (text.starts_with('E') && is_rust_hash(part)) return name;
    name += (name.empty() ? "" : "::") + rust_part(part);
  }
}

// Parses Rust's newer mangling, version v0: a path that may contain nested types and constants.
class RustSymbol {
 public:
  explicit RustSymbol(std::string_view text) : text_(text) {}

  std::optional<std::string> read() {
    std::string name = path();
    return is_wrong_ ? std::nullopt : std::optional(std::move(name));
  }

 private:
  static constexpr int kDeepest = 100;
  static constexpr std::uint64_t kBase = 62;

  char next() {
    if (at_ < text_.size()) return text_[at_++];
    is_wrong_ = true;
    return 'E';
  }

  bool take(char wanted) {
    const bool found = at_ < text_.size() && text_[at_] == wanted;
    if (found) ++at_;
    return found;
  }

  // Reads a number: "_" is 0, "0_" is 1.
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (take('_')) return 0;
    for (char c = next(); c != '_' && !is_wrong_; c = next()) {
      const auto letter = static_cast<unsigned char>(c);
      if (std::isalnum(letter) == 0) is_wrong_ = true;
      const int digit = std::isdigit(letter) != 0 ? c - '0' : std::islower(letter) != 0 ? c - 'a' + 10 : c - 'A' + 36;
      value = value * kBase + static_cast<std::uint64_t>(digit);
    }
    return value + 1;
  }

  std::uint64_t number_after(char letter) { return take(letter) ? number() + 1 : 0; }

  // Reads an identifier, which is preceded by its length. The length has no leading zeros: "00" is two empty identifiers.
  std::string_view identifier() {
    take('u');
    if (take('0')) return "";
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), length);
    if (error != std::errc()) is_wrong_ = true;
    if (is_wrong_) return "";
    at_ = static_cast<std::size_t>(end - text_.data());
    take('_');
    if (length > text_.size() - at_) is_wrong_ = true;
    const std::string_view name = text_.substr(at_, is_wrong_ ? 0 : length);
    at_ += name.size();
    return name;
  }

  // Follows a back reference: reads an earlier part of the symbol again.
  template <class Read>
  std::string again(Read read) {
    const std::uint64_t begin = number();
    if (begin >= at_) is_wrong_ = true;
    if (is_wrong_) return "";
    const std::size_t here = std::exchange(at_, begin);
    std::string name = read();
    at_ = here;
    return name;
  }

  std::string path() {
    if (++depth_ > kDeepest) is_wrong_ = true;
    std::string name = is_wrong_ ? "" : path_of(next());
    --depth_;
    return name;
  }

  std::string path_of(char kind) {
    switch (kind) {
      case 'C': number_after('s'); return std::string(identifier());
      case 'N': return nested();
      case 'M':
      case 'X': {
        number_after('s');
        path();
        std::string name = type();
        return kind == 'M' ? name : as(name);
      }
      case 'Y': return as(type());
      case 'I': {
        std::string name = path();
        while (!take('E') && !is_wrong_) argument();
        return name;
      }
      case 'B': return again([this] { return path(); });
      default: is_wrong_ = true; return "";
    }
  }

  std::string as(const std::string& type) { return "<" + type + " as " + path() + ">"; }

  std::string nested() {
    const char space = next();
    std::string name = path();
    number_after('s');
    const std::string_view last = identifier();
    if (space == 'C') return name + "::{{closure}}";
    if (space == 'S') return name + "::{{shim}}";
    return last.empty() ? name : name + "::" + std::string(last);
  }

  void argument() {
    if (take('L')) {
      number();
    } else if (take('K')) {
      constant();
    } else {
      type();
    }
  }

  void constant() {
    if (take('p')) return;
    if (take('B')) {
      again([this] { return constant(), std::string(); });
      return;
    }
    type();
    while (!is_wrong_ && next() != '_') continue;
  }

  std::string types_to_end(const char* before, const char* behind) {
    std::string all = before;
    for (bool is_first = true; !take('E') && !is_wrong_; is_first = false) all += (is_first ? "" : ", ") + type();
    return all + behind;
  }

  std::string type() {
    if (++depth_ > kDeepest) is_wrong_ = true;
    std::string name = is_wrong_ ? "" : type_of(next());
    --depth_;
    return name;
  }

  std::string type_of(char kind) {
    static constexpr std::string_view kBasic = "abcdefhijlmnopstuvxyz";
    static constexpr std::array<const char*, kBasic.size()> kNames = {"i8",    "bool",  "char", "f64", "str",  "f32",  "u8",
                                                                      "isize", "usize", "i32",  "u32", "i128", "u128", "_",
                                                                      "i16",   "u16",   "()",   "...", "i64",  "u64",  "!"};
    if (const std::size_t basic = kBasic.find(kind); basic != std::string_view::npos) return kNames[basic];
    switch (kind) {
      case 'A': {
        std::string name = "[" + type() + "]";
        constant();
        return name;
      }
      case 'S': return "[" + type() + "]";
      case 'T': return types_to_end("(", ")");
      case 'R':
      case 'Q': number_after('L'); return (kind == 'R' ? "&" : "&mut ") + type();
      case 'P': return "*const " + type();
      case 'O': return "*mut " + type();
      case 'F': return function_type();
      case 'D': return trait_object();
      case 'B': return again([this] { return type(); });
      default: return path_of(kind);
    }
  }

  std::string function_type() {
    number_after('G');
    take('U');
    if (take('K') && !take('C')) identifier();
    std::string name = types_to_end("fn(", ")");
    const std::string result = type();
    return result == "()" ? name : name + " -> " + result;
  }

  std::string trait_object() {
    number_after('G');
    std::string name = "dyn ";
    for (bool is_first = true; !take('E') && !is_wrong_; is_first = false) {
      name += (is_first ? "" : " + ") + path();
      while (take('p')) {
        identifier();
        type();
      }
    }
    number_after('L');
    return name;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool is_wrong_ = false;
};

// Demangles both forms: "_ZN3app4work17h0123456789abcdefE" and "_RNvCs11G97PgjCDl_3app4work" -> "app::work". Omits generic
// arguments. None if it is not a Rust name.
std::optional<std::string> demangled_rust(std::string_view linker_name) {
  if (linker_name.starts_with("_R")) return RustSymbol(linker_name.substr(2)).read();
  return linker_name.starts_with("_ZN") ? demangled_legacy(linker_name.substr(3)) : std::nullopt;
}

// Leaves C names alone: the C++ demangler would turn a function `f` into the type `float`.
std::string demangled_cpp(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return name;
  std::string result = text;
  std::free(text);
  return result;
}

// Removes the suffixes of compiler-made clones, function parts and OpenMP regions. Go's names contain dots of their own, which
// must stay.
std::string without_clone(const std::string& name) {
  static const std::regex kClone(R"(^[^.]*\.\d+|\.(?:part|constprop|isra|cold|_omp_fn|localalias|lto_priv|llvm)\b)");
  std::smatch found;
  if (!std::regex_search(name, found, kClone)) return name;
  return name.substr(0, name.find('.', found.position()));
}

// Removes the last pair of parentheses with its content, if the name ends with one.
std::string without_parameters(const std::string& name) {
  if (!name.ends_with(')')) return name;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++depth;
    if (name[at] == '(' && --depth == 0) return at == 0 ? name : name.substr(0, at);
  }
  return name;
}

// Whether the word "operator" begins at `at`.
bool is_operator(const std::string& name, std::size_t at) {
  constexpr std::string_view kWord = "operator";
  const auto is_letter = [&](std::size_t place) {
    return std::isalnum(static_cast<unsigned char>(name[place])) || name[place] == '_';
  };
  if (name.compare(at, kWord.size(), kWord) != 0 || (at > 0 && is_letter(at - 1))) return false;
  return at + kWord.size() == name.size() || !is_letter(at + kWord.size());
}

// The demangled name of a template's instance begins with its result type: "void work<int>".
std::string without_result(const std::string& name) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (depth == 0 && is_operator(name, at)) break;  // as in "operator unsigned long"
    if (c == '<' || c == '(' || c == '{') ++depth;
    if (c == '>' || c == ')' || c == '}') --depth;
    if (c == ' ' && depth == 0) begin = at + 1;
  }
  return name.substr(begin);
}

// The program's function is often inlined into the C++ library's thread start. "main::{lambda()#1}" is then extracted from
// "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda()#1}> > >::_M_run". Under std::async it is part of
// the type of a member function of the library.
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
