"""Gradescope's results.json as a JSON schema, after its documentation: "Autograder Specifications", output format."""

from typing import Any

import jsonschema

_FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
_VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
_TEST = {
    "score": {"type": "number"},
    "max_score": {"type": "number"},
    "status": {"enum": ["passed", "failed"]},
    "name": {"type": "string"},
    "name_format": _FORMAT,
    "number": {"type": "string"},
    "output": {"type": "string"},
    "output_format": _FORMAT,
    "tags": {"type": "array", "items": {"type": "string"}},
    "visibility": _VISIBILITY,
    "extra_data": {"type": "object"},
}
_COLUMN = {"name": {"type": "string"}, "value": {"type": ["number", "string"]}, "order": {"pattern": "^(a|de)sc$"}}
_TOP = {
    "score": {"type": "number"},
    "execution_time": {"type": "number"},
    "output": {"type": "string"},
    "output_format": _FORMAT,
    "test_output_format": _FORMAT,
    "test_name_format": _FORMAT,
    "visibility": _VISIBILITY,
    "stdout_visibility": _VISIBILITY,
    "extra_data": {"type": "object"},
    "tests": {"type": "array", "items": {"type": "object", "properties": _TEST, "additionalProperties": False}},
    "leaderboard": {
        "type": "array",
        "items": {"type": "object", "properties": _COLUMN, "required": ["name", "value"], "additionalProperties": False},
    },
}
# Gradescope needs a score, either for the whole or for each test.
_SCORED = {"properties": {"tests": {"items": {"required": ["score"]}}}, "required": ["tests"]}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": _TOP,
    "additionalProperties": False,
    "anyOf": [{"required": ["score"]}, _SCORED],
}


def require_valid(document: Any) -> None:
    """Checks results.json. Raises jsonschema.ValidationError for a document that Gradescope would reject. Raises
    AssertionError for a score beyond its maximum, and for a test without a field that only Linebounce requires."""
    jsonschema.validate(document, SCHEMA, jsonschema.Draft202012Validator)
    for one in document.get("tests", []):
        assert {"name", "status", "max_score", "visibility"} <= one.keys()
        assert 0 <= one["score"] <= one.get("max_score", one["score"])
