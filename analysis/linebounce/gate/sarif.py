"""The verdict as SARIF 2.1.0, the format in which code review shows the findings of tools."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from linebounce.gate.budget import RULES
from linebounce.gate.judge import Change
from linebounce.gate.sources import Location, Replacement
from linebounce.gate.verdict import Evidence, Priced, Verdict, figure_text, headline

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_PRICED_RULE = "checker-finding"
_LEVELS = {"worse": "error", "better": "none", "unclear": "note"}
_ROOT_ID = "SRCROOT"


def sarif(verdict: Verdict, root: Path, version: str) -> bytes:
    results = [
        _result(change, verdict.evidence.get(number) or Evidence(), root)
        for kind in _LEVELS
        for number, change in verdict.of(kind)
    ]
    results += [_priced_result(it, root) for it in verdict.priced]
    run = {
        "tool": {"driver": {"name": "linebounce gate", "semanticVersion": version, "rules": _rules()}},
        "originalUriBaseIds": {_ROOT_ID: {"uri": f"file://{quote(str(root))}/"}},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": not verdict.not_measured,
                "exitCode": verdict.exit_code,
                "toolExecutionNotifications": _notifications(verdict),
            }
        ],
        "results": results,
    }
    return (json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n").encode()


def _rules() -> list[dict[str, Any]]:
    rules = [{"id": rule, "shortDescription": {"text": f"{text}."}} for rule, text in RULES.items()]
    text = "What another checker suspects costs thread time, or nothing."
    return [*rules, {"id": _PRICED_RULE, "shortDescription": {"text": text}}]


def _notifications(verdict: Verdict) -> list[dict[str, Any]]:
    levels = (
        ("error", "not-measured", verdict.not_measured),
        ("note", "not-compared", verdict.not_compared),
        ("note", "order", [verdict.order] if verdict.order else []),
        ("note", "not-seen", verdict.missing),
    )
    return [
        {"level": level, "descriptor": {"id": identity}, "message": {"text": sentence}}
        for level, identity, sentences in levels
        for sentence in sentences
    ]


def _result(change: Change, evidence: Evidence, root: Path) -> dict[str, Any]:
    figures = ". ".join(f"{figure.condition}: {figure_text(figure)}" for figure in change.figures)
    result: dict[str, Any] = {
        "ruleId": change.rule,
        "ruleIndex": list(RULES).index(change.rule),
        "level": _LEVELS[change.verdict],
        "kind": "pass" if change.verdict == "better" else "fail",
        "message": {"text": f"{headline(change, evidence)}. {figures}."},
        "partialFingerprints": {"structureAndField/v1": _fingerprint(change.rule, change.name)},
        "properties": {"verdict": change.verdict},
    }
    if evidence.declared:
        result["locations"] = [_location(evidence.declared, root)]
    if evidence.accesses:
        result["relatedLocations"] = [
            _location(it, root) | {"id": number, "message": {"text": it.text}} for number, it in enumerate(evidence.accesses)
        ]
    if evidence.edits:
        result["fixes"] = [{"description": {"text": evidence.what}, "artifactChanges": _artifact_changes(evidence.edits, root)}]
    return result


def _priced_result(it: Priced, root: Path) -> dict[str, Any]:
    costs = any(figure.low > 0 for figure in it.figures)
    return {
        "ruleId": _PRICED_RULE,
        "ruleIndex": len(RULES),
        "level": "warning" if costs else "none" if it.subject else "note",
        "kind": "fail" if costs or not it.subject else "pass",
        "message": {"text": f"{it.text}. {it.tool} {it.rule}: {it.message}"},
        "locations": [_location(it.location, root)],
        "partialFingerprints": {"structureAndField/v1": _fingerprint(f"{it.tool} {it.rule}", it.subject)},
    }


def _fingerprint(rule: str, name: str) -> str:
    return hashlib.sha256(f"{rule}\0{name}".encode(errors="surrogateescape")).hexdigest()[:32]


def _artifact(path: Path, root: Path) -> dict[str, str]:
    if path.is_relative_to(root):
        return {"uri": quote(path.relative_to(root).as_posix()), "uriBaseId": _ROOT_ID}
    return {"uri": f"file://{quote(str(path))}"}


def _location(it: Location, root: Path) -> dict[str, Any]:
    region = {"startLine": it.line}
    if it.column:
        region["startColumn"] = it.column
    if it.end_column:
        region["endColumn"] = it.end_column
    return {"physicalLocation": {"artifactLocation": _artifact(it.path, root), "region": region}}


def _artifact_changes(edits: Iterable[Replacement], root: Path) -> list[dict[str, Any]]:
    by_file: dict[Path, list[dict[str, Any]]] = {}
    for edit in edits:
        region = {"startLine": edit.first, "startColumn": 1, "endLine": edit.last + 1, "endColumn": 1}
        by_file.setdefault(edit.path, []).append({"deletedRegion": region, "insertedContent": {"text": edit.text}})
    return [{"artifactLocation": _artifact(path, root), "replacements": found} for path, found in by_file.items()]
