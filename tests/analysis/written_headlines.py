"""Results with other headlines than the program's own, or with none, as older programs wrote them."""

import json
from pathlib import Path

Headline = dict[str, str]


def headline(metric: str, label: str, better: str) -> Headline:
    return {"metric": metric, "label": label, "better": better}


def set_headlines(directory: Path, headlines: object | None) -> None:
    """Writes headlines into results.json; None removes the key."""
    path = directory / "results.json"
    document = json.loads(path.read_text())
    document.pop("headlines", None)
    path.write_text(json.dumps(document if headlines is None else document | {"headlines": headlines}))
