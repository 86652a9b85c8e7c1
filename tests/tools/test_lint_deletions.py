"""The lint that demands a guard for each deletion of a directory and each rename."""

import pytest
from lint_deletions import HEADING, TABLE, findings
from source_tree import SourceTree

DELETES = {
    "sim/a.cpp": "void f() {\n  fs::remove_all(folder);\n}",
    "sim/b.cpp": "std::filesystem::rename(from, to);",
    "trace/c.cpp": "if (::rename(a, b) != 0) fail();",
    "probe/d.c": "if (!direct && rename(part, output) != 0) stop();",
    "analysis/e.py": "import shutil\nshutil.rmtree(folder)",
    "analysis/f.py": "temporary.replace(place)",
    "analysis/g.py": "temporary.rename(place)",
    "analysis/h.py": "import os\nos.replace(a, b)",
    "tools/i": "#!/usr/bin/env python3\nfrom shutil import rmtree\nrmtree(folder)",
    "examples/j.sh": 'cd "$1"\nrm -rf source',
    "dev": "#!/usr/bin/env bash\nrm --recursive x",
    "findings/m.sh": "trap 'rm -r \"$folder\"' EXIT",
    "install/k.sh": "[[ -f x ]] && mv new old",
    "teach/page/tools/l.mjs": "rmSync(folder, {recursive: true})",
}
DOES_NOT = {
    "sim/a.cpp": "fs::remove(file);  // remove_all(x) would be too much\nfiles.rename(from, to);",
    "workloads/b.cpp": "files_.rename(x); rename(program, client, directory);",
    "analysis/c.py": 'text.replace("a", "b")\nreplace(job, name="x")\nframe.rename(mapping=names)\npath.unlink()',
    "examples/d.sh": "rm -f file  \n# rm -rf everything\nremove x",
    "tests/e.py": "shutil.rmtree(tmp_path)",
}


def found(texts: dict[str, str]) -> list[str]:
    return [finding.file for finding in findings(SourceTree.of(texts))]


def table(*files: str) -> str:
    rows = "".join(f"| `{file}` | x | y |\n" for file in files)
    return f"{HEADING}\n\n| file | | |\n|---|---|---|\n{rows}\n## More\n| `z` |\n"


@pytest.mark.parametrize("file", DELETES)
def test_a_deletion_or_rename_without_a_row_is_found(file: str) -> None:
    assert found({file: DELETES[file]}) == [file]
    assert found({file: DELETES[file], TABLE: table("sim/other.cpp"), "sim/other.cpp": "fs::remove_all(x);"}) == [file]


@pytest.mark.parametrize("file", DELETES)
def test_with_a_row_it_is_not(file: str) -> None:
    assert found({file: DELETES[file], TABLE: table(file)}) == []


def test_a_row_may_stand_for_the_files_of_a_pattern() -> None:
    scripts = dict.fromkeys(("findings/m.sh", "findings/n.sh"), DELETES["findings/m.sh"])
    assert found(scripts | {TABLE: table("findings/*.sh")}) == []
    assert found({TABLE: table("findings/*.sh")}) == [TABLE]


@pytest.mark.parametrize("file", DOES_NOT)
def test_other_code_needs_no_row(file: str) -> None:
    assert found({file: DOES_NOT[file]}) == []


def test_a_row_without_its_deletion_or_its_file_is_found() -> None:
    assert found({"sim/a.cpp": "int x;", TABLE: table("sim/a.cpp", "sim/gone.cpp")}) == [TABLE, TABLE]


def test_the_line_is_the_first() -> None:
    (finding,) = findings(SourceTree.of({"sim/a.cpp": DELETES["sim/a.cpp"]}))
    assert finding.line == 2
