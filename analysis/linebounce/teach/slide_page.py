"""Lectures as pages: slides for the screen and for print, and the teacher's notes and solutions on a page of their own."""

import json
import re
from html import escape
from pathlib import Path
from typing import Any

import vl_convert

from linebounce.files import write_file
from linebounce.own_folder import make_own_folder
from linebounce.teach.engine import Engine
from linebounce.teach.handout import folder_for_teacher
from linebounce.teach.lecture import Asked, Chart, Lecture, Listing, Part, Picture, Prose, Slide, make_lecture
from linebounce.teach.lesson import ELSE
from linebounce.teach.library import Library
from linebounce.teach.space_time import drawing

_LETTERS = "ABCDEFGH"
_COLOURS = ["#0b62a4", "#c2410c", "#1b7f3b", "#6d28d9", "#7a5a00"]


def write_slides(engine: Engine, directory: Path) -> list[Path]:
    """Writes a page for each lecture into this folder, and the solutions into a folder beside it whose name ends in
    -teacher."""
    lectures = [make_lecture(engine, path) for path in Library(engine).lecture_files()]
    for folder in (directory, folder_for_teacher(directory)):
        make_own_folder(folder)
    written = []
    for number, lecture in enumerate(lectures, 1):
        written.append(directory / f"lecture-{number}.html")
        write_file(written[-1], lecture_page(number, lecture).encode())
    written.append(folder_for_teacher(directory) / "solutions.html")
    write_file(written[-1], solutions_page(lectures).encode())
    return written


def lecture_page(number: int, lecture: Lecture) -> str:
    slides = "".join(_slide(place, slide, len(lecture.slides)) for place, slide in enumerate(lecture.slides, 1))
    head = (
        f'<section class="slide title" id="s0" aria-label="Title"><div><h1>{escape(lecture.title)}</h1>'
        f"<p>Lecture {number}. {escape(lecture.goal)}</p>"
        '<p class="keys">Arrow keys, Page Up and Page Down turn the slides; Home and End go to the first and the last.</p>'
        "</div></section>\n"
    )
    return _document(lecture.title, f"<main>\n{head}{slides}</main>\n<script>{_SCRIPT}</script>\n", _STYLE)


def solutions_page(lectures: list[Lecture]) -> str:
    """The teacher's page: minutes, notes, and the answers to questions for the class."""
    parts = ["<main>\n<h1>Notes and solutions</h1>\n<p>For the teacher. Students get the slides without this page.</p>\n"]
    for number, lecture in enumerate(lectures, 1):
        parts.append(f"<h2>Lecture {number}: {escape(lecture.title)} ({lecture.minutes} minutes)</h2>\n")
        begun = 0
        for place, slide in enumerate(lecture.slides, 1):
            parts.append(f"<h3>{place}. {slide.title}</h3>\n<p>Minute {begun} to {begun + slide.minutes}</p>\n{slide.notes}\n")
            begun += slide.minutes
            parts += [_solution(part) for part in slide.parts if isinstance(part, Asked)]
    return _document("Notes and solutions", "".join(parts) + "</main>\n", _STYLE_NOTES)


def _document(title: str, body: str, style: str) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )


def _slide(place: int, slide: Slide, of: int) -> str:
    name = f"s{place}"
    body, asked = [], False
    for at, part in enumerate(slide.parts):
        text = _part(part, f"{name}-{at}")
        # A figure below a question gives the answer away. So it is folded until the teacher opens it after the vote, and it
        # is not printed.
        reveals = asked and isinstance(part, Picture | Chart)
        body.append(f"<details><summary>What happens</summary>{text}</details>" if reveals else text)
        asked = asked or isinstance(part, Asked)
    return (
        f'<section class="slide" id="{name}" aria-labelledby="{name}-title">\n<h2 id="{name}-title">{slide.title}</h2>\n'
        f'<div class="body">{"".join(body)}</div>\n<p class="place">{place} / {of}</p>\n</section>\n'
    )


def _part(part: Part, name: str) -> str:
    match part:
        case Prose():
            return _scrolling(part.html)
        case Listing():
            shown = f"<code>$ {escape(part.command)}\n{escape(part.text)}</code>"
            wraps = ' class="wraps"' if part.wraps else ""
            return f'<pre{wraps} tabindex="0" role="group" aria-label="Output of a command">{shown}</pre>'
        case Chart():
            return _chart(part)
        case Picture():
            return _picture(part)
        case Asked():
            return _question(part, name)


def _scrolling(text: str) -> str:
    """Makes tables scroll by themselves where they are wider than the screen, and lets them take the focus, so that the
    keyboard scrolls them, too."""
    return re.sub(
        r"<table>.*?</table>",
        lambda found: f'<div class="wide" tabindex="0" role="group" aria-label="Table">{found[0]}</div>',
        text,
        flags=re.DOTALL,
    )


def _question(asked: Asked, name: str) -> str:
    made = asked.compiled
    choices = "".join(
        f'<li><span class="letter">{letter}</span> <span>{escape(choice)}</span></li>'
        for letter, choice in zip(_LETTERS, made["choices"], strict=False)
    )
    unit = f" in {escape(made['unit'])}" if made["unit"] else ""
    answers = f'<ol class="choices">{choices}</ol>' if choices else f'<p class="number">Your number{unit}?</p>'
    return f'<div class="question" id="{name}"><p class="asks">Question {asked.number}</p>{made["ask"]}{answers}</div>'


def _solution(asked: Asked) -> str:
    made = asked.compiled
    answers = made["answer"] if isinstance(made["answer"], list) else [made["answer"]]
    letters = [f"{_LETTERS[made['choices'].index(one)]}: " if one in made["choices"] else "" for one in answers]
    right = "; ".join(f"{letter}{escape(str(one))}" for letter, one in zip(letters, answers, strict=True))
    wrong = "".join(
        f"<dt>{'any other' if choice == ELSE else escape(choice)}</dt><dd>{said}</dd>" for choice, said in made["wrong"].items()
    )
    return (
        f'<div class="question"><p class="asks">Question {asked.number}</p>{made["ask"]}'
        f'<p class="right">{right}</p>{made["right"]}<dl>{wrong}</dl></div>\n'
    )


def _picture(shown: Picture) -> str:
    head = "".join(f'<th scope="col">{escape(cache)}</th>' for cache in shown.caches)
    rows, before = [], shown.rows[0][2]
    for time, said, states in shown.rows:
        cells = "".join(
            f'<td class="state{" new" if state != old else ""}">{escape(state)}</td>'
            for state, old in zip(states, before, strict=True)
        )
        rows.append(f"<tr><td>{escape(time)}</td><td>{escape(said)}</td>{cells}</tr>")
        before = states
    said = f"<figcaption>From lesson {escape(shown.lesson)}.</figcaption>" if shown.lesson else ""
    return (
        f'<figure><div class="drawn">{drawing(shown.drawn)}'
        '<div class="wide" tabindex="0" role="group" aria-label="What happens, step by step"><table class="steps">'
        f'<thead><tr><th scope="col">time</th><th scope="col">what happens</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></div>{said}</figure>"
    )


def _chart(chart: Chart) -> str:
    series = list(dict.fromkeys(one for _, one, _ in chart.points))
    picture = vl_convert.vegalite_to_svg(json.dumps(_specification(chart, series)))
    picture = picture.replace("<svg", f'<svg role="img" aria-label="{escape(chart.axis)} by {escape(chart.over)}"', 1)
    over = list(dict.fromkeys(x for x, _, _ in chart.points))
    values = {(x, one): value for x, one, value in chart.points}
    head = "".join(f'<th scope="col">{escape(one or chart.axis)}</th>' for one in series)
    rows = "".join(
        f'<tr><th scope="row">{escape(x)}</th>' + "".join(f"<td>{values.get((x, one), 0):.3g}</td>" for one in series) + "</tr>"
        for x in over
    )
    return (
        f"<figure>{picture}<details><summary>The figures"
        f'</summary><table><thead><tr><th scope="col">{escape(chart.over)}</th>{head}</tr></thead><tbody>{rows}</tbody></table>'
        "</details></figure>"
    )


def _specification(chart: Chart, series: list[str]) -> dict[str, Any]:
    """A bar chart. For several series a line chart, with each series' name at the end of its line."""
    place = {
        "x": {"field": "x", "type": "ordinal", "title": chart.over, "sort": None, "axis": {"labelAngle": 0}},
        "y": {"field": "value", "type": "quantitative", "title": chart.axis, "scale": {"zero": True}},
    }
    told_apart = {"field": "series", "type": "nominal", "sort": None, "legend": None}
    colour = {"color": told_apart | {"scale": {"range": _COLOURS}}}
    last = chart.points[-1][0]
    lines = [
        {"mark": {"type": "line", "strokeWidth": 3}, "encoding": place | colour},
        {"mark": {"type": "point", "size": 90, "filled": True}, "encoding": place | colour | {"shape": told_apart}},
        {
            "transform": [{"filter": {"field": "x", "equal": last}}],
            "mark": {"type": "text", "align": "left", "dx": 12, "fontSize": 18},
            "encoding": place | colour | {"text": {"field": "series"}},
        },
    ]
    bars = [{"mark": {"type": "bar", "color": _COLOURS[0], "width": {"band": 0.6}}, "encoding": place}]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "width": 620,
        "height": 300,
        "background": "white",
        "data": {"values": [{"x": x, "series": one, "value": value} for x, one, value in chart.points]},
        "layer": lines if len(series) > 1 else bars,
        "config": {"font": "Liberation Sans, Arial, sans-serif", "axis": {"labelFontSize": 17, "titleFontSize": 17}},
    }


_COMMON = """
*{box-sizing:border-box}
body{margin:0;color:#14181f;background:#fff;font:1rem/1.5 system-ui,sans-serif}
h1,h2,h3{line-height:1.2;text-wrap:balance}
pre{background:#f2f4f8;padding:.8em 1em;overflow-x:auto;font-size:.8em;line-height:1.45;border-radius:.3em}
code{font-family:ui-monospace,monospace}
.wraps,.line{white-space:pre-wrap;overflow-wrap:anywhere}
.line{display:block;padding-left:2ch;text-indent:-2ch}
:not(pre)>code{background:#f2f4f8;padding:.05em .25em;border-radius:.2em}
table{border-collapse:collapse}
th,td{padding:.25em .7em;text-align:left;border-bottom:1px solid #c9d0db;vertical-align:top}
.wide{overflow-x:auto}
:focus-visible{outline:3px solid #0b62a4;outline-offset:2px}
.asks{font-weight:700;color:#0b62a4;margin:0}
"""
_STYLE = (
    _COMMON
    + """
html{scroll-snap-type:y proximity}
.slide{min-height:100vh;padding:4vh 6vw;display:flex;flex-direction:column;scroll-snap-align:start;position:relative;
border-bottom:1px solid #c9d0db;font-size:clamp(1rem,1.9vw,1.6rem)}
.slide h2{font-size:1.6em;margin:0 0 .6em;color:#0b3a66}
.slide.title{justify-content:center}
.slide.title h1{font-size:2.4em;margin:0}
.keys,.place{color:#4a5361;font-size:.7em}
.place{position:absolute;right:2vw;bottom:1vh;margin:0}
.body{flex:1;max-width:64em}
.body p,.body li{max-width:46em}
.question{border-left:.3em solid #0b62a4;padding-left:1em;margin:1em 0}
.choices{list-style:none;padding:0}
.choices li{display:flex;gap:.8em;margin:.5em 0}
.letter{font-weight:700;min-width:1.6em;height:1.6em;line-height:1.6em;text-align:center;background:#0b3a66;color:#fff;
border-radius:.3em}
.drawn{display:flex;flex-wrap:wrap;gap:1em 2em;align-items:flex-start}
.drawn>*{min-width:0;max-width:100%}
.drawn>.wide{flex:1 1 18em}
.spacetime{flex:0 1 auto;font:15px system-ui,sans-serif;max-height:85vh}
figcaption{font-size:.7em;color:#4a5361}
.steps{font-size:.72em}
.state{font-family:ui-monospace,monospace}
.new{background:#fff0c2;font-weight:700}
figure{margin:0}
figure svg{max-width:100%;height:auto}
summary{font-size:.8em;color:#4a5361;cursor:pointer}
figure details{font-size:.8em}
@media (max-width:700px){.slide{min-height:0;padding:1.5rem 1rem 3rem}html{scroll-snap-type:none}}
@media print{@page{size:A4 landscape;margin:0}html{scroll-snap-type:none}
.slide{min-height:0;height:100vh;break-after:page;break-inside:avoid;border:0;font-size:16pt;overflow:hidden}
.keys,details{display:none}pre{white-space:pre-wrap}}
"""
)
_STYLE_NOTES = (
    _COMMON
    + """
main{max-width:46rem;margin:auto;padding:1rem}
.question{border-left:.3em solid #0b62a4;padding-left:1em;margin:1em 0}
.right{font-weight:700}
dt{font-weight:600}
@media print{.question{break-inside:avoid}}
"""
)
# Turns slides by the keys that remote controls for presenters send. A slide that is taller than the screen scrolls to its end
# first.
_SCRIPT = """
const slides=[...document.querySelectorAll('.slide')];
const now=()=>slides.reduce((best,slide,at)=>Math.abs(slide.getBoundingClientRect().top)<
Math.abs(slides[best].getBoundingClientRect().top)?at:best,0);
const show=(at)=>{const slide=slides[Math.min(Math.max(at,0),slides.length-1)];
slide.scrollIntoView();history.replaceState(null,'','#'+slide.id)};
addEventListener('keydown',(event)=>{
if(event.ctrlKey||event.metaKey||event.altKey||event.target.closest?.('summary'))return;
const inside=event.target.closest?.('[tabindex]');
if(inside&&inside.scrollWidth>inside.clientWidth&&/Left|Right/.test(event.key))return;
const {top,bottom}=slides[now()].getBoundingClientRect();
if(/Down$|^ $/.test(event.key)&&bottom>innerHeight+8||/Up$/.test(event.key)&&top<-8)return;
const to={ArrowRight:now()+1,ArrowDown:now()+1,PageDown:now()+1,' ':now()+1,ArrowLeft:now()-1,ArrowUp:now()-1,PageUp:now()-1,
Home:0,End:slides.length-1}[event.key];
if(to===undefined)return;
event.preventDefault();show(to)});
document.documentElement.dataset.ready='yes';
"""
