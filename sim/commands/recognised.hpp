// The form of a user's file, for every command that reads what other tools write.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/sources/forms.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

struct FormQuestion {
  std::filesystem::path file;
  std::string as = {};               // the user's choice of a form; empty: by the content
  std::vector<FormKind> kinds = {};  // that the command reads; empty: all but Linebounce's own
  std::string option = "--as";       // by which the user chooses
  std::string command = {};          // how the user calls again, "linebounce import x.txt"
};

// The one that the file has; where it may be several, a terminal is asked. Errors: ConfigError with what to do: for a name that
// is no form's, for a file that is nothing known or something for another command, and for one that may be several things;
// trace::TraceError if the file can't be read.
const Form& chosen_form(const FormQuestion& question);
// The same, with why: what the user is told.
struct ChosenForm {
  const Form* form;
  std::string because;  // a clause; empty: the user said so
  bool is_certain = true;
};
ChosenForm choose_form(const FormQuestion& question, const Excerpt& excerpt);

// For a command that takes a name or a file of Linebounce's own. Errors: ConfigError if the word is a file of another tool,
// with the command that takes it; nothing happens for all else.
void refuse_foreign_file(const std::string& word);

// What of a file's data was lost or is in doubt, a line each; empty: nothing.
std::string losses_text(const Losses& losses, const Painter& paint);

}  // namespace linebounce::sim
