// Which processor was measured, and with it the contention family: from a name, wherever one stands, or from the user.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/processor_names.hpp"

namespace linebounce::sim {

// A text that may name the processor, and what to call its place: "by the file's name".
struct PlaceOfName {
  std::string text, where;
};

struct NamedProcessor {
  std::string name, where;
  KnownProcessor known;
  std::optional<double> mhz = {};  // from the name; none: not stated
};

// The first place that names a known processor.
std::optional<NamedProcessor> find_processor(const std::vector<PlaceOfName>& places);

// The lines of a matrix's text that may be titles: those with words, above the first row and behind the last.
std::string titles_in(const std::string& text);

// Asks the user at a terminal; null if there is none.
using AskFamily = std::function<std::string(const std::string& question)>;
AskFamily family_question();

struct ChosenFamily {
  std::string name;    // empty: nobody names one
  std::string source;  // for the machine's [sources]
};

// The family that the user wants, else that of the named processor. `wanted`: empty if the user names none.
ChosenFamily family_of(const std::string& wanted, const std::optional<NamedProcessor>& named);

// Asks, or throws a ConfigError with the candidates. `file`: what has been measured. `found`: its structure, for the message.
ChosenFamily ask_or_refuse(const AskFamily& ask, const std::string& file, const std::string& found,
                           const std::optional<NamedProcessor>& named);

// Memory order and lines of the named processor, as far as its name says them, else those of its family.
struct UsualValues {
  KnownProcessor known;
  std::string of;      // whose values they are
  std::string source;  // for the machine's [sources]
};
UsualValues usual_values(const std::string& family, const std::optional<NamedProcessor>& named);

}  // namespace linebounce::sim
