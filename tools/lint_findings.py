"""Demands of each script in findings/ a head that says what was guessed, what was seen and what rests on it.

Files that "What rests on it" names exist.
"""

import re
from collections.abc import Iterator

from source_tree import Finding, SourceTree

PARTS = ("Guess before the run: ", "Seen ", "What rests on it: ", "Usage: bash findings/")
NAMED_FILE = re.compile(r"\b(?:\w[\w.-]*/)+[\w.-]*\w\.(?:cpp|hpp|c|py|md|sh|lua|toml)\b")


def findings(sources: SourceTree, file: str) -> Iterator[Finding]:
    lines = sources.text(file).splitlines()
    head = lines[: next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))]
    if len(head) < 2 or not re.match(r"# \S.*\.$", head[1]):
        yield Finding(file, 2, "line 2 is no sentence that says the finding")
    at = 0
    for part in PARTS:
        begin = next((number for number in range(at, len(head)) if head[number].startswith(f"# {part}")), None)
        if begin is None:
            yield Finding(file, at + 1, f'the head has no "# {part}..." here')
            return
        at = begin
    rests = next(number for number, line in enumerate(head) if line.startswith(f"# {PARTS[2]}"))
    for number, line in enumerate(head[rests:at], rests + 1):
        for named in NAMED_FILE.findall(line):
            if named not in sources:
                yield Finding(file, number, f"there is no file {named}")
