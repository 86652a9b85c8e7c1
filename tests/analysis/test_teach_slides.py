"""`linebounce teach --slides`: three lectures whose figures and answers are the simulator's, usable by everybody."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from axe_playwright_python.sync_playwright import Axe
from linebounce.teach.engine import Engine
from linebounce.teach.lecture import Asked, Chart, Lecture, Listing, Picture, make_lecture
from linebounce.teach.library import Library
from linebounce.teach.slide_page import lecture_page, solutions_page
from linebounce.teach.source import LessonError, html
from linebounce.teach.space_time import drawing
from opened_page import OpenedPage, open_page
from playwright.sync_api import Browser
from program import ROOT, Result

Command = Callable[..., Result]

FILES = sorted((ROOT / "teach" / "slides").glob("lecture-*.md"))
PHONE, WIDE = (390, 844), (1400, 900)


@pytest.fixture(scope="module")
def lectures(executable: Path) -> list[Lecture]:
    return [make_lecture(Engine(str(executable)), path) for path in FILES]


@pytest.fixture(scope="module")
def pages(lectures: list[Lecture], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The slides, and behind them the teacher's solutions."""
    folder = tmp_path_factory.mktemp("slides")
    texts = [lecture_page(number, lecture) for number, lecture in enumerate(lectures, 1)]
    made = []
    for text in [*texts, solutions_page(lectures)]:
        made.append(folder / f"{len(made) + 1}.html")
        made[-1].write_text(text, encoding="utf-8")
    return made


def test_each_lecture_takes_75_minutes_and_asks_the_class(lectures: list[Lecture]) -> None:
    for lecture in lectures:
        assert lecture.minutes == 75
        parts = [part for slide in lecture.slides for part in slide.parts]
        assert sum(isinstance(part, Asked) for part in parts) >= 4
        assert sum(isinstance(part, Listing | Chart | Picture) for part in parts) >= 4, "figures from the simulator"
        assert all(slide.notes for slide in lecture.slides)


def test_solutions_and_notes_are_on_a_page_of_their_own(lectures: list[Lecture], pages: list[Path]) -> None:
    *slides, solutions = [path.read_text(encoding="utf-8") for path in pages]
    for lecture, text in zip(lectures, slides, strict=True):
        for slide in lecture.slides:
            assert slide.notes in solutions
            assert slide.notes not in text
            for asked in [part for part in slide.parts if isinstance(part, Asked)]:
                assert asked.compiled["right"] in solutions
                assert asked.compiled["right"] not in text


def test_the_lecture_that_begins_with_a_mistake_shows_what_the_checker_finds(lectures: list[Lecture]) -> None:
    (found,) = [
        part for slide in lectures[0].slides for part in slide.parts if isinstance(part, Listing) and "mine.md" in part.command
    ]
    assert "cache 0 (in M) can write while cache 1 (in S) can read" in found.text


def test_a_picture_has_each_caches_states_as_they_change(lectures: list[Lecture]) -> None:
    (shown,) = [
        part for slide in lectures[1].slides if "eviction" in slide.title for part in slide.parts if isinstance(part, Picture)
    ]
    assert shown.caches == ["CPU 0", "CPU 1"]
    assert [states for _, _, states in shown.rows] == [["O", "SM_AD"], ["II_A", "M"], ["II_A", "M"], ["I", "M"]]
    assert shown.rows[-1][1] == "CPU 1 writes 2 to x, which held 1."


def pictures(lecture: Lecture, title: str) -> list[Picture]:
    return [part for slide in lecture.slides if title in slide.title for part in slide.parts if isinstance(part, Picture)]


def test_a_slide_shows_the_picture_of_a_lessons_scene(lectures: list[Lecture]) -> None:
    (shown,) = pictures(lectures[2], "Two counters")
    assert shown.lesson == "4, False sharing"
    drawn = shown.drawn
    assert [one.label for one in drawn.lifelines] == ["CPU 0", "CPU 1", "bus"]
    assert [(mark.column, mark.text) for mark in drawn.marks] == [
        (1, "counters.b ← 1"),
        (0, "counters.a ← 2"),
    ]
    data = [(arrow.start, arrow.to) for arrow in drawn.arrows if arrow.data]
    assert data == [(0, 1), (1, 0)], "the line goes from one cache to the other and back"


def test_pictures_end_in_the_states_of_their_tables(lectures: list[Lecture]) -> None:
    every = [part for lecture in lectures for slide in lecture.slides for part in slide.parts if isinstance(part, Picture)]
    assert len(every) >= 8
    for shown in every:
        caches = [column for column, one in enumerate(shown.drawn.lifelines) if one.kind == "cache"]
        for at, state in zip(caches, shown.rows[-1][2], strict=True):
            bars = [bar for bar in shown.drawn.bars if bar.column == at]
            assert bars[-1].state == state
            assert [bar.begin for bar in bars[1:]] == [bar.end for bar in bars[:-1]], "one state follows the other"
        words = ["".join(text.itertext()) for text in ElementTree.fromstring(drawing(shown.drawn)).iter("text")]
        for wanted in [*(arrow.name for arrow in shown.drawn.arrows), *(mark.text for mark in shown.drawn.marks)]:
            assert wanted in words


def test_lines_of_code_are_elements_and_their_text_is_unchanged() -> None:
    made = html("In C:\n\n```c\nint a;   /* <1> */\n\n  b();\n```\n\nand `c`")
    assert made.count('<span class="line">') == 3
    code = re.search(r"<pre><code[^>]*>(.*)</code></pre>", made, re.DOTALL)
    assert code is not None
    assert re.sub("<[^>]*>", "", code[1]) == "int a;   /* &lt;1&gt; */\n\n  b();\n"


SMALL = """\
```toml lesson
title   = "Small"
minutes = 9
goal    = "Little."
kind    = "lecture"
```

## One slide

```toml slide
minutes = 9
notes   = "Nothing."
```

```toml run
command = "linebounce check msi_atomic"
lines   = ["12 states"]
```

```toml scene msi
machine = "course_8way"
[set]
"machine.cpus" = 1
```

```lua program msi
ends = true
function setup() x = place_array("x", 8) end
function run(cpu) cpu:store(x, 1) end
```

```toml question
ask     = "What is x?"
kind    = "number"
at      = "start"
then    = "end"
answer_from = "value of x"
answer  = 1
right   = "Yes."
[wrong]
else = "No."
```

```toml picture
scene = "msi"
line  = "x"
from  = "start"
to    = "end"
```
"""


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("store(x, 1)", "store(x, 2)", "the answer is 1, but in the run value of x is 2"),
        ("12 states", "13 states", 'the command prints no line with "13 states"'),
        ("minutes = 9\nnotes", "minutes = 8\nnotes", "the slides take 8 minutes, not 9"),
        ('scene = "msi"', 'scene = "mis"', 'there is no scene "mis" (known: msi)'),
        ("check msi_atomic", "check msi_atomics", "msi_atomic"),
        ('line  = "x"', 'line  = "z"', 'scene "msi": the line "z" is not known; known: x'),
        ("```toml picture", "```toml pictrue", 'there is no block "toml pictrue"'),
        ('scene = "msi"', 'lesson = "99"\nscene = "msi"', 'lesson "99" is not known'),
        ('scene = "msi"', 'lesson = "4"\nscene = "msi"', 'there is no scene "msi" (known: apart, packed)'),
        ("## One slide\n", "", "a lecture's first slide begins with ##"),
    ],
)
def test_a_lecture_with_a_mistake_is_refused_with_its_line(
    executable: Path, tmp_path: Path, old: str, new: str, says: str
) -> None:
    assert old in SMALL
    path = tmp_path / "lecture-1.md"
    path.write_text(SMALL.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(LessonError, match=rf"lecture-1\.md:\d+: .*{re.escape(says)}"):
        make_lecture(Engine(str(executable)), path)


def test_slides_and_solutions_fit_a_phone_and_axe_finds_nothing(browser: Browser, pages: list[Path]) -> None:
    for path in pages:
        page = opened(browser, path, PHONE)
        page.page.eval_on_selector_all("details", "(all) => all.forEach((one) => (one.open = true))")
        assert page.page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
        found = [one["id"] for one in Axe().run(page.page).response["violations"]]
        assert found == [], path.name
        page.page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
        assert page.page.evaluate("document.documentElement.scrollWidth") <= WIDE[0]
        assert (page.problems, page.requests) == ([], [])
        page.page.context.close()


def opened(browser: Browser, path: Path, size: tuple[int, int]) -> OpenedPage:
    path.write_text(path.read_text(encoding="utf-8").replace('<html lang="en">', '<html lang="en" data-ready="yes">'), "utf-8")
    return open_page(browser, path, size=size)


def test_keys_turn_the_slides_and_open_what_happens(browser: Browser, pages: list[Path]) -> None:
    page = opened(browser, pages[0], WIDE).page
    at = "() => location.hash"
    for key, to in (("ArrowRight", "#s1"), ("PageDown", "#s2"), ("ArrowLeft", "#s1"), ("End", "#s11"), ("Home", "#s0")):
        page.keyboard.press(key)
        page.wait_for_function(f"location.hash === '{to}'")
        assert page.evaluate(at) == to
    first = page.locator("summary").first
    first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None
    page.context.close()


def test_each_slide_is_printed_on_a_page_without_what_answers_it(
    browser: Browser, lectures: list[Lecture], pages: list[Path]
) -> None:
    for number, (lecture, path) in enumerate(zip(lectures, pages, strict=False)):
        page = opened(browser, path, (1123, 794)).page  # A4, across
        if number == 0:
            assert page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == len(lecture.slides) + 1
        page.emulate_media(media="print")
        cut = "(all) => all.filter((slide) => slide.scrollHeight > slide.clientHeight + 1).map((slide) => slide.id)"
        assert page.eval_on_selector_all(".slide", cut) == []
        assert not page.locator("details").first.is_visible()
        page.context.close()


def test_the_command_writes_the_same_pages_each_time(
    command: Command, tmp_path: Path, lectures: list[Lecture], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Library, "lecture_files", lambda _self: FILES[1:2])  # one lecture, to be quick
    done = command("teach", "--slides", tmp_path / "week")
    assert done.code == 0, done.stderr
    slides, solutions = (Path(line) for line in done.stdout.splitlines())
    assert (slides, solutions) == (tmp_path / "week" / "lecture-1.html", tmp_path / "week-teacher" / "solutions.html")
    assert slides.read_text("utf-8") == lecture_page(1, lectures[1])
    assert solutions.read_text("utf-8") == solutions_page(lectures[1:2])
