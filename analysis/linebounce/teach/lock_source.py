"""A student's lock in C, looked at before a compiler reads it: an included file would show up in the compiler's messages.

Nothing here parses C, since whoever parses it otherwise than the compiler can be deceived. Each line is taken for a directive
that holds a `#`, even inside a comment.
"""

import re

# The headers that a lock needs. Anything else, such as the teacher's files, stays unread.
HEADERS = ("linebounce/lock.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h")

# These texts hide a directive from this module, or make the compiler read a file without one.
_REFUSED = ("\0", "\ufeff", "??", 'R"', "_Pragma", "__has_include", "__has_embed", "linebounce includes from")
_HIDDEN_SPLICE = re.compile(r"\\[ \t\f\v]+\r?\n")
_DEFINITION = re.compile(r"\s*(?:#|%:)\s*define\b")
_DIRECTIVE = re.compile(
    r"(?:#|%:)\s*(?:(?:undef|ifdef|ifndef)\s+\w+|(?:if|elif)\b[^\"'#]*|else|endif|error\b[^#]*|pragma\s+once|include\s*<([^>]*)>)"
)


def refusal(text: str) -> str:
    """What must not go to a compiler, in words; empty if nothing."""
    for refused in _REFUSED:
        if refused in text:
            return f"it has {refused!r}, which a lock in C does not need"
    if _HIDDEN_SPLICE.search(text):
        return "it has a line that ends with a backslash and blanks"
    for line in re.sub(r"\\\r?\n", "", text).splitlines():
        if _DEFINITION.match(line) or not ("#" in line or "%:" in line):
            continue
        # A comment ends the line only where nothing could contain it.
        bare = line if re.search(r"[\"']|/\*", line) else line.partition("//")[0]
        if "#" not in bare and "%:" not in bare:
            continue
        found = _DIRECTIVE.fullmatch(bare.strip())
        if not found or found[1] not in (None, *HEADERS):
            return f"it has {bare.strip()[:60]}; a lock in C includes <{'>, <'.join(HEADERS)}> alone"
    return ""
