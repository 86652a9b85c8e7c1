"""README's pictures of reports are what README's commands make."""

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from program import ROOT, Result

PICTURES = ROOT / "docs" / "pictures"


@pytest.fixture(scope="module")
def section() -> str:
    """README's section with the report's pictures."""
    found = re.search(r"^## Seeing it\n(.*?)^## ", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


def test_readmes_commands_make_its_pictures(
    section: str, executable: Path, command: Callable[..., Result], tmp_path: Path
) -> None:
    for line in re.findall(r"^linebounce .*$", section, re.MULTILINE):
        name, *arguments = shlex.split(line)[1:]
        if name == "report":
            assert command(name, *arguments, cwd=tmp_path).code == 0
        else:
            subprocess.run([executable, name, *arguments, "--quiet"], cwd=tmp_path, check=True)
    pictures = re.findall(r"!\[.+\]\(docs/pictures/(.+)\)", section)
    assert len(pictures) == 2
    for picture in pictures:
        assert f"`{picture}`" in section
        made = (tmp_path / "figures" / picture).read_bytes()
        assert made == (PICTURES / picture).read_bytes(), f"copy {picture} to docs/pictures after looking at it"
