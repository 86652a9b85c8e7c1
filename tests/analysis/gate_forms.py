"""Schemas for the gate's output files, written for these tests: the parts of SARIF 2.1.0 that the gate uses, and JUnit
XML as CI services read it. A file with anything else is an error."""

import xml.etree.ElementTree as ET
from typing import Any

import jsonschema

_TEXT = {
    "type": "object",
    "required": ["text"],
    "properties": {"text": {"type": "string", "minLength": 1}},
    "additionalProperties": False,
}
_LINE = {"type": "integer", "minimum": 1}


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*required], "additionalProperties": False}


def _list(items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


_ARTIFACT = _object(("uri",), uri={"type": "string", "format": "uri-reference"}, uriBaseId={"const": "SRCROOT"})
_REGION = _object(("startLine",), startLine=_LINE, startColumn=_LINE, endLine=_LINE, endColumn=_LINE)
_PHYSICAL = _object(("artifactLocation",), artifactLocation=_ARTIFACT, region=_REGION)
_LOCATION = _object(id={"type": "integer", "minimum": 0}, physicalLocation=_PHYSICAL, message=_TEXT)
_REPLACEMENT = _object(("deletedRegion",), deletedRegion=_REGION, insertedContent=_object(text={"type": "string"}))
_ARTIFACT_CHANGE = _object(
    ("artifactLocation", "replacements"), artifactLocation=_ARTIFACT, replacements=_list(_REPLACEMENT, minItems=1)
)
_FIX = _object(("artifactChanges",), description=_TEXT, artifactChanges=_list(_ARTIFACT_CHANGE, minItems=1))
_LEVEL = {"enum": ["none", "note", "warning", "error"]}
_RESULT = {
    **_object(
        ("message",),
        ruleId={"type": "string"},
        ruleIndex={"type": "integer", "minimum": 0},
        kind={"enum": ["pass", "fail"]},
        level=_LEVEL,
        message=_TEXT,
        locations=_list(_LOCATION),
        relatedLocations=_list(_LOCATION),
        partialFingerprints={"type": "object", "additionalProperties": {"type": "string"}},
        fixes=_list(_FIX),
        properties={"type": "object"},
    ),
    # SARIF 2.1.0, section 3.27.10: a result whose kind is not "fail" has the level "none".
    "if": {"properties": {"kind": {"const": "pass"}}},
    "then": {"properties": {"level": {"const": "none"}}},
}
_NOTIFICATION = _object(("message",), level=_LEVEL, descriptor=_object(id={"type": "string"}), message=_TEXT)
_RULE = _object(("id",), id={"type": "string"}, shortDescription=_TEXT)
_DRIVER = _object(("name",), name={"type": "string"}, semanticVersion={"type": "string"}, rules=_list(_RULE, uniqueItems=True))
_INVOCATION = _object(
    ("executionSuccessful",),
    executionSuccessful={"type": "boolean"},
    exitCode={"type": "integer"},
    toolExecutionNotifications=_list(_NOTIFICATION),
)
_RUN = _object(
    ("tool",),
    tool=_object(("driver",), driver=_DRIVER),
    originalUriBaseIds=_object(SRCROOT=_object(uri={"type": "string", "pattern": "^file:///.*/$"})),
    columnKind={"const": "unicodeCodePoints"},
    invocations=_list(_INVOCATION),
    results=_list(_RESULT),
)
_SARIF = _object(("version", "runs"), **{"$schema": {"type": "string"}}, version={"const": "2.1.0"}, runs=_list(_RUN))

# For each element: the children that it may have, and its attributes, all of which are required.
_JUNIT = {
    "testsuites": ({"testsuite"}, {"name", "tests", "failures", "errors"}),
    "testsuite": ({"testcase"}, {"name", "tests", "failures", "errors", "skipped", "time"}),
    "testcase": ({"failure", "error", "skipped", "system-out"}, {"classname", "name", "time"}),
    "failure": (set(), {"message", "type"}),
    "error": (set(), {"message", "type"}),
    "skipped": (set(), {"message"}),
    "system-out": (set(), set()),
}


def check_sarif(document: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(_SARIF).validate(document)
    for run in document["runs"]:
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


def check_junit(text: bytes) -> ET.Element:
    root = ET.fromstring(text)
    assert root.tag == "testsuites"
    for parent in root.iter():
        children, attributes = _JUNIT[parent.tag]
        assert {child.tag for child in parent} <= children, parent.tag
        assert set(parent.attrib) == attributes, parent.tag
    for suite in root:
        for count, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.attrib[count]) == len(list(suite.iter(tag)))
    return root
