// What other tools write, in one table: a row for each form, by which `import`, `trace convert`, `calibrate --from` and
// `describe layout` recognise a file by its content.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/sources/excerpt.hpp"
#include "sim/sources/lock_statistics.hpp"
#include "sim/sources/losses.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

// What a form becomes; `own`: it is Linebounce's already.
enum class FormKind : std::uint8_t { trace, locks, lines, machine, layout, litmus, own };

// "a trace", "statistics of locks"
std::string_view noun_of(FormKind kind);

struct Likeness {
  enum class Sure : std::uint8_t {
    no,
    possible,  // every line that was looked at fits, and none is a mark that only this form has
    certain    // such a mark is there
  };
  Sure sure = Sure::no;
  std::string because = {};       // "its first line has the columns of perf lock", a clause
  std::int64_t first_misfit = 0;  // the number of the first line that does not fit; 0: lines are not told apart
  [[nodiscard]] bool fits() const { return sure != Sure::no; }
};

// Reads the files and writes what they hold. Several files: each is one CPU's. Errors: TraceError with the line or record;
// trace::WriteError.
using ConvertTrace = std::function<Losses(const std::vector<std::filesystem::path>& files, trace::Writer& out)>;
// Errors: TraceError with the line.
using ReadLocks = std::function<LockStatisticsFile(const std::filesystem::path& file)>;

struct Form {
  std::string_view name;  // for --as and --from
  FormKind kind = FormKind::trace;
  std::string_view what;   // a noun phrase
  std::string_view marks;  // by what it is recognised, a noun phrase
  std::function<Likeness(const Excerpt&)> likeness;
  ConvertTrace convert = {};  // of a trace
  ReadLocks read_locks = {};  // of statistics of locks
  bool joins_files = false;   // several files make one trace
};
using MakeForm = Form();

// In the order in which they are listed.
const std::vector<Form>& all_forms();
// nullptr: there is none of this name.
const Form* form_named(std::string_view name);
std::vector<std::string> form_names();

struct FormCandidate {
  const Form* form = nullptr;
  Likeness likeness;
};

struct Recognised {
  std::vector<FormCandidate> candidates;  // one: it is that; several: it may be each; none: it is nothing known
  std::string why_none;                   // then: what was looked for and the first line that fits nothing, sentences
};

Recognised recognise(const Excerpt& excerpt);

// A whole conversion: `out` is finished, and says what is missing, too. `command`: what made it, for the summary. Errors: as
// ConvertTrace.
Losses convert_files(const Form& form, const std::vector<std::filesystem::path>& files, const std::filesystem::path& out);

// Of a form whose lines each have to fit: possible if all lines of the excerpt do, and there is one.
Likeness likeness_of_lines(const Excerpt& excerpt, const std::function<bool(std::string_view)>& fits);
// Certain, if it is.
Likeness certain_if(bool it_is, std::string_view because);

}  // namespace linebounce::sim
