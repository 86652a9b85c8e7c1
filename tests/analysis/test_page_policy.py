"""In a browser, none of our pages runs a script that it was not made with, or fetches anything."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from linebounce.page_policy import page_policy
from linebounce.report.validation import make_validation_page
from playwright.sync_api import Browser
from program import Result
from test_validation_report import DOCUMENT

# Names that contain markup. If a page executes one of them, a letter appears in the page's title.
ATTACKS = """
<script>document.title += "A"</script>
<img src="data:," onerror="document.title += 'B'">
<a id="link" href="javascript:document.title += 'C'">x</a>
<iframe srcdoc="<script>parent.document.title += 'D'</script>"></iframe>
<script src="data:text/javascript,document.title += 'E'"></script>
<img src="http://127.0.0.1:9/F"><link rel="stylesheet" href="http://127.0.0.1:9/G"><base href="http://127.0.0.1:9/">
"""


@pytest.fixture
def pages(command: Callable[..., Result], locks_run: Path, tmp_path: Path) -> list[Path]:
    made = [tmp_path / "report.html", tmp_path / "compare.html", tmp_path / "validation.html"]
    assert command("report", locks_run, "-o", made[0]).code == 0
    assert command("compare", locks_run, locks_run, "-o", made[1]).code == 0
    made[2].write_text(make_validation_page(DOCUMENT))
    return made


def test_text_inserted_into_a_page_runs_nothing_and_fetches_nothing(browser: Browser, pages: list[Path]) -> None:
    for file in pages:
        text = file.read_text()
        attacked = file.with_name(f"attacked-{file.name}")
        attacked.write_text(re.sub("<body[^>]*>", lambda body: body[0] + ATTACKS, text, count=1))
        page = browser.new_page()
        refused: dict[str, str | None] = {}
        page.on("requestfailed", lambda request, refused=refused: refused.update({request.url: request.failure}))
        said: list[str] = []
        page.on("console", lambda message, said=said: said.append(message.text))
        page.goto(attacked.as_uri())
        title = page.title()
        page.locator("#link").click()
        page.wait_for_timeout(200)
        assert page.title() == title
        assert not re.search("[A-E]$", title)
        assert refused == {"http://127.0.0.1:9/F": "csp", "http://127.0.0.1:9/G": "csp"}
        assert sum("Content Security Policy" in line for line in said) >= 5, said
        assert page.evaluate("document.baseURI").startswith("file:")
        page.close()


def test_a_script_that_was_changed_does_not_run(browser: Browser, tmp_path: Path) -> None:
    script = "document.title = 'ran'"
    page = browser.new_page()
    for written, title in [(script, "ran"), (script + " ", "")]:
        policy = f'<meta http-equiv="Content-Security-Policy" content="{page_policy(script)}">'
        (tmp_path / "page.html").write_text(f"<!doctype html>{policy}<script>{written}</script>")
        page.goto((tmp_path / "page.html").as_uri())
        assert page.title() == title
    page.close()
