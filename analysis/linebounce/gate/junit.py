"""The verdict as JUnit XML: a suite for each machine, a case for each cost."""

import xml.etree.ElementTree as ET

from linebounce.gate.judge import Change, Figure
from linebounce.gate.verdict import Verdict, figure_text, headline, subject
from linebounce.visible import visible


def junit(verdict: Verdict) -> bytes:
    suites = ET.Element("testsuites", name="linebounce gate")
    conditions = dict.fromkeys(figure.condition for change in verdict.changes for figure in change.figures)
    for condition in conditions:
        cases = [(change, it) for change in verdict.changes for it in change.figures if it.condition == condition]
        suite = _suite(suites, str(condition), len(cases), sum(it.verdict == "worse" for _, it in cases), 0)
        for change, figure in cases:
            _add_case(suite, change, figure)
    if verdict.not_measured:
        suite = _suite(suites, "measurement", len(verdict.not_measured), 0, len(verdict.not_measured))
        for number, sentence in enumerate(verdict.not_measured, 1):
            case = ET.SubElement(suite, "testcase", classname="measurement", name=f"not measured {number}", time="0")
            ET.SubElement(case, "error", message=_xml(sentence), type="not-measured")
    if verdict.not_compared:
        suite = _suite(suites, "comparison", len(verdict.not_compared), 0, 0)
        suite.set("skipped", str(len(verdict.not_compared)))
        for number, sentence in enumerate(verdict.not_compared, 1):
            case = ET.SubElement(suite, "testcase", classname="comparison", name=f"not compared {number}", time="0")
            ET.SubElement(case, "skipped", message=_xml(sentence))
    _add_totals(suites)
    ET.indent(suites)
    document: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _suite(suites: ET.Element, name: str, tests: int, failures: int, errors: int) -> ET.Element:
    counts: dict[str, str] = {
        "tests": str(tests),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": "0",
        "time": "0",
    }
    return ET.SubElement(suites, "testsuite", {"name": _xml(name), **counts})


def _add_case(suite: ET.Element, change: Change, figure: Figure) -> None:
    case = ET.SubElement(suite, "testcase", classname=change.rule, name=_xml(subject(change)), time="0")
    if figure.verdict == "worse":
        text = figure_text(figure)
        ET.SubElement(case, "failure", message=_xml(headline(change)), type=change.rule).text = _xml(text)
    else:
        ET.SubElement(case, "system-out").text = _xml(f"{figure.verdict}: {figure_text(figure)}")


def _add_totals(suites: ET.Element) -> None:
    for key in ("tests", "failures", "errors"):
        suites.set(key, str(sum(int(suite.get(key, "0")) for suite in suites)))


def _xml(text: str) -> str:
    """Escapes control characters, most of which XML has no way to write."""
    return visible(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
