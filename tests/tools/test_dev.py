"""./dev refuses unknown arguments before it builds anything."""

import subprocess
from pathlib import Path

import pytest

DEV = Path(__file__).parents[2] / "dev"


@pytest.mark.parametrize(
    ("arguments", "legal"),
    [(["build", "--pog"], "--pgo"), (["build", "--pgo", "twice"], "--pgo"), (["package", "--chek", "bookworm"], "--check")],
)
def test_a_misspelt_option_is_refused(arguments: list[str], legal: str) -> None:
    result = subprocess.run([DEV, *arguments], capture_output=True, text=True, timeout=20, check=False)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f'./dev {arguments[0]}: unknown arguments "{arguments[1]}')
    assert f"it takes {legal}" in result.stderr


def test_an_unknown_command_is_refused() -> None:
    result = subprocess.run([DEV, "biuld"], capture_output=True, text=True, timeout=20, check=False)
    assert result.returncode == 2
    assert 'unknown command "biuld"' in result.stderr
