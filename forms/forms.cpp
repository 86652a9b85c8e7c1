#include "forms/forms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "models/listed.hpp"
#include "models/ordinal.hpp"
#include "models/text/visible.hpp"
#include "trace/error.hpp"
#include "trace/read_problem.hpp"

namespace linebounce::sim {

std::string_view noun_of(FormKind kind) {
  constexpr std::array<std::string_view, 7> kNouns = {
      "a trace", "statistics of locks", "cache lines", "a machine", "a layout", "a litmus test", "a file of Linebounce's own"};
  return kNouns[ordinal(kind)];
}

const std::vector<Form>& all_forms() {
  static const std::vector<Form> kForms = [] {
    std::vector<Form> forms = {
        LISTED(MakeForm, ordered_form)(),
        LISTED(MakeForm, read_write_form)(),
        LISTED(MakeForm, per_core_form)(),
        LISTED(MakeForm, smpcache_form)(),
        LISTED(MakeForm, dinero_form)(),
        LISTED(MakeForm, pinatrace_form)(),
        LISTED(MakeForm, gem5_packets_form)(),
        LISTED(MakeForm, lackey_form)(),
        LISTED(MakeForm, champsim_form)(),
        LISTED(MakeForm, dramsim_form)(),
        LISTED(MakeForm, ramulator_form)(),
        LISTED(MakeForm, cadss_form)(),
        LISTED(MakeForm, task_graph_form)(),
        LISTED(MakeForm, trf_form)(),
        LISTED(MakeForm, trf_timed_form)(),
        LISTED(MakeForm, drmemtrace_form)(),
        LISTED(MakeForm, perf_script_form)(),
        LISTED(MakeForm, perf_data_form)(),
        LISTED(MakeForm, perf_c2c_form)(),
        LISTED(MakeForm, access_table_form)(),
        LISTED(MakeForm, lock_stat_form)(),
        LISTED(MakeForm, perf_lock_form)(),
        LISTED(MakeForm, perf_lock_csv_form)(),
        LISTED(MakeForm, klockstat_form)(),
        LISTED(MakeForm, lockmeter_form)(),
        LISTED(MakeForm, mutrace_form)(),
        LISTED(MakeForm, freebsd_lock_prof_form)(),
        LISTED(MakeForm, bpftrace_form)(),
        LISTED(MakeForm, matrix_form)(),
        LISTED(MakeForm, mctop_form)(),
        LISTED(MakeForm, probe_form)(),
        LISTED(MakeForm, lscpu_form)(),
        LISTED(MakeForm, lstopo_form)(),
        LISTED(MakeForm, coreinfo_form)(),
        LISTED(MakeForm, sysctl_form)(),
        LISTED(MakeForm, mlc_form)(),
        LISTED(MakeForm, numa_form)(),
        LISTED(MakeForm, dmi_form)(),
    };
    for (Form& form : listing_forms()) forms.push_back(std::move(form));
    for (MakeForm* const make : {LISTED(MakeForm, dwarf_form), LISTED(MakeForm, litmus_form), LISTED(MakeForm, own_trace_form),
                                 LISTED(MakeForm, own_toml_form), LISTED(MakeForm, own_program_form)})
      forms.push_back(make());
    return forms;
  }();
  return kForms;
}

const Form* form_named(std::string_view name) {
  const auto found = std::ranges::find(all_forms(), name, &Form::name);
  return found == all_forms().end() ? nullptr : &*found;
}

Likeness certain_if(bool it_is, std::string_view because) {
  return it_is ? Likeness{Likeness::Sure::certain, std::string(because)} : Likeness{};
}

Likeness likeness_of_lines(const Excerpt& excerpt, const std::function<bool(std::string_view)>& fits) {
  if (excerpt.lines.empty()) return {};
  const auto misfit = std::ranges::find_if(excerpt.lines, [&](const Excerpt::Line& line) { return !fits(line.text); });
  if (misfit != excerpt.lines.end()) return {.first_misfit = misfit->number};
  return {.sure = Likeness::Sure::possible,
          .because = fmt::format("{} has that form", excerpt.lines.size() == 1 ? "its only line"
                                                     : excerpt.whole           ? "each of its lines"
                                                                               : "each of its first lines")};
}

namespace {

constexpr std::size_t kShownOfLine = 60;

// Names the form that fits the longest beginning of the file, and the first line that does not fit it.
std::string first_misfit_text(const Excerpt& excerpt, const std::vector<FormCandidate>& misfits) {
  if (!excerpt.is_text) return "It is not text, and does not begin like any known binary form.";
  if (excerpt.lines.empty()) return "It is empty.";
  std::int64_t furthest = excerpt.lines.front().number;
  const Form* nearest = nullptr;
  for (const FormCandidate& one : misfits) {
    if (one.likeness.first_misfit <= furthest) continue;
    furthest = one.likeness.first_misfit;
    nearest = one.form;
  }
  const auto line = std::ranges::find(excerpt.lines, furthest, &Excerpt::Line::number);
  const std::string shown = line == excerpt.lines.end() ? "" : visible_name(line->text.substr(0, kShownOfLine));
  if (nearest == nullptr) return fmt::format("Line {} matches no known form: \"{}\"", furthest, shown);
  return fmt::format("Up to line {} it could be {} ({}), but line {} matches no known form: \"{}\"", furthest - 1,
                     nearest->name, nearest->what, furthest, shown);
}

// Output that has no form, because it lacks what each kind needs: how it is recognised, what is missing, and what has it.
struct Unusable {
  std::string_view mark, other_mark, text;
};
constexpr std::array kUnusable = {
    Unusable{"Memory access", "Data Symbol",
             "perf mem report, which sums samples and has no order, threads or offsets: perf mem report -D, perf script or "
             "perf c2c report --stdio has them"},
    Unusable{"struct ", "preserve_access_index",
             "C declarations of BTF, which have no offsets: bpftool btf dump ... format raw has them, and pahole"},
    Unusable{"Cacheline 0x", "rmt hitm",
             "one line of perf c2c's terminal browser, which has shares and no counts: perf c2c report --stdio has both"},
    Unusable{"|OP ", "|LVL ",
             "samples of perf script without their thread or address: perf script -F comm,pid,tid,cpu,time,event,addr,weight,"
             "data_src,ip,sym has both"},
    Unusable{"Thread ID", "comm", "perf lock info, which has no times: perf lock contention and perf lock report have them"},
    Unusable{"Address of instance", "name of class",
             "perf lock info, which has no times: perf lock contention and perf lock report have them"},
    Unusable{"physical id", "core id",
             "/proc/cpuinfo, which names neither caches nor NUMA nodes: lscpu -J -e has them, and lstopo --of xml"},
    Unusable{"Hardware Thread Topology", "Socket",
             "likwid-topology's output: what it says of cores, caches and nodes is read from lscpu -J -e or lstopo --of xml"},
    Unusable{"Core:", "PU:",
             "hwloc's synthetic description of a machine: lstopo --if synthetic --input DESCRIPTION --of xml has "
             "the form that is read"},
    Unusable{"/topology/core_id", "/topology/physical_package_id",
             "files of /sys/devices/system/cpu: lscpu -J -e reads them, and its output has the form that is read"},
    Unusable{"CPU(s):", "x86_64",
             "lscpu's output in another language or in part: LC_ALL=C lscpu -J -e has the form that is read"},
    Unusable{"type = Type ", "End Type ",
             "gdb's ptype of a Fortran type, of which even ptype /o prints no offsets: import the program itself, with "
             "--structure NAME"},
    Unusable{"type = record", "end record",
             "gdb's ptype of an Ada record, of which even ptype /o prints no offsets: import the program itself, with "
             "--structure NAME"},
    Unusable{"Witnesses", "Positive:", "what herd prints about a litmus test: import the test itself, its .litmus file"},
};

std::string why_none(const Excerpt& excerpt, const std::vector<FormCandidate>& misfits) {
  for (const Unusable& one : kUnusable) {
    if (excerpt.is_text && excerpt.has(one.mark) && excerpt.has(one.other_mark)) return std::string(one.text);
  }
  std::string text = "not in a known form. " + first_misfit_text(excerpt, misfits) + "\nKnown forms:";
  for (const Form& form : all_forms()) text += fmt::format("\n  {:<13} {}: {}", form.name, form.what, form.marks);
  return text;
}

// If several forms are possible and the file's name ends as those of one of them do, keeps that one.
void choose_by_name(std::vector<FormCandidate>& possible, const std::string& name) {
  const auto named = [&name](const FormCandidate& one) {
    return !one.form->extension.empty() && name.ends_with(one.form->extension);
  };
  if (possible.size() < 2 || std::ranges::count_if(possible, named) != 1) return;
  std::erase_if(possible, [&](const FormCandidate& one) { return !named(one); });
  possible.front().likeness.because += fmt::format(", and its name ends in {}", possible.front().form->extension);
}

}  // namespace

Recognised recognise(const Excerpt& excerpt) {
  std::vector<FormCandidate> certain, possible, misfits;
  for (const Form& form : all_forms()) {
    FormCandidate candidate{&form, form.likeness(excerpt)};
    const Likeness::Sure sure = candidate.likeness.sure;
    (sure == Likeness::Sure::certain    ? certain
     : sure == Likeness::Sure::possible ? possible
                                        : misfits)
        .push_back(std::move(candidate));
  }
  choose_by_name(possible, excerpt.name);
  Recognised recognised{certain.empty() ? std::move(possible) : std::move(certain), {}};
  if (recognised.candidates.empty()) recognised.why_none = why_none(excerpt, misfits);
  return recognised;
}

Losses convert_files(const Form& form, const std::vector<std::filesystem::path>& files, const std::filesystem::path& out) {
  // Checks the files before the writer creates `out`, which may be one of them.
  std::vector<std::string> names;
  for (const std::filesystem::path& file : files) {
    if (!std::filesystem::exists(file)) throw trace::TraceError(read_problem(file.string(), ENOENT));
    names.push_back(file.filename().string());
  }
  trace::Writer writer(out);
  trace::Summary summary;
  summary.program = fmt::format("{}", fmt::join(names, " "));
  summary.recorder = fmt::format("linebounce import {} --as {}", summary.program, form.name);
  const Losses losses = form.convert(files, writer);
  summary.missing = losses.sentences();
  writer.finish(summary);
  return losses;
}

}  // namespace linebounce::sim
