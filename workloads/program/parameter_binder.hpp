// A workload's options are a plain struct. The initialisers are the defaults, and bind() declares each option's parameter once.
// declare() and read_options() both call bind(), so what is declared and what is read cannot differ:
//
//   struct CriticalSectionOptions {
//     std::int64_t data_lines = 1;
//     void bind(ParameterBinder& parameters) {
//       parameters.number("data_lines", data_lines, 0, 1e5, "lines that each holder reads and writes");
//     }
//   };
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workloads/program/parameters.hpp"

namespace linebounce::workloads {

class ParameterBinder {
 public:
  // A binder that collects declarations, with the options' initial values as defaults. It leaves the options unchanged.
  ParameterBinder() = default;
  // A binder that sets every option to the value of its parameter in `given`, which must outlive the binder.
  explicit ParameterBinder(const Parameters& given) : given_(&given) {}

  template <std::integral Number>
  void number(const char* name, Number& option, double minimum, double maximum, const char* meaning) {
    option = static_cast<Number>(integer(name, static_cast<std::int64_t>(option), minimum, maximum, meaning));
  }
  void number(const char* name, double& option, double minimum, double maximum, const char* meaning);
  void flag(const char* name, bool& option, const char* meaning);
  // A text: one of `choices`, or any text if there are no choices. `refusals`: as in ParameterDeclaration.
  void text(const char* name, std::string& option, const char* meaning, const std::vector<std::string>& choices = {},
            const std::map<std::string, std::string>& refusals = {});
  // Mark the latest declared parameter as the name of a lock, or of a counter. `why_not`: as in ParameterDeclaration.
  void names_lock(const std::function<std::string(const LockTraits&)>& why_not);
  void names_counter(const std::function<std::string(const CounterUses&)>& why_not);
  // A table of texts: the user may set PREFIXdefault and PREFIXNAME for any NAME. The keys of `options` are "default" and the
  // NAMEs that the user has set.
  void texts(const std::string& prefix, std::map<std::string, std::string>& options, const char* meaning,
             const std::vector<std::string>& choices);

  [[nodiscard]] std::vector<ParameterDeclaration> declarations() && { return std::move(declarations_); }

 private:
  std::int64_t integer(const char* name, std::int64_t option, double minimum, double maximum, const char* meaning);

  const Parameters* given_ = nullptr;
  std::vector<ParameterDeclaration> declarations_;
};

template <class Options>
std::vector<ParameterDeclaration> declare() {
  Options defaults;
  ParameterBinder binder;
  defaults.bind(binder);
  return std::move(binder).declarations();
}

template <class Options>
Options read_options(const Parameters& given) {
  Options options;
  ParameterBinder binder(given);
  options.bind(binder);
  return options;
}

}  // namespace linebounce::workloads
