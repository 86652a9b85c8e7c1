"""What a browser may do with one of our pages: show it, and run the scripts that we put into it."""

import base64
import hashlib


def page_policy(*scripts: str) -> str:
    """A Content-Security-Policy. Only scripts identical to one of these run, so a name in the page can never become a
    script. Nothing is fetched, and no form is sent."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    ours = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; script-src {ours}"
    )
