"""Writes JSON. A sum, a mean or a change of finite numbers can overflow, and JSON has no infinities."""

import json
from math import isfinite
from typing import Any


def json_text(document: object, **options: Any) -> str:
    """The document as JSON, with null for infinities and for what is not a number. `options`: those of json.dumps()."""
    try:
        return json.dumps(document, allow_nan=False, **options)
    except ValueError:
        return json.dumps(_finite(document), allow_nan=False, **options)


def _finite(document: object) -> object:
    match document:
        case dict():
            return {key: _finite(value) for key, value in document.items()}
        case list() | tuple():
            return [_finite(value) for value in document]
        case float():
            return document if isfinite(document) else None
    return document
