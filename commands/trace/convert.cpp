// `linebounce trace convert`: converts traces between binary and text form. The forms of other programs are in
// forms/forms.cpp.
#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "commands/common/command.hpp"
#include "forms/own_forms.hpp"
#include "forms/recognised.hpp"
#include "models/text/shell_word.hpp"
#include "sim/plan/unfinished_file.hpp"
#include "sim/point/config_error.hpp"
#include "trace/copy.hpp"
#include "trace/files.hpp"
#include "trace/limits.hpp"
#include "trace/recover.hpp"
#include "trace/word_locks.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConvertFooter = R"(Examples:
  linebounce trace convert pool.lbt pool.txt             to read it: one line per operation
  linebounce trace convert pool.txt pool.lbt             and back, with nothing lost
  linebounce trace convert --recover torn.lbt whole.lbt  what a damaged file still holds
  linebounce trace convert --word-locks spin.lbt locks.lbt
      words that behave like locks (`trace info` names them) become locks, which replays can replace
  linebounce trace convert lackey.log ls.lbt --from lackey
      of: valgrind --tool=lackey --trace-mem=yes --log-file=lackey.log ls
  linebounce trace convert perf.txt server.lbt --from perf-script
      of: perf mem record ...; perf script -F comm,pid,tid,cpu,time,event,addr,data_src,ip,sym > perf.txt

OUT is text if its name ends in .txt. It appears when it is complete: a conversion that fails or is interrupted leaves the
previous file. A text holds one stream after the other; recorders that write text themselves may interleave them.)";

struct ConvertArguments {
  std::string in;
  std::string out;
  std::string from;
  bool recover = false;
  bool word_locks = false;
};

void from_trace(const ConvertArguments& arguments) {
  trace::Reader reader(arguments.in, {.recover = arguments.recover});
  if (arguments.recover) trace::keep_what_makes_sense(reader);
  if (!reader.damage().empty()) std::cerr << "linebounce: " << arguments.in << " is damaged:\n" << reader.damage() << "\n";
  const trace::Limits limits = trace::stated_limits(reader);
  for (const trace::Limit& limit : limits.all()) {
    if (reader.damage().empty() || limit.name != trace::facts_of(Loss::damaged).name)
      std::cerr << "linebounce: " << arguments.in << ": " << limit.sentence << "\n";
  }
  UnfinishedFile file(arguments.out);
  trace::Writer writer(file.path());
  if (arguments.word_locks) {
    trace::copy_with_locks(reader, trace::word_locks(reader), writer);
  } else {
    trace::copy(reader, writer);
  }
  file.finish();
}

// Converts another tool's file, and prints what that file does not contain. The trace stores this list, too, but there it is
// easily overlooked.
void from_foreign(const Form& form, const ConvertArguments& arguments) {
  UnfinishedFile file(arguments.out);
  const Losses losses = convert_files(form, {arguments.in}, file.path());
  file.finish();
  std::cout << losses_text(losses, painter_for_stdout());
}

// The form of another tool's file. nullptr for a Linebounce trace, and for a damaged file, about which the trace reader says
// more.
const Form* form_asked_for(const ConvertArguments& arguments) {
  constexpr std::string_view kOwn = "trace";
  if (arguments.from == kOwn || arguments.recover) return nullptr;
  const FormQuestion question{
      .file = arguments.in,
      .as = arguments.from,
      .kinds = {FormKind::trace},
      .option = "--from",
      .command = fmt::format("linebounce trace convert {} {}", shell_word(arguments.in), shell_word(arguments.out))};
  if (!arguments.from.empty()) return choose_form(question, {}).form;
  const Excerpt excerpt = excerpt_of(arguments.in);
  const bool may_be_damaged = !excerpt.is_text && recognise(excerpt).candidates.empty();
  if (is_own_trace(excerpt) || may_be_damaged) return nullptr;
  return choose_form(question, excerpt).form;
}

ExitCode convert(const ConvertArguments& arguments) {
  std::error_code ignored;
  if (fs::equivalent(arguments.in, arguments.out, ignored)) {
    throw ConfigError(fmt::format("{}: OUT is the file that is read; name another", arguments.out));
  }
  trace::require_trace_name("OUT", arguments.out);
  const Form* form = form_asked_for(arguments);
  if (form == nullptr) {
    from_trace(arguments);
    return ExitCode::done;
  }
  if (arguments.word_locks)
    throw ConfigError("--word-locks looks for locks in a trace: convert it first, then the trace again");
  from_foreign(*form, arguments);
  return ExitCode::done;
}

std::string from_meaning() {
  std::string text = "The form of IN, where its content does not tell it: trace";
  for (const Form& form : all_forms()) {
    if (form.kind == FormKind::trace) text += fmt::format("; {}: {}", form.name, form.what);
  }
  return text;
}

}  // namespace

void add_trace_convert(Command& trace) {
  auto arguments = std::make_shared<ConvertArguments>();
  Command command = trace.child("convert", "Convert a trace between its binary and its text form, or other programs' traces");
  command.option("IN", "", &arguments->in, "A trace, binary or text, or in the format that --from names").required();
  command.option("OUT", "", &arguments->out, "The file to write: NAME.lbt, or NAME.txt as text").required();
  command.option("--from", "FORMAT", &arguments->from, from_meaning());
  command.flag("--recover", arguments->recover,
               "Keep what comes before the first damage of each stream, as far as it can be replayed");
  command.flag("--word-locks", arguments->word_locks, "Turn words that behave like locks into locks");
  command.footer(kConvertFooter);
  command.action([arguments] { return convert(*arguments); });
}

}  // namespace linebounce::sim
