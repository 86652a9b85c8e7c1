"""The lint for cyclic dependencies between modules, in each language."""

from pathlib import PurePosixPath

import pytest
from lint_cycles import findings
from source_tree import SourceTree


def found(texts: dict[str, str]) -> list[str]:
    return [str(finding) for finding in findings(SourceTree.of(texts))]


@pytest.mark.parametrize(
    ("first", "second", "uses"),
    [
        ("sim/x.hpp", "sim/y.hpp", '#include "{}"'),
        ("analysis/package/x.py", "analysis/package/y.py", "from package.{0.stem} import name"),
        ("analysis/package/x.py", "analysis/package/y.py", "from package import {0.stem}"),
        ("tools/x.py", "tools/y.py", "import {0.stem}"),
        ("tests/tools/x.py", "tests/tools/y.py", "def f():\n    import {0.stem}"),
        ("teach/page/src/x.ts", "teach/page/src/y.ts", 'import type {{ Name }} from "./{0.stem}";'),
        ("teach/page/src/x.ts", "teach/page/src/y.svelte.ts", 'import {{\n  name,\n}} from "./{0.stem}";'),
        ("teach/page/src/x.svelte", "teach/page/src/y.svelte", '<script>\n  import X from "./{0.name}";\n</script>'),
    ],
)
def test_modules_that_import_each_other_are_found(first: str, second: str, uses: str) -> None:
    texts = {first: "\n" + uses.format(PurePosixPath(second)), second: "\n" + uses.format(PurePosixPath(first))}
    (finding,) = found(texts)
    assert finding.endswith(f": a circle of imports: {first} -> {second} -> {first}")
    assert finding.startswith(tuple(f"{first}:{line}:" for line in (2, 3, 4)))
    assert found({first: texts[first], second: ""}) == []


def test_a_longer_cycle_is_found_once_without_the_path_that_leads_to_it() -> None:
    texts = {
        name: f'#include "sim/{to}"' for name, to in (("sim/a.hpp", "b.hpp"), ("sim/b.hpp", "c.hpp"), ("sim/c.hpp", "b.hpp"))
    }
    assert found(texts) == ["sim/b.hpp:1: a circle of imports: sim/b.hpp -> sim/c.hpp -> sim/b.hpp"]


def test_in_c_a_header_and_its_source_file_are_one_module() -> None:
    texts = {"record/x.h": "", "record/x.c": '#include "y.h"\n', "record/y.h": "", "record/y.c": '#include "x.h"\n'}
    assert found(texts) == ["record/x.c:1: a circle of imports: record/x -> record/y -> record/x"]
    cpp = {name.replace(".c", ".cpp").replace(".h", ".hpp"): text.replace(".h", ".hpp") for name, text in texts.items()}
    assert found(cpp) == []


def test_foreign_modules_are_left_alone() -> None:
    assert found({"tools/json.py": "", "analysis/a.py": "import os, json.decoder\nfrom . import b"}) == []
