// Recognises the form of a file from another tool, for every command that reads such files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "forms/forms.hpp"
#include "sim/terminal/terminal.hpp"

namespace linebounce::sim {

struct FormQuestion {
  std::filesystem::path file;
  std::string as = {};               // the form that the user named; empty: recognise it
  std::vector<FormKind> kinds = {};  // kinds of form that the command reads; empty: all except Linebounce's own
  std::string option = "--as";       // the option that names a form
  std::string command = {};          // the command line to repeat in messages: "linebounce import x.txt"
};

struct ChosenForm {
  const Form* form;
  std::string because;  // why this form was chosen, as a clause; empty: the user named it
  bool is_certain = true;
};

// Returns the file's form. If several are possible, asks the user on the terminal. Errors: ConfigError if `as` is not a
// form's name, or the file is of no known form, belongs to another command, or is ambiguous. The message says what to do.
ChosenForm choose_form(const FormQuestion& question, const Excerpt& excerpt);

// Throws if the word names a file of another tool. For commands that take a name or one of Linebounce's own files; any other
// word passes. Errors: ConfigError, with the command that takes such a file.
void refuse_foreign_file(const std::string& word);

// One line for each loss or doubt about the file's data; empty if there is none.
std::string losses_text(const Losses& losses, const Painter& paint);

}  // namespace linebounce::sim
