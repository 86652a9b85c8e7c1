// Recognises the form of a user's file, for every command that reads other tools' output.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/sources/forms.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

struct FormQuestion {
  std::filesystem::path file;
  std::string as = {};               // the form that the user chose; empty: recognise it
  std::vector<FormKind> kinds = {};  // the kinds that the command reads; empty: all but Linebounce's own
  std::string option = "--as";       // the option with which the user chooses
  std::string command = {};          // the command line to repeat: "linebounce import x.txt"
};

struct ChosenForm {
  const Form* form;
  std::string because;  // why this form was chosen, as a clause; empty: the user chose it
  bool is_certain = true;
};

// Returns the file's form. If several are possible, asks the user on the terminal. Errors: ConfigError if `as` is not a
// form's name, or the file is of no known form, belongs to another command, or is ambiguous. The message says what to do.
ChosenForm choose_form(const FormQuestion& question, const Excerpt& excerpt);

// For commands that take a name or one of Linebounce's own files: refuses a file of another tool, and does nothing for any
// other word. Errors: ConfigError, with the command that takes such a file.
void refuse_foreign_file(const std::string& word);

// One line for each thing that the file's data lack or that is doubtful; empty if there is none.
std::string losses_text(const Losses& losses, const Painter& paint);

}  // namespace linebounce::sim
