// A table of the file formats that other tools write. Commands use it to recognise a file by its content: `import`, `trace
// convert`, `calibrate --from` and `describe layout`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "forms/excerpt.hpp"
#include "forms/import_losses.hpp"
#include "forms/lock_statistics.hpp"
#include "forms/machine_topology.hpp"
#include "trace/writer.hpp"

namespace linebounce::sim {

// What a file of this form becomes. `own`: Linebounce itself wrote the file.
enum class FormKind : std::uint8_t { trace, locks, lines, machine, layout, litmus, own };

// The kind for messages: "a trace", "statistics of locks".
std::string_view noun_of(FormKind kind);

struct Likeness {
  enum class Sure : std::uint8_t {
    no,
    possible,  // every examined line fits, but other forms may have such lines, too
    certain    // the excerpt contains something that only this form has
  };
  Sure sure = Sure::no;
  std::string because = {};       // the reason, as a clause: "its first line has the columns of perf lock"
  std::int64_t first_misfit = 0;  // number of the first line that does not fit; 0: none, or the format is binary
  [[nodiscard]] bool fits() const { return sure != Sure::no; }
};

// Reads the files and writes their operations to `out`. Several files are the traces of one CPU each. Errors: TraceError with
// the line or record; trace::WriteError.
using ConvertTrace = std::function<Losses(const std::vector<std::filesystem::path>& files, trace::Writer& out)>;
// Errors: TraceError with the line.
using ReadLocks = std::function<LockStatisticsFile(const std::filesystem::path& file)>;

// Reads the processor, its clock and its caches, as far as the text states them.
using ReadFacts = std::function<MachineTopology(const std::string& text)>;
// Errors: TraceError. `file`: for messages.
using ReadStructure = std::function<MachineTopology(const std::string& text, const std::string& file)>;

struct Form {
  std::string_view name;  // for --as and --from
  FormKind kind = FormKind::trace;
  std::string_view what;   // a noun phrase
  std::string_view marks;  // what identifies the form, as a noun phrase
  std::function<Likeness(const Excerpt&)> likeness;
  ConvertTrace convert = {};          // for traces
  ReadLocks read_locks = {};          // for lock statistics
  ReadStructure read_structure = {};  // for descriptions of which CPUs share what
  ReadFacts read_facts = {};          // for descriptions of the processor that may lack its CPUs
  std::string_view extension = {};    // of files' names, if the form alone has it: ".din"
  bool joins_files = false;           // true: several files become one trace or experiment
};
using MakeForm = Form();

// In the order in which messages list them.
const std::vector<Form>& all_forms();
// The forms of types/listing.hpp.
std::vector<Form> listing_forms();
// Returns nullptr if no form has this name.
const Form* form_named(std::string_view name);

struct FormCandidate {
  const Form* form = nullptr;
  Likeness likeness;
};

struct Recognised {
  std::vector<FormCandidate> candidates;  // one: recognised; several: ambiguous; none: see `why_none`
  std::string why_none;                   // sentences that say what was looked for, and which line does not fit
};

Recognised recognise(const Excerpt& excerpt);

// Converts the files to a trace, finishes it, and prints what the files don't contain. Errors: as for ConvertTrace.
Losses convert_files(const Form& form, const std::vector<std::filesystem::path>& files, const std::filesystem::path& out);

// For a form whose lines all look alike: possible if the excerpt has lines and `fits` accepts all of them.
Likeness likeness_of_lines(const Excerpt& excerpt, const std::function<bool(std::string_view)>& fits);
// Certain if `it_is`.
Likeness certain_if(bool it_is, std::string_view because);

}  // namespace linebounce::sim
