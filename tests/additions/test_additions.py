"""Adds one of each kind of thing to a clone, as the README of its place says, and tries it.

The quick tests hold the samples against today's tree: every kind in CONTRIBUTING.md has one, every anchor is there, and
tools/lint.py refuses each sample without its row in a README. `./dev fuzz` builds a clone with all samples, and then each must
work (README.md).
"""

import importlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import lint
import pytest
from addition import ADDITIONS, ROOT, Addition, Clone, with_additions
from source_tree import SourceTree, git_files

for module in sorted(Path(__file__).parent.glob("add_*.py")):
    importlib.import_module(module.stem)
ALL = [pytest.param(each, id=each.name) for each in ADDITIONS.values()]
INDEX = re.compile(r"^\| \*\*(.+?)\*\* \| \[.*?\]\((.+?)\)", re.MULTILINE)
JOBS = str(os.cpu_count() or 2)


@pytest.fixture(scope="module")
def tree() -> SourceTree:
    return SourceTree.of_git()


def changed_tree(tree: SourceTree, chosen: list[Addition], *, rows: bool) -> SourceTree:
    """The tree in memory with these additions."""
    touched = {name for each in chosen for name in (*each.touched(), *([each.row.file] if each.row else [])) if name in tree}
    changed = with_additions({name: tree.text(name) for name in touched}, chosen, rows=rows)
    return SourceTree({*tree.names, *changed}, lambda name: changed[name] if name in changed else tree.text(name), tree.root)


def test_every_kind_of_the_index_has_a_sample(tree: SourceTree) -> None:
    index = dict(INDEX.findall(tree.text("CONTRIBUTING.md")))
    assert {kind: ADDITIONS[kind].readme for kind in ADDITIONS} == index
    for kind, readme in index.items():
        assert re.search(r"\bTo add\b", tree.text(readme)), f"{readme} does not say how to add a {kind}"


@pytest.mark.parametrize("addition", ALL)
def test_every_anchor_is_in_the_tree(tree: SourceTree, addition: Addition) -> None:
    changed_tree(tree, [addition], rows=True)


@pytest.mark.parametrize("addition", [param for param in ALL if param.values[0].row])  # type: ignore[union-attr]
def test_a_sample_without_its_row_in_a_readme_is_refused(tree: SourceTree, addition: Addition) -> None:
    without = changed_tree(tree, [addition], rows=False)
    rule = lint.RULES["READMEs"]
    found = [finding.file for finding in rule.findings(without)]  # type: ignore[call-arg]
    assert set(found) & addition.touched(), f"no finding names a file of it: {found}"


def write_changed(folder: Path, texts: dict[str, bytes]) -> None:
    """Makes the folder's files those of `texts`. Leaves the same ones alone, so that a second build compiles little."""
    for name in git_files(folder):
        if name not in texts and not (folder / name).is_symlink():
            (folder / name).unlink()
    for name, content in texts.items():
        path = folder / name
        if path.is_file() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if (ROOT / name).exists():
            shutil.copymode(ROOT / name, path)


def fill(clone: Clone, chosen: list[Addition]) -> None:
    if not clone.folder.exists() or not any(clone.folder.iterdir()):
        subprocess.run(["git", "clone", "-q", "--shared", str(ROOT), str(clone.folder)], check=True)
    shutil.rmtree(clone.folder / "out", ignore_errors=True)
    texts = {name: (ROOT / name).read_bytes() for name in git_files(ROOT) if not (ROOT / name).is_symlink()}
    touched = {name for each in chosen for name in (*each.touched(), *([each.row.file] if each.row else [])) if name in texts}
    changed = with_additions({name: texts[name].decode() for name in touched}, chosen)
    write_changed(clone.folder, texts | {name: text.encode() for name, text in changed.items()})


# Without it, Python would import the package of the work tree, whose editable installation comes before PYTHONPATH.
OWN_PACKAGE = """import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if not type(finder).__module__.startswith("_editable")]
"""


def install_python(clone: Clone) -> None:
    """Has Python import the clone's package, and puts the Python commands beside the program."""
    (clone.folder / "build" / "site").mkdir(exist_ok=True)
    (clone.folder / "build" / "site" / "sitecustomize.py").write_text(OWN_PACKAGE, encoding="utf-8")
    project = tomllib.loads((clone.folder / "pyproject.toml").read_text(encoding="utf-8"))
    for name, entry in project["project"]["scripts"].items():
        module, function = entry.split(":")
        script = clone.build / name
        script.write_text(
            f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n", encoding="utf-8"
        )
        script.chmod(0o755)


def build(clone: Clone, chosen: list[Addition]) -> None:
    """Builds what the samples need. Does not stop at an error, so that the other samples can be tried."""
    clone.run("cmake", "--preset", "dev")
    release = clone.folder / "build" / "release"  # where the tools look for the program
    release.unlink(missing_ok=True)
    release.symlink_to("dev")
    install_python(clone)
    targets = sorted({target for each in chosen for target in each.targets})
    command = ["nice", "-n", "5", "ninja", "-k", "0", f"-j{JOBS}", "-C", str(clone.build), "linebounce", *targets]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    clone.errors = "\n".join(line for line in done.stdout.splitlines() if re.search(r"\berror: |-Wswitch", line))
    (clone.build / "additions.log").write_text(done.stdout, encoding="utf-8")


@pytest.fixture(scope="session")
def clone(request: pytest.FixtureRequest) -> Iterator[Clone]:
    """The tree with all samples that this run of pytest tries. LINEBOUNCE_ADDITIONS=DIR keeps it."""
    items = [item for item in request.session.items if getattr(item, "originalname", "") == "test_a_sample_works"]
    chosen = [item.callspec.params["addition"] for item in items] or list(ADDITIONS.values())  # type: ignore[attr-defined]
    kept = os.environ.get("LINEBOUNCE_ADDITIONS")
    folder = Path(kept or tempfile.mkdtemp(prefix="linebounce_additions_"))
    try:
        built = Clone(folder)
        fill(built, chosen)
        build(built, chosen)
        yield built
    finally:
        if not kept:
            shutil.rmtree(folder)


@pytest.mark.thorough
def test_all_samples_keep_the_projects_rules(clone: Clone) -> None:
    clone.run("python3", "tools/papers_page.py")  # a document's page is not written by hand
    clone.run("python3", "tools/lint.py")


@pytest.mark.thorough
@pytest.mark.parametrize("addition", ALL)
def test_a_sample_works(clone: Clone, addition: Addition) -> None:
    mine = [line for line in clone.errors.splitlines() if any(name in line for name in addition.touched())]
    assert not mine, "\n".join(mine)
    addition.works(clone)
