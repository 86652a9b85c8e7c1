"""Errors in input. Their messages are one line, and name the thing, the place and the legal values. Newlines in a message
belong to names, and are shown as escapes; further lines are notes of the exception."""

import difflib
import re
from collections.abc import Sequence
from typing import TypeVar

_FEW = 10
_LONGEST_QUOTED = 60
_MOST_SHOWN = 16


class InputError(Exception):
    """Results or a trace that can't be read: exit code 3."""


class UnreadableError(InputError):
    """A file that the system can't read at the moment, although its content may be right."""


class UsageError(Exception):
    """A request that makes no sense, or output that can't be written: exit code 2."""


Refusal = TypeVar("Refusal", InputError, UsageError)


def of_lines(kind: type[Refusal], lines: Sequence[str]) -> Refusal:
    """An error with several lines, such as what the C++ program said. REQUIRES: there is one."""
    error = kind(lines[0])
    for line in lines[1:]:
        error.add_note(line)
    return error


def nearest(word: str, known: Sequence[str]) -> str:
    """The known word that `word` most likely misspells; empty if there is none, or if `word` is a number."""
    near = [] if word.isdigit() else difflib.get_close_matches(word, known, n=1)
    return near[0] if near else ""


def not_known(word: str, known: Sequence[str], most_shown: int = _MOST_SHOWN) -> str:
    """As sim/config/suggestions.hpp has it."""
    few = len(known) <= most_shown
    shown = f"known: {', '.join(known) or 'none'}" if few else f"there are {len(known)}, from {known[0]} to {known[-1]}"
    near = nearest(word, known)
    return f'"{word}" is not known; {shown}' + (f"; did you mean {near}?" if near else "")


def alternatives(words: Sequence[str]) -> str:
    """ "a, b or c", as sim/config/suggestions.cpp has it."""
    return " or ".join([*filter(None, [", ".join(words[:-1])]), *words[-1:]])


def malformed(form: str, text: str, error: Exception, *, numbered: bool = True) -> str:
    """Says that a text is not TOML or JSON (`form`), and quotes the line. `error`: what its parser raised. `numbered`: says
    the line's number, too."""
    if isinstance(error, RecursionError):
        return f"this is not {form}: its values are nested too deeply"
    if isinstance(error, UnicodeError):
        return f"this is not {form}: it is not UTF-8 text"
    place = malformed_place(text, error)
    return f"this is not {form}: {place if numbered else re.sub('^line [0-9]+, ', '', place)}"


def malformed_place(text: str, error: Exception) -> str:
    """'line 3, "x ="', or that the text ends too early."""
    place = re.search(r"\bline (\d+)", str(error))
    lines = text.splitlines()
    number = int(place[1]) if place else len(lines) + 1
    if number > len(lines) or not any(line.strip() for line in lines[number - 1 :]):
        return "it ends too early" if text.strip() else "it is empty"
    line = lines[number - 1].strip()
    quoted = line if len(line) <= _LONGEST_QUOTED else line[:_LONGEST_QUOTED] + "…"
    twice = ", which says again what stands above" if "overwrite" in str(error) or "declare" in str(error) else ""
    return f'line {number}, "{quoted}"{twice}'


def meant(name: str, known: Sequence[str]) -> str:
    """A hint for an unknown name: similar names, or all known names if they are few, or their number. REQUIRES: `known`
    is sorted."""
    near = difflib.get_close_matches(name, known, n=3)
    if near:
        return f"did you mean {alternatives(near)}?"
    if 0 < len(known) <= _FEW:
        return f"known: {', '.join(known)}"
    return f"there are {len(known)}, from {known[0]} to {known[-1]}" if known else "there are none"
