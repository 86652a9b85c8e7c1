"""Restricts what a browser does with our pages: it shows them, and runs only our own scripts."""

import base64
import hashlib


def page_policy(*scripts: str) -> str:
    """A Content-Security-Policy. The browser runs only scripts whose hash is listed, so a name in the page can't become
    a script. It fetches nothing and sends no form."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    ours = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; script-src {ours}"
    )
