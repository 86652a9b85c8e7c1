"""Runs clang-tidy on our own sources, several at once. Skips a file that passed before, in any clone, if neither it nor a file
of ours that it includes has changed.

Usage: clang_tidy.py BUILD_DIR... Each is a finished build with Ninja.

The files of a unity build's unit are checked together, which takes a tenth of the time. From each further build it
takes only units with files that no earlier build compiles.
"""

import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Has an empty file for each unit that passed; its name is the unit's fingerprint.
PASSED = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linebounce" / "clang-tidy"


def included_files(build: Path) -> dict[str, list[Path]]:
    """Maps each object file to those of our own files that it is compiled from."""
    printed = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    found: dict[str, list[Path]] = {}
    current: list[Path] = []
    for line in printed.splitlines():
        if line.startswith("    "):
            path = (build / line.strip()).resolve()
            if path.is_relative_to(ROOT):
                current.append(path)
        elif ":" in line:
            current = found.setdefault(line.split(":")[0], [])
    return found


def fingerprint(entry: dict[str, str], included: list[Path], settings: bytes) -> str:
    """The same in each clone: the command and the files of a unity build name the clone's folder, which does not count."""
    here = str(ROOT).encode()
    digest = hashlib.sha256(settings + entry["command"].encode().replace(here, b""))
    for path in sorted({Path(entry["file"]), *included}):
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(here, b"") + b"\0")
    return digest.hexdigest()


def look_at(build: Path, file: str, mark: Path) -> bool:
    result = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), file], capture_output=True, text=True, check=False)
    if result.returncode:
        print(result.stdout.strip() or result.stderr.strip(), flush=True)
        return False
    mark.touch()
    return True


def main() -> int:
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    settings = version + (ROOT / ".clang-tidy").read_bytes()
    PASSED.mkdir(parents=True, exist_ok=True)
    seen: set[Path] = set()
    todo: list[tuple[Path, str, Path]] = []
    for build in [(ROOT / argument).resolve() for argument in sys.argv[1:]]:
        included = included_files(build)
        compiled: set[Path] = set()
        for entry in json.loads((build / "compile_commands.json").read_text()):
            command = shlex.split(entry["command"])
            sources = included.get(command[command.index("-o") + 1])
            if sources is None:
                continue  # a file that only tests include, and this build has no tests
            compiled_here = {path for path in sources if path.suffix in {".c", ".cpp"}}
            if compiled_here <= seen:
                continue
            compiled |= compiled_here
            mark = PASSED / fingerprint(entry, sources, settings)
            if not mark.exists():
                todo.append((build, entry["file"], mark))
        seen |= compiled
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        passed = list(pool.map(lambda item: look_at(*item), todo))
    print(f"{len(seen)} files, {len(todo)} units looked at, {passed.count(False)} with findings")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
