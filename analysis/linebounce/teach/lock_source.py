"""A student's lock in C, looked at before a compiler reads it: an included file would show up in the compiler's messages."""

import re

# The headers that a lock needs. Anything else, such as the teacher's files, stays unread.
HEADERS = ("linebounce/lock.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h")

# Texts and characters come first, so that a comment's beginning inside them is none.
_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t\f\v]*(?:#|%:|\?\?=)(.*)$", re.MULTILINE)
_HARMLESS = re.compile(r"\s*(?:define|undef|if|ifdef|ifndef|elif|else|endif|error|pragma\s+once)\b|\s*$")
_INCLUDE = re.compile(r"\s*include\s*<([^>]*)>\s*$")


def refusal(text: str) -> str:
    """What must not go to a compiler, in words; empty if nothing."""
    joined = re.sub(r"(?:\\|\?\?/)[ \t]*\r?\n", "", text)
    bare = _COMMENT.sub(lambda found: found[0] if found[0][0] in "\"'" else " ", joined)
    for found in _DIRECTIVE.finditer(bare):
        included = _INCLUDE.fullmatch(found[1])
        if included and included[1] in HEADERS:
            continue
        if not _HARMLESS.match(found[1]):
            return f"it has #{found[1].strip()[:60]}; a lock in C includes <{'>, <'.join(HEADERS)}> alone"
    return ""
