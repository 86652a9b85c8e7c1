// The form of a user's file, for every command that reads what other tools write.
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
  std::vector<FormKind> kinds = {};  // those that the command reads; empty: all but Linebounce's own
  std::string option = "--as";       // the option with which the user chooses
  std::string command = {};          // the command line to repeat: "linebounce import x.txt"
};

struct ChosenForm {
  const Form* form;
  std::string because;  // a clause; empty: the user chose it
  bool is_certain = true;
};

// Returns the file's form; if it may have several, asks the user on a terminal. Errors: ConfigError with what to do if the name
// is not that of a form, or the file is unknown, for another command, or ambiguous.
ChosenForm choose_form(const FormQuestion& question, const Excerpt& excerpt);

// For commands that take a name or one of Linebounce's own files. Does nothing unless the word is a file of another tool.
// Errors: ConfigError with the command that takes such a file.
void refuse_foreign_file(const std::string& word);

// A line for each thing that a file's data lack or that is in doubt; empty if there are none.
std::string losses_text(const Losses& losses, const Painter& paint);

}  // namespace linebounce::sim
