"""Additions without code: machines, layouts, experiments and what is compared with them, lectures."""

from pathlib import Path

from addition import ROOT, Clone, addition, after, row

MACHINE = (ROOT / "configs/machines/course_8way.toml").read_text(encoding="utf-8").replace('"course_8way"', '"sample_8way"')
LECTURE = (ROOT / "teach/slides/lecture-1.md").read_text(encoding="utf-8").replace("One writer, or readers", "A sample", 1)
MEASURED = """samples,remote_pct,instruction,function,offset_in_line,field
90,50,ld8,run,0,of_cpu[0]
"""
LISTING = """[each cache]
{cache}: {reads} reads, {read_misses} missed
[end]
{reads} reads in all
"""
EXPERIMENT = """# Do four CPUs that share a word add less often than one?
#
# Answer: yes, as a sample.
name    = "sample_additions_scaling"
title   = "One word, one and four CPUs"
machine = "p3_xeon_4way"
seed    = 1

[workload]
name = "false_sharing"

[run]
warmup_us  = 5
measure_us = 50

[sweep]
"machine.cpus" = [1, 4]
"""
WHAT_IF = """# A sample: another allocator.
name    = "what_if/sample_slub"
title   = "Objects from SLUB"
extends = "slab_churn"

[run]
warmup_us  = 50
measure_us = 200
seeds      = 3

[sweep]
"workload.allocator" = ["slab_numa", "slub"]
"""


@addition(
    "machine",
    "configs/machines/README.md",
    files={"configs/machines/sample_8way.toml": MACHINE},
    row=row("configs/machines/README.md", "| `course_8way`", "| `sample_8way` | a sample | |"),
)
def machine(clone: Clone) -> None:
    assert "sample_8way" in clone.linebounce("list", "machines")
    clone.linebounce("describe", "machine", "sample_8way")
    clone.linebounce(
        "run", "programs/critical_section.lua", "--machine", "sample_8way", "--set", "run.measure_us=20", "-o", "out/machine"
    )
    clone.pytest("tests/end_to_end/test_assumptions.py", "sample_8way")
    clone.pytest("tests/end_to_end/test_locks.py", "sample_8way")


@addition(
    "layout",
    "configs/layouts/README.md",
    files={
        "configs/layouts/sample.toml": """name  = "sample"
title = "One structure, as a sample"

[structure.sample]
size_bytes      = 16
alignment_bytes = 8
fields = [
  { name = "first",  offset_bytes = 0, size_bytes = 8 },
  { name = "second", offset_bytes = 8, size_bytes = 8 },
]
"""
    },
)
def layout(clone: Clone) -> None:
    assert "second" in clone.linebounce("describe", "layout", "sample")
    clone.pytest("commands/describe/tests/test_list_describe.py", "every_file")


@addition(
    "experiment",
    "configs/experiments/README.md",
    files={"configs/experiments/sample_additions_scaling.toml": EXPERIMENT},
)
def experiment(clone: Clone) -> None:
    assert "One word" in clone.linebounce("list", "experiments", "--search", "sample_additions")
    clone.linebounce("run", "sample_additions_scaling", "-o", "out/experiment")
    clone.pytest("tests/end_to_end/test_determinism.py", "sample_additions_scaling", "-m", "thorough or not thorough")


@addition("what-if", "configs/experiments/README.md", files={"configs/experiments/what_if/sample_slub.toml": WHAT_IF})
def what_if(clone: Clone) -> None:
    assert "sample_slub" in clone.linebounce("what-if", "what_if/sample_slub", "-o", "out/what_if")


@addition(
    "document",
    "configs/papers/README.md",
    files={
        "configs/papers/sample2026.toml": """document = "sample of 2026"
title    = "A sample"
authors  = "Nobody"

[[section]]
number = "1"
title  = "What is claimed"

[[section.claim]]
what    = "A command shows it"
command = "linebounce list machines"
"""
    },
    edits=(after("tools/papers_page.py", '"mail2005", "mail2011"', ', "sample2026"'),),
)
def document(clone: Clone) -> None:
    pages = [clone.folder / name for name in ("docs/every-figure.md", "docs/papers-misses.md", "README.md")]
    before = [page.read_text(encoding="utf-8") for page in pages]
    try:
        clone.run("python3", "tools/papers_page.py")
        assert "sample of 2026" in pages[0].read_text(encoding="utf-8")
    finally:
        for page, text in zip(pages, before, strict=True):
            page.write_text(text, encoding="utf-8")


@addition(
    "measured table",
    "configs/figures/README.md",
    files={
        "configs/figures/sample/word.csv": MEASURED,
        "configs/experiments/sample_table.toml": EXPERIMENT.replace("sample_additions_scaling", "sample_table")
        .partition("[sweep]")[0]
        .rstrip()
        + """

[[table]]
id        = "sample.word"
file      = "sample/word.csv"
structure = "counters"
field     = "of_cpu[0]"
min_samples = 1
source    = "a sample"
""",
    },
    edits=(
        after(
            "configs/papers/mail2011.toml",
            'title    = "Recent HAMMER SMP performance work"\nauthors  = "Dillon, O\'Callaghan"\n',
            '\n[[section]]\nnumber = "0"\ntitle  = "A sample"\n\n[[section.claim]]\nwhat = "A table"\nrows = ["sample.word"]\n',
        ),
    ),
)
def table(clone: Clone) -> None:
    assert "of_cpu" in clone.linebounce("run", "sample_table", "-o", "out/table")


@addition(
    "template of counters",
    "configs/counters/README.md",
    files={"configs/counters/sample.txt": LISTING},
    row=row("configs/counters/README.md", "| `numbered.txt` |", "| `sample.txt` | a sample |"),
)
def template(clone: Clone) -> None:
    trace = Path(clone.folder / "out" / "course.txt")
    trace.parent.mkdir(exist_ok=True)
    trace.write_text("0 r 1f00\n1 w 1f00\n", encoding="utf-8")
    assert "1 reads in all" in clone.linebounce("run", trace, "--listing", "sample")
    clone.pytest("commands/run/tests/test_course_counters.py", "template and sample")


@addition("lecture", "teach/README.md", files={"teach/slides/lecture-4.md": LECTURE})
def lecture(clone: Clone) -> None:
    clone.linebounce("teach", "--slides", "out/slides")
    clone.pytest("tests/analysis/test_teach_slides.py", "takes_75 or solutions")
