"""Packs thousands of small files into one, *.cases: for each file its size in bytes on a line, its bytes, and a newline.

cases.py pack FOLDER FILE.cases cases.py unpack FILE.cases FOLDER
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path


def packed(contents: Iterable[bytes]) -> bytes:
    """Shortest first, so that packing the same files again gives the same bytes."""
    in_order = sorted(set(contents), key=lambda content: (len(content), content))
    return b"".join(b"%d\n%b\n" % (len(content), content) for content in in_order)


def unpacked(cases: bytes) -> Iterator[bytes]:
    while cases:
        size, _, rest = cases.partition(b"\n")
        yield rest[: int(size)]
        cases = rest[int(size) + 1 :]


def unpack(file: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for content in unpacked(file.read_bytes()):
        (folder / hashlib.sha1(content, usedforsecurity=False).hexdigest()).write_bytes(content)


def main() -> None:
    match sys.argv[1:]:
        case ["pack", folder, file]:
            Path(file).write_bytes(packed(each.read_bytes() for each in Path(folder).iterdir()))
        case ["unpack", file, folder]:
            unpack(Path(file), Path(folder))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
