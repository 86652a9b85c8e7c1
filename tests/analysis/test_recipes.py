"""Every recipe's command prints what docs/recipes.md shows."""

from pathlib import Path

import recipes_page


def test_the_recipes_are_what_commands_print(executable: Path) -> None:
    assert recipes_page.page(executable) == recipes_page.PAGE.read_text(encoding="utf-8"), (
        "run tools/recipes_page.py, and look at what it has written"
    )
