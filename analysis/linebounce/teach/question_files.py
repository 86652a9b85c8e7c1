"""Writes a bank of questions as Markdown, Moodle's XML, a page, or JSON."""

import html
import json
from collections.abc import Callable
from dataclasses import asdict
from xml.etree import ElementTree

from linebounce.teach.questions import Asked


def markdown(questions: list[Asked], title: str) -> str:
    """The questions, then the answers."""
    parts = [f"# {title}\n"]
    for one in questions:
        choices = "".join(f"\n- {choice}" for choice in one.choices)
        parts.append(f"**{one.id}.** {one.text}" + (f"\n{choices}" if choices else "") + "\n")
    parts.append("## Answers\n")
    parts.append("\n".join(f"- {one.id}: {one.answer}" for one in questions) + "\n")
    return "\n".join(parts)


def moodle(questions: list[Asked], title: str) -> str:
    """Moodle's XML: a choice becomes a multichoice question, a number a numerical one."""
    quiz = ElementTree.Element("quiz")
    category = ElementTree.SubElement(quiz, "question", type="category")
    _text(ElementTree.SubElement(category, "category"), f"$course$/{title}")
    for one in questions:
        kind = "multichoice" if one.choices else "numerical"
        question = ElementTree.SubElement(quiz, "question", type=kind)
        _text(ElementTree.SubElement(question, "name"), f"{title} {one.id}")
        _text(ElementTree.SubElement(question, "questiontext", format="html"), f"<p>{html.escape(one.text, quote=False)}</p>")
        ElementTree.SubElement(question, "defaultgrade").text = "1"
        if one.choices:
            ElementTree.SubElement(question, "single").text = "true"
            ElementTree.SubElement(question, "shuffleanswers").text = "true"
        for choice in one.choices or (one.answer,):
            answer = ElementTree.SubElement(question, "answer", fraction="100" if choice == one.answer else "0")
            _text(answer, choice)
    ElementTree.indent(quiz, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(quiz, encoding="unicode") + "\n"


def _text(parent: ElementTree.Element, text: str) -> None:
    ElementTree.SubElement(parent, "text").text = text


_STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:auto;padding:1rem}"
    "li{margin:1.5rem 0}summary{cursor:pointer}ul{padding-left:1.2rem}ul li{margin:.2rem 0}"
    "@media print{details{display:none}}"
)


def page(questions: list[Asked], title: str) -> str:
    """An HTML page without scripts. Each answer is hidden until a click or key opens it. Answers are not printed."""
    items = []
    for one in questions:
        choices = "".join(f"<li>{html.escape(choice)}</li>" for choice in one.choices)
        shown = f"<p>{html.escape(one.text)}</p>" + (f"<ul>{choices}</ul>" if choices else "")
        items.append(
            f"<li id={one.id}>{shown}<details><summary>Answer</summary><p>{html.escape(one.answer)}</p></details></li>"
        )
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n<main>\n<h1>{html.escape(title)}</h1>\n<ol>\n"
        + "\n".join(items)
        + "\n</ol>\n</main>\n</html>\n"
    )


def document(questions: list[Asked], title: str) -> str:
    return json.dumps({"title": title, "questions": [asdict(one) for one in questions]}, indent=1, ensure_ascii=False) + "\n"


# The functions that write a bank of questions, by the extension of the file.
FORMS: dict[str, Callable[[list[Asked], str], str]] = {
    ".md": markdown,
    ".xml": moodle,
    ".html": page,
    ".json": document,
}
