"""The style of what people read: lint_prose.py FILE...

Everywhere (documentation, comments, messages): no phrase of prose_phrases.txt. In Markdown also: lines of at most 120 columns,
but for tables and code; and a source file that the text names in backticks exists.
"""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = 120

FENCE = re.compile(r"^(```|~~~).*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"`[^`\n]+`")
LINE_BREAK = re.compile(r"\n[ \t]*(?://+|#+|\*|>)?")
# A source file by its name (`core.cpp`, `models/core/core.*`), not what users make: results, programs, machine files.
SOURCE_FILE = re.compile(r"(?:\./)?(?P<path>[\w*/.-]*[\w*])\.(?P<suffix>cpp|hpp|py|js|css|html|\*)")

Phrase = tuple[re.Pattern[str], str]


def phrases(text: str) -> list[Phrase]:
    rules = [line.split(" => ") for line in text.splitlines() if line and not line.startswith("#")]
    # A line break is blanks by then: phrase_findings().
    return [(re.compile(rf"\b(?:{avoid.replace(' ', ' +')})", re.IGNORECASE), write) for avoid, write in rules]


def blanked(pattern: re.Pattern[str], text: str) -> str:
    """The text with each match made blank, its line breaks kept."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def phrase_findings(text: str, rules: list[Phrase]) -> list[tuple[int, str]]:
    running = LINE_BREAK.sub(lambda match: " " * len(match.group()), text)
    return [
        (text.count("\n", 0, match.start()) + 1, f'"{" ".join(match.group().split())}": write {write}')
        for avoid, write in rules
        for match in avoid.finditer(running)
    ]


def long_lines(text: str) -> list[tuple[int, str]]:
    return [
        (number, f"{len(line)} columns; documentation has at most {COLUMNS}")
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > COLUMNS and not line.startswith("|") and " " in line.strip()
    ]


def missing_files(path: str, text: str, files: list[str]) -> list[tuple[int, str]]:
    """Source files that are named in backticks and exist nowhere in the tree."""
    found = []
    for span in CODE_SPAN.finditer(text):
        name = SOURCE_FILE.fullmatch(span.group().strip("`"))
        if name is None or any(placeholder in name["path"].rpartition("/")[2] for placeholder in (".", "NAME", "*")):
            continue
        if name["suffix"] == "*" and not path.endswith("README.md"):  # elsewhere `locks.*` is a group of metrics
            continue
        wanted = f"{name['path']}.{name['suffix']}"
        if not any(fnmatch(file, wanted) or fnmatch(file, f"*/{wanted}") for file in files):
            found.append((text.count("\n", 0, span.start()) + 1, f"there is no file {wanted}"))
    return found


def findings(path: str, text: str, rules: list[Phrase], files: list[str]) -> list[str]:
    if path.endswith(".md"):
        prose = blanked(FENCE, text)
        found = [*long_lines(prose), *missing_files(path, prose, files)]
        found += phrase_findings(blanked(CODE_SPAN, prose), rules)
    else:
        found = phrase_findings(text, rules)
    return [f"{path}:{line}: {what}" for line, what in sorted(found)]


def main() -> int:
    rules = phrases((ROOT / "tools" / "prose_phrases.txt").read_text(encoding="utf-8"))
    files = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line for path in sys.argv[1:] for line in findings(path, Path(path).read_text(encoding="utf-8"), rules, files)]
    print("\n".join([*found, f"{len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
