"""Who may include whom: lint_layers.py FILE...

layers.txt has the folders from the bottom up. A folder includes only what stands below it, no folder is missing there, no file
includes itself through others, and no two headers share a name. `using namespace` opens a layer of ours, nobody else's names.
"""

import re
import sys
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath

LAYERS = Path(__file__).with_name("layers.txt")
OPENED = re.compile(r"^\s*using namespace (?!(?:workloads|sim);)([\w:]+);", re.MULTILINE)
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def heights(text: str) -> dict[str, int]:
    """Of each folder, the number of its line."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {folder: height for height, line in enumerate(lines) for folder in line.split()}


def folder_of(file: str) -> str:
    return str(PurePosixPath(file).parent)


def included(file: str, text: str) -> list[str]:
    """The project's headers that a file includes, by their paths from the root."""
    return [name if "/" in name else f"{folder_of(file)}/{name}" for name in INCLUDE.findall(text)]


def misplaced(file: str, header: str, height: dict[str, int]) -> str | None:
    above, below = folder_of(file), folder_of(header)
    for folder in (above, below):
        if folder not in height:
            return f"{file}: {folder}/ has no line in tools/layers.txt"
    if above == below or height[below] < height[above]:
        return None
    return f"{file}: {above}/ may not include {header}: tools/layers.txt has {below}/ beside or above it"


def same_names(files: list[str]) -> list[str]:
    places = defaultdict(list)
    for file in files:
        if file.endswith(".hpp"):
            places[PurePosixPath(file).name].append(file)
    return [f"{name} is the name of several headers: {', '.join(where)}" for name, where in places.items() if where[1:]]


def opened(texts: dict[str, str]) -> list[str]:
    return [f"{file}: using namespace {name}" for file, text in texts.items() for name in OPENED.findall(text)]


def circle(includes: dict[str, list[str]]) -> list[str]:
    try:
        TopologicalSorter(includes).prepare()
    except CycleError as error:
        return ["a circle of includes: " + " -> ".join(error.args[1])]
    return []


def findings(texts: dict[str, str], layers: str) -> list[str]:
    height = heights(layers)
    includes = {file: included(file, text) for file, text in texts.items()}
    wrong = [misplaced(file, header, height) for file, headers in includes.items() for header in headers]
    return sorted({finding for finding in wrong if finding}) + same_names(list(texts)) + opened(texts) + circle(includes)


def main() -> int:
    found = findings({name: Path(name).read_text(encoding="utf-8") for name in sys.argv[1:]}, LAYERS.read_text("utf-8"))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
