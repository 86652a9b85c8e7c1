"""Takes README.md's screenshots: the report of `./dev demo`, and a lesson.

Usage: .venv/bin/python tools/screenshots.py

After `./dev demo` and `./dev teach`. Writes docs/pictures/report.png and docs/pictures/lesson.png; look at them before you
commit them.
"""

import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
LINEBOUNCE = ROOT / "build" / "release" / "linebounce"
REPORT = ROOT / "out" / "demo.html"
LESSON = "#lesson/false-sharing/1/6"


def take_report(page: Page) -> None:
    page.goto(REPORT.as_uri())
    page.wait_for_selector("figure[data-chart][data-drawn=yes]")
    page.screenshot(path=PICTURES / "report.png")


def take_lesson(page: Page) -> None:
    server = subprocess.Popen([LINEBOUNCE, "teach", "--serve"], stdout=subprocess.PIPE, text=True)
    assert server.stdout
    try:
        page.goto(f"{server.stdout.readline().split()[-1]}{LESSON}")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=PICTURES / "lesson.png")
    finally:
        server.terminate()
        server.wait()


def main() -> None:
    if not REPORT.exists():
        sys.exit(f"{REPORT} is missing: run ./dev demo")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        take_report(browser.new_page(viewport={"width": 1400, "height": 1300}, color_scheme="light"))
        take_lesson(browser.new_page(viewport={"width": 1400, "height": 800}, color_scheme="light"))
        browser.close()


if __name__ == "__main__":
    main()
