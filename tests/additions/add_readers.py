"""Additions to what reads traces, listings, litmus tests and recordings."""

from addition import Clone, addition, after, before, instead, row

MODEL = """# Each variable has one order of its accesses, and nothing else.

title "coherence alone"

let communication = rf | co | fr

rule coherence: acyclic (po & loc) | communication
  "Accesses of one variable have one order, which keeps each thread's program order."

rule atomicity: empty rmw & ((fr & ext) ; (co & ext))
  "No other thread's store comes between the load and the store of an atomic operation."
"""
LITMUS = """X86 sample
{ }
 P0 | P1 ;
 MOV [x],$1 | MOV [y],$1 ;
 SAMPLEFENCE | SAMPLEFENCE ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
"""
VERDICTS = "litmus/tests/x86_verdicts_test.cpp"


def judged(clone: Clone, text: str, *options: str) -> str:
    test = clone.folder / "out" / "sample.litmus"
    test.parent.mkdir(exist_ok=True)
    test.write_text(text, encoding="utf-8")
    return clone.linebounce("import", test, *options)


@addition(
    "memory model",
    "litmus/models/README.md",
    files={
        "litmus/models/sample.model": MODEL,
        "litmus/tests/sample_model_test.cpp": """#include "litmus/tests/shape.hpp"

namespace linebounce::sim::litmus {
namespace {

TEST(SampleModel, LetsLoadsPassStoresAndKeepsEachVariablesOrder) {
  for (const Shape& shape : {
           Shape{"Loads pass", {"MOV [x],$1; MOV EAX,[y]", "MOV [y],$1; MOV EAX,[x]"}, "0:EAX=0 /\\\\ 1:EAX=0", kAllowed},
           Shape{"No value comes back", {"MOV [x],$1", "MOV EAX,[x]; MOV EBX,[x]"}, "1:EAX=1 /\\\\ 1:EBX=0", kForbidden},
       })
    expect_verdict(shape, column_text("X86", shape), "sample");
}

}  // namespace
}  // namespace linebounce::sim::litmus
""",
    },
    row=row("litmus/models/README.md", "| `ia64` |", "| `sample` | with `--model sample` | nobody |"),
    targets=("test_litmus",),
)
def model(clone: Clone) -> None:
    clone.ctest("test_litmus", "SampleModel.*")
    assert "coherence alone" in judged(clone, LITMUS.replace(" SAMPLEFENCE | SAMPLEFENCE ;\n", ""), "--model", "sample")


@addition(
    "instruction or primitive of litmus tests",
    "litmus/README.md",
    edits=(
        instead(
            "litmus/read_x86.cpp",
            '    if (name == "MFENCE") out_.fence(tag(Tag::full_fence));\n',
            '    if (name == "MFENCE" || name == "SAMPLEFENCE") out_.fence(tag(Tag::full_fence));\n',
        ),
        after("litmus/read_x86.cpp", '    return name == "MFENCE" ||', ' name == "SAMPLEFENCE" ||'),
        after("litmus/read_x86.cpp", "CMP, TEST, JMP, Jcc, MFENCE, ", "SAMPLEFENCE, "),
        before(
            VERDICTS,
            '      {"LFENCE does not", ',
            '      {"SAMPLEFENCE, too",\n'
            '       {"MOV [x],$1; SAMPLEFENCE; MOV EAX,[y]", "MOV [y],$1; SAMPLEFENCE; MOV EAX,[x]"},\n'
            "       kX86Missed,\n       kForbidden},\n",
        ),
    ),
    targets=("test_litmus",),
)
def instruction(clone: Clone) -> None:
    clone.ctest("test_litmus", "*X86*")
    assert "never" in judged(clone, LITMUS).lower()


@addition(
    "form of other tools' data",
    "forms/README.md",
    files={
        "forms/sample_form.cpp": """// Reads lines "touch ADDRESS", of one thread.
#include <string_view>

#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

std::optional<AddressLine> touched_line(std::string_view text) {
  constexpr std::string_view kTouch = "touch ";
  if (!text.starts_with(kTouch)) return std::nullopt;
  const auto address = hexadecimal(text.substr(kTouch.size()));
  if (!address) return std::nullopt;
  return AddressLine{.what = AddressLine::What::load, .address = *address};
}

constexpr AddressGrammar kTouched{
    .source = "A sample", .expected = "\\"touch\\" and a hexadecimal address", .parse = touched_line};

}  // namespace

Form sample_form() {
  return {.name = "sample",
          .what = "lines that a sample touches",
          .marks = "touch ADDRESS",
          .likeness = likeness_of(kTouched),
          .convert = convert_lines_of(kTouched)};
}

}  // namespace linebounce::sim
""",
        "commands/import/tests/test_import_sample.py": '''"""A form that is a sample."""

from pathlib import Path

from imported import accesses, imported
from program import Program


def test_the_sample_is_recognised_and_has_its_accesses(linebounce: Program) -> None:
    said = imported(linebounce, "touched.txt", "touch 4000\\ntouch 4008\\n", "-o", "t.lbt")
    assert "touched.txt: sample" in said
    (stream,) = accesses(Path(linebounce.directory) / "t.lbt")
    assert len(stream[1]) == 2
''',
    },
    edits=(
        after(
            "forms/forms.cpp",
            "        LISTED(MakeForm, numa_form)(),\n",
            "        LISTED(MakeForm, sample_form)(),\n",
        ),
        row("docs/import.md", "| `ordered` |", "| `sample` | `touch ADDRESS` | a trace |"),
    ),
    row=row("forms/README.md", "| `mutrace.cpp` |", "| `sample_form.cpp` | a sample |"),
)
def form(clone: Clone) -> None:
    clone.pytest("commands/import/tests/test_import_sample.py")
    clone.pytest("commands/import/tests/test_import_recognised.py")


@addition(
    "form of listings of structures",
    "types/README.md",
    files={
        "types/sample_listing.hpp": """// The form of a sample.
#pragma once

#include "types/listing.hpp"

namespace linebounce::types {

ListingForm sample_listing_form();

}  // namespace linebounce::types
""",
        "types/sample_listing.cpp": """// A structure as "sample NAME BYTES", with one member.
#include "types/sample_listing.hpp"

#include <sstream>

#include "types/named_types.hpp"

namespace linebounce::types {
namespace {

Listing read_sample(const ListingInput& input) {
  std::istringstream text{std::string(input.bytes)};
  std::string word, name;
  std::int64_t bytes = 0;
  NamedTypes types;
  while (text >> word >> name >> bytes) {
    Outline outline{.name = name, .size = bytes};
    outline.members.push_back({.name = "all", .bit_offset = 0, .bytes = bytes});
    types.add(std::move(outline));
  }
  Listing listing = types.listing();
  listing.origin = "a sample";
  return listing;
}

}  // namespace

ListingForm sample_listing_form() {
  return {.name = "sample-listing",
          .what = "a sample's listing",
          .marks = "sample NAME BYTES",
          .because = "it begins with \\"sample\\"",
          .is_like = [](std::string_view text) { return text.starts_with("sample "); },
          .read = read_sample};
}

}  // namespace linebounce::types
""",
        "tests/types/sample_listing_test.cpp": """#include <gtest/gtest.h>

#include "tests/types/listings.hpp"

namespace linebounce::types {
namespace {

TEST(SampleListing, HasOneMember) {
  const Listing listing = listing_of("sample job 16\\n");
  const Type* const job = structure_in(listing, "job");
  ASSERT_NE(job, nullptr);
  EXPECT_EQ(job->size, 16);
  EXPECT_EQ(job->members.size(), 1U);
}

}  // namespace
}  // namespace linebounce::types
""",
    },
    edits=(
        after("types/listings.cpp", '#include "types/record_layouts.hpp"\n', '#include "types/sample_listing.hpp"\n'),
        after("types/listings.cpp", "jol_form(), structlayout_form(),", " sample_listing_form(),"),
        row("docs/import.md", "| `structlayout` |", "| `sample-listing` | `sample NAME BYTES` | a layout |"),
    ),
    row=row("types/README.md", "| `jol.*`", "| `sample_listing.*` | a sample |"),
    targets=("test_types",),
)
def listing(clone: Clone) -> None:
    clone.ctest("test_types", "SampleListing.*")
    text = clone.folder / "out" / "sample_listing.txt"
    text.parent.mkdir(exist_ok=True)
    text.write_text("sample job 16\n", encoding="utf-8")
    assert "job" in clone.linebounce("import", text)


@addition(
    "way to lose data",
    "trace/README.md",
    edits=(
        before("trace/losses.hpp", "  file_is_a_cpu,\n", "  sample_lost,\n"),
        before(
            "trace/losses.hpp",
            '    {"file_is_a_cpu", Severity::note,',
            '    {"sample_lost", Severity::note, "{0} is a sample, which loses nothing."},\n',
        ),
        after(
            "forms/address_lines.cpp",
            "losses.add(grammar_.keeps_order ? Loss::order_kept : Loss::no_order, source);\n",
            "      losses.add(Loss::sample_lost, source);\n",
        ),
        after(
            "commands/import/tests/test_import_traces.py",
            '    assert "order_kept" in said\n',
            '    assert "sample_lost" in said\n',
        ),
    ),
    targets=("test_trace",),
)
def loss(clone: Clone) -> None:
    clone.ctest("test_trace", "*Loss*")
    clone.pytest("commands/import/tests/test_import_traces.py", "replayed_in_that_order")


@addition(
    "kind of trace operation",
    "trace/README.md",
    edits=(
        after("trace/operation.hpp", "  blocked = 34,\n", "  sample = 35,  // does nothing\n"),
        instead("trace/operation.hpp", "constexpr int kKinds = 35;", "constexpr int kKinds = 36;"),
        after(
            "trace/operation.hpp",
            '    {"blocked", Names::nothing, true, 0, false, kMostCount},\n',
            '    {"sample", Names::nothing, false, 0, false},\n',
        ),
        row("docs/trace-format.md", "| 34 | `blocked`", "| 35 | `sample` | | does nothing |"),
        after(
            "analysis/linebounce/trace_symbols.py", '"INTERRUPTS_OFF INTERRUPTS_ON HANDLER HANDLER_END TALLY BLOCKED', " SAMPLE"
        ),
        after("workloads/replay/player.cpp", "    case Kind::clock: cpu.now(); break;\n", "    case Kind::sample: break;\n"),
        after(
            "tests/trace/sample.cpp", "          {Kind::blocked, 0, 0, 0, 1500},\n", "          {Kind::sample, 0, 0, 0, 0},\n"
        ),
    ),
    targets=("test_trace",),
)
def kind_of_operation(clone: Clone) -> None:
    clone.ctest("test_trace")
    clone.pytest("tests/analysis/test_trace.py")
    text = clone.folder / "out" / "kinds.txt"
    text.parent.mkdir(exist_ok=True)
    text.write_text("linebounce trace 1\nstream a\na sample\na clock\nend\n", encoding="utf-8")
    clone.linebounce("trace", "info", "--check", text)


@addition(
    "recorded C library function",
    "record/README.md",
    edits=(
        after("record/runtime/real.h", "X(strncmp) X(strchr) X(strrchr)", " X(strnlen)"),
        before(
            "record/runtime/strings.c",
            "static void copied(const char* to, const char* from, size_t bytes) {",
            "EXPORTED size_t strnlen(const char* text, size_t most) {\n"
            "  const size_t length = length_below(text, most);\n"
            "  record_range(kLoadRange, text, length < most ? length + 1 : length);\n"
            "  return length;\n}\n\n",
        ),
        after("record/compiler.sh", "strncmp strchr strrchr", " strnlen"),
        before(
            "tests/record/test_record_runtime.py",
            "def test_allocations_behind_a_caught_bad_alloc_are_recorded(",
            '''def test_strnlen_is_a_load(recorder: Recorder) -> None:
    source = """
#include <string.h>
char text[16] = "sample";
int main(void) { return (int)strnlen(text, sizeof text) - 6; }
"""
    assert recorder.record(recorder.compile(source)).touched("main")["text"] > 0


''',
        ),
    ),
    targets=("program",),
)
def recorded_function(clone: Clone) -> None:
    clone.pytest("tests/record/test_record_runtime.py", "strnlen")
