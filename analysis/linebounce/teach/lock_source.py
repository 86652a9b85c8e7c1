"""Checks a student's lock in C before a compiler reads it. Without this check, the lock could include any file, and the
compiler's messages would show the file.

This module does not parse C: a parser that differs from the compiler's could be deceived. It treats every line with a
`#` as a directive, even inside a comment.
"""

import re

# The headers that a lock may include. It can read no other file, such as the teacher's.
HEADERS = ("linebounce/lock.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h")

# Texts that hide a directive from this module, or that make the compiler read a file without a directive.
_REFUSED = ("\0", "\ufeff", "??", 'R"', "_Pragma", "__has_include", "__has_embed", "linebounce includes from")
_HIDDEN_SPLICE = re.compile(r"\\[ \t\f\v]+\r?\n")
_DEFINITION = re.compile(r"\s*(?:#|%:)\s*define\b")
_DIRECTIVE = re.compile(
    r"(?:#|%:)\s*(?:(?:undef|ifdef|ifndef)\s+\w+|(?:if|elif)\b[^\"'#]*|else|endif|error\b[^#]*|pragma\s+once|include\s*<([^>]*)>)"
)


def refusal(text: str) -> str:
    """Why the lock must not go to a compiler; empty if it may."""
    for refused in _REFUSED:
        if refused in text:
            return f"it has {refused!r}, which a lock in C does not need"
    if _HIDDEN_SPLICE.search(text):
        return "it has a line that ends with a backslash and blanks"
    for line in re.sub(r"\\\r?\n", "", text).splitlines():
        if _DEFINITION.match(line) or not ("#" in line or "%:" in line):
            continue
        # Drops a trailing comment. Keeps it if the line has a quote or `/*`, because the `//` might then be inside a string
        # or comment.
        bare = line if re.search(r"[\"']|/\*", line) else line.partition("//")[0]
        if "#" not in bare and "%:" not in bare:
            continue
        found = _DIRECTIVE.fullmatch(bare.strip())
        if not found or found[1] not in (None, *HEADERS):
            return f"it has {bare.strip()[:60]}; a lock in C includes <{'>, <'.join(HEADERS)}> alone"
    return ""
