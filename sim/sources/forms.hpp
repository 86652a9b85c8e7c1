// A table of the files that other tools write. `import`, `trace convert`, `calibrate --from` and `describe layout` use it to
// recognise a file by its content.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sources/excerpt.hpp"
#include "sim/sources/import_losses.hpp"
#include "sim/sources/lock_statistics.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

// What a form is converted to; `own`: a file that Linebounce itself wrote.
enum class FormKind : std::uint8_t { trace, locks, lines, machine, layout, litmus, own };

// "a trace", "statistics of locks"
std::string_view noun_of(FormKind kind);

struct Likeness {
  enum class Sure : std::uint8_t {
    no,
    possible,  // every examined line fits, but no mark is unique to this form
    certain    // a mark unique to this form was found
  };
  Sure sure = Sure::no;
  std::string because = {};       // a clause: "its first line has the columns of perf lock"
  std::int64_t first_misfit = 0;  // number of the first line that does not fit; 0: the format has no lines
  [[nodiscard]] bool fits() const { return sure != Sure::no; }
};

// Reads the files and writes their content. If there are several, each is one CPU's. Errors: TraceError with the line or
// record; trace::WriteError.
using ConvertTrace = std::function<Losses(const std::vector<std::filesystem::path>& files, trace::Writer& out)>;
// Errors: TraceError with the line.
using ReadLocks = std::function<LockStatisticsFile(const std::filesystem::path& file)>;

struct Form {
  std::string_view name;  // for --as and --from
  FormKind kind = FormKind::trace;
  std::string_view what;   // a noun phrase
  std::string_view marks;  // what identifies it, as a noun phrase
  std::function<Likeness(const Excerpt&)> likeness;
  ConvertTrace convert = {};  // for traces
  ReadLocks read_locks = {};  // for lock statistics
  bool joins_files = false;   // true: several files make one trace or one experiment
};
using MakeForm = Form();

// In the order in which messages list them.
const std::vector<Form>& all_forms();
// Returns nullptr if no form has this name.
const Form* form_named(std::string_view name);

struct FormCandidate {
  const Form* form = nullptr;
  Likeness likeness;
};

struct Recognised {
  std::vector<FormCandidate> candidates;  // one: recognised; several: ambiguous; none: unknown
  std::string why_none;  // if there are no candidates: sentences with what was looked for and the first line that does not fit
};

Recognised recognise(const Excerpt& excerpt);

// Converts the files completely: finishes `out`, and prints what the files lack. `command`: the command line, for the
// summary. Errors: as for ConvertTrace.
Losses convert_files(const Form& form, const std::vector<std::filesystem::path>& files, const std::filesystem::path& out);

// For a form whose lines all look alike: possible if the excerpt has lines and all of them match.
Likeness likeness_of_lines(const Excerpt& excerpt, const std::function<bool(std::string_view)>& fits);
// Certain if `it_is`.
Likeness certain_if(bool it_is, std::string_view because);

}  // namespace linebounce::sim
